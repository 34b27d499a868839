//! The browsers that the settings choose.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use browser::{Admits, Browsers, Limits, Program, ProgramError, Setup};
use egress::Rules;
use evidence::Journal;
use model::provider::{self, Provider, ProviderKind};
use model::{Caller, ToolDef};
use monitor::{Admission, Monitor};
use scan::net::Inner;

use crate::admission::{self, AdmissionError};
use crate::reach::reach;
use crate::web::{self, WebError};

/// Why there are no browsers although they were chosen.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// The way out that they have cannot be had.
    #[error(transparent)]
    Way(#[from] WebError),
    /// There is no program to start.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The system gives no threads, or no directory.
    #[error("no browsers: {0}")]
    Io(#[from] io::Error),
}

/// The browsers that the settings in `home` choose, if they choose some. The gate must know what a proxy's
/// tools do: `gateway::proxy::catalogue`.
///
/// # Errors
/// If they cannot be had as they say.
pub fn browsers(
    home: &Path,
    monitor: Arc<Monitor>,
    journal: Arc<Journal>,
) -> Result<Option<Browsers>, BrowserError> {
    let chosen = admission::providers(home)?.of(ProviderKind::Browser);
    if chosen != Some(Provider::Browser(provider::Browser::Container)) {
        return Ok(None);
    }
    let settings = admission::settings(home)?.map(|it| it.browser().clone()).unwrap_or_default();
    let mut limits = Limits::default();
    if let Some(per_session) = settings.per_session {
        limits.per_session = usize::from(per_session);
    }
    if let Some(seconds) = settings.idle_seconds {
        limits.idle = Duration::from_secs(seconds.into());
    }
    let setup = Setup {
        monitor,
        journal,
        home: home.to_owned(),
        program: Program::find(settings.program.as_deref())?,
        limits,
        dialer: Arc::new(web::dialer_for_pages(home, &egress::Limits::default())?),
        admits: Box::new(ByFiles(home.to_owned())),
        dangerously_trusted_for_tests: None,
    };
    Ok(Some(Browsers::new(setup)?))
}

/// A browser's session is admitted by the same files as its agent's.
struct ByFiles(PathBuf);

impl Admits for ByFiles {
    fn admit(&self, who: &Caller, tools: &[ToolDef]) -> Result<(Admission, Rules), String> {
        let admission =
            admission::admission(&self.0, who, tools).map_err(|error| error.to_string())?;
        let rules = reach(&admission).map_err(|error| error.to_string())?;
        // A page of the web would reach them from inside the browser, and nobody could tell it from the agent.
        Ok((admission, Rules { inner: Inner::default(), ..rules }))
    }
}
