//! The way to the web, as the settings choose it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use egress::{Client, Dialer, Engine, Limits, Trust, TrustError, Web};
use evidence::Journal;
use model::provider::{self, Provider, ProviderKind};
use policy::access::{Global, SearchEngine};
use scan::net::{DomainError, Domains, Host, Refused, Target};

use crate::admission::{self, AdmissionError};
use crate::search_key::EngineKey;

/// Why there is no way to the web although it was chosen.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The settings are not understood.
    #[error(transparent)]
    Settings(#[from] AdmissionError),
    /// A domain or an address that is blocked is none.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// Nobody vouches for servers.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// `web: search` without an engine.
    #[error("`web: search` needs an engine: add `search` with `engine` and `url` under `egress`")]
    NoEngine,
    /// The engine's address leads inside.
    #[error("the search engine: {0}")]
    Engine(#[from] Refused),
    /// The system gives no threads.
    #[error("no threads for the web: {0}")]
    Io(#[from] io::Error),
}

/// The way to the web that the settings in `home` choose, if they choose one. `key` is that of their search engine.
///
/// # Errors
/// If it cannot be had as they say.
pub fn web(
    home: &Path,
    journal: Arc<Journal>,
    key: Option<EngineKey>,
) -> Result<Option<Web>, WebError> {
    let engine = match admission::providers(home)?.of(ProviderKind::Web) {
        Some(Provider::Web(provider::Web::Fetch)) => None,
        Some(Provider::Web(provider::Web::Search)) => Some(engine(home, key)?),
        Some(_) | None => return Ok(None),
    };
    let limits = Limits::default();
    let client = |dialer: Dialer| Client::new(Arc::new(dialer), &Trust::System, limits);
    // What agents name is never asked for with this one.
    let here = engine.as_ref().map(Engine::base).filter(|it| is_here(it));
    let here = match here {
        Some(base) => Some(dialer(home, &limits)?.dangerously_open_for_the_operator(base)),
        None => None,
    };
    let web = Web::new(client(dialer(home, &limits)?)?, journal, engine)?;
    Ok(Some(match here {
        Some(dialer) => web.asking_the_engine_with(client(dialer)?),
        None => web,
    }))
}

fn is_here(target: &Target) -> bool {
    matches!(target.host(), Host::Address(address) if address.is_loopback())
}

/// What dials for agents whose host has its settings in `home`: no address that they block, by whatever name, and none of
/// the inner network but those that they open.
///
/// # Errors
/// If they are not understood.
pub(crate) fn dialer(home: &Path, limits: &Limits) -> Result<Dialer, WebError> {
    Ok(dialer_of(admission::settings(home)?.as_ref(), limits)?)
}

/// The same by settings that were read.
pub(crate) fn dialer_of(settings: Option<&Global>, limits: &Limits) -> Result<Dialer, DomainError> {
    let inner = settings.map(|it| it.egress().inner.clone()).unwrap_or_default();
    Ok(outward(settings, limits)?.dangerously_opening(inner))
}

/// What dials for pages in browsers: nothing of the inner network, for whatever a page shows could ask for it.
pub(crate) fn dialer_for_pages(home: &Path, limits: &Limits) -> Result<Dialer, WebError> {
    Ok(outward(admission::settings(home)?.as_ref(), limits)?)
}

fn outward(settings: Option<&Global>, limits: &Limits) -> Result<Dialer, DomainError> {
    let blocked = settings.and_then(|it| it.egress().blocked_domains.as_deref());
    Ok(Dialer::new(limits).blocking(Domains::parse(blocked.unwrap_or_default())?))
}

fn engine(home: &Path, key: Option<EngineKey>) -> Result<Engine, WebError> {
    let settings = admission::settings(home)?;
    let search = settings.as_ref().and_then(|it| it.egress().search.as_ref());
    let search = search.ok_or(WebError::NoEngine)?;
    let base = Target::parse(&search.url);
    Ok(match search.engine {
        // The operator's word for exactly this address.
        SearchEngine::Searxng => Engine::Searxng {
            base: base
                .or_else(|it| Target::dangerously_on_this_machine(&search.url).map_err(|_| it))?,
        },
        SearchEngine::Brave => {
            Engine::Brave { base: base?, key: Box::new(key.ok_or(WebError::NoEngine)?) }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn addresses_that_the_settings_block_are_not_dialled() {
        let home = tempfile::tempdir().unwrap();
        let vetted = |text: &str| {
            fs::write(home.path().join("config.yaml"), text).unwrap();
            let target = Target::parse("https://[::ffff:93.184.216.34]/").unwrap();
            let dialer = dialer(home.path(), &Limits::default()).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(dialer.vetted(target.host(), target.port())).is_ok()
        };
        assert!(vetted("egress: {blockedDomains: [93.184.216.35]}\n"));
        assert!(!vetted("egress: {blockedDomains: [93.184.216.34]}\n"));
    }
}
