//! The commands of agents, as the settings choose it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use evidence::Journal;
use model::provider::{self, Provider, ProviderKind};
use sandbox::cage::Rung;

use crate::admission::{self, AdmissionError};
use crate::executor::Shell;

/// Why there are no commands although they were chosen.
#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// Nobody knows where the person's secrets lie.
    #[error(
        "no commands can run: there is no home directory whose secrets could be kept from them"
    )]
    NoHome,
    /// A directory cannot be found.
    #[error("no commands can run: {0}")]
    Io(#[from] io::Error),
}

/// The commands that the settings in `home` choose, if they choose some.
///
/// # Errors
/// If they cannot be had as they say.
pub fn shell(home: &Path, journal: Arc<Journal>) -> Result<Option<Shell>, ShellError> {
    let chosen = admission::providers(home)?.of(ProviderKind::Shell);
    if chosen != Some(Provider::Shell(provider::Shell::Sandbox)) {
        return Ok(None);
    }
    let settings = admission::settings(home)?.map(|it| it.shell().clone()).unwrap_or_default();
    let named = settings.required.iter().filter_map(|it| Rung::parse(it));
    let always: &[Rung] = if settings.allow_weaker { &[] } else { Rung::ALWAYS };
    let needed = always.iter().copied().chain(named).collect();
    let persons = std::env::home_dir().filter(|it| it.is_absolute()).ok_or(ShellError::NoHome)?;
    let persons = files::resolved(&persons)?;
    Ok(Some(Shell::new(persons, files::resolved(home)?, needed, journal)))
}
