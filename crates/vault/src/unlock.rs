//! Finding what opens a vault, without asking anybody.

use std::path::Path;

use crate::file::{VaultError, VaultFile};
use crate::key::Key;
use crate::keyring;
use crate::sealed::OpenError;

/// What opens the vault: the identity file that is named, else what the system's keyring holds, else the identity
/// beside the vault.
///
/// # Errors
/// If there is none, or it is not private; if it is a passphrase that nobody has typed yet.
pub fn unlock(file: &VaultFile, identity: Option<&Path>) -> Result<Key, VaultError> {
    let wants_passphrase = file.wants_passphrase()?;
    if let Some(path) = identity {
        return Ok(Key::read(path)?);
    }
    // One of the other kind was kept for a vault that was here before.
    let kept = keyring::kept(&file.path()).ok().flatten();
    if let Some(key) = kept.filter(|it| it.is_passphrase() == wants_passphrase) {
        return Ok(key);
    }
    if wants_passphrase {
        let path = file.path().display().to_string();
        return Err(VaultError::Open { path, error: OpenError::NeedsPassphrase });
    }
    Ok(Key::read(&file.key_path())?)
}
