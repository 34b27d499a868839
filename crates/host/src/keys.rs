//! Who keeps secrets, as the settings choose it.

use std::path::Path;
use std::sync::Arc;

use evidence::{Clock, Journal};
use model::provider::{Credentials, Provider, ProviderKind};
use vault::{Keeper, Source, VaultError, VaultFile};

use crate::admission::{self, AdmissionError};

/// Why nobody keeps secrets although somebody should.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// The vault does not open.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

/// Who keeps secrets for the host in `home`: as its settings choose; if they say nothing, the vault, if there is
/// one. None if nobody does.
///
/// # Errors
/// If a vault is there or chosen and does not open: then nobody would know what to keep from agents.
pub fn keeper(
    home: &Path,
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
) -> Result<Option<Keeper>, KeysError> {
    let file = VaultFile::in_home(home);
    let chosen = admission::providers(home)?.of(ProviderKind::Credentials);
    let source = match chosen {
        Some(Provider::Credentials(Credentials::Env)) => Source::env(),
        None if !file.is_there() => return Ok(None),
        Some(_) | None => {
            let key = vault::unlock(&file, None)?;
            Source::Vault { file, key }
        }
    };
    Ok(Some(Keeper::open(source, journal, clock)?))
}
