//! The way to the web, as the settings choose it.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egress::{Client, Dialer, Engine, Limits, SearchKey, Trust, TrustError, Web};
use evidence::Journal;
use hyper::header::HeaderValue;
use model::ipc::WebSearch;
use model::provider::{self, Provider, ProviderKind};
use monitor::Permit;
use policy::access::{Domain, Global, SearchEngine};
use scan::net::{DomainError, Domains, Refused, Target};
use vault::{Keeper, Name, Scope, Want};

use crate::admission::{self, AdmissionError};

/// The key of the search engine, in the vault.
const SECRET: &str = "SEARCH_KEY";
/// Where it lies in the state directory, if it is not in the vault. Only its owner may read it.
const KEY: &str = "search.key";
/// The longest key, in bytes.
const KEY_BYTES_MAX: u64 = 4096;
/// The rights of everybody but the owner of a file.
const OTHERS: u32 = 0o077;

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

/// The way to the web that the settings in `home` choose, if they choose one.
///
/// # Errors
/// If it cannot be had as they say.
pub fn web(
    home: &Path,
    journal: Arc<Journal>,
    keeper: Option<Arc<Keeper>>,
) -> Result<Option<Web>, WebError> {
    let engine = match admission::providers(home)?.of(ProviderKind::Web) {
        Some(Provider::Web(provider::Web::Fetch)) => None,
        Some(Provider::Web(provider::Web::Search)) => Some(engine(home, keeper)?),
        Some(_) | None => return Ok(None),
    };
    let limits = Limits::default();
    let client = Client::new(Arc::new(dialer(home, &limits)?), &Trust::System, limits)?;
    Ok(Some(Web::new(client, journal, engine)?))
}

/// What dials for agents whose host has its settings in `home`: no address that they block, by whatever name.
///
/// # Errors
/// If they are not understood.
pub(crate) fn dialer(home: &Path, limits: &Limits) -> Result<Dialer, WebError> {
    Ok(dialer_of(admission::settings(home)?.as_ref(), limits)?)
}

/// The same by settings that were read.
pub(crate) fn dialer_of(settings: Option<&Global>, limits: &Limits) -> Result<Dialer, DomainError> {
    let blocked = settings.and_then(|it| it.egress().blocked_domains.as_deref());
    Ok(Dialer::new(limits).blocking(Domains::parse(blocked.unwrap_or_default())?))
}

fn engine(home: &Path, keeper: Option<Arc<Keeper>>) -> Result<Engine, WebError> {
    let settings = admission::settings(home)?;
    let search = settings.as_ref().and_then(|it| it.egress().search.as_ref());
    let search = search.ok_or(WebError::NoEngine)?;
    let base = Target::parse(&search.url)?;
    Ok(match search.engine {
        SearchEngine::Searxng => Engine::Searxng { base },
        SearchEngine::Brave => {
            let file = KeyFile(home.join(KEY));
            Engine::Brave { base, key: Box::new(EngineKey { keeper, file }) }
        }
    })
}

/// The key in the vault, or in a private file where the vault has none.
struct EngineKey {
    keeper: Option<Arc<Keeper>>,
    file: KeyFile,
}

impl SearchKey for EngineKey {
    fn reveal(&self, permit: &Permit<WebSearch>, target: &Target) -> Result<HeaderValue, String> {
        let name = Name::parse(SECRET).map_err(|it| it.to_string())?;
        let kept = self.keeper.as_ref().filter(|it| it.version(&name).is_some());
        let Some(keeper) = kept else { return self.file.reveal() };
        let want = Want { name: &name, domain: Domain::Web, target, purpose: "web_search" };
        let found = keeper.resolve(permit, &Scope::Host, &want);
        let (secret, _) = found.map_err(|it| it.to_string())?;
        HeaderValue::try_from(secret.reveal(permit))
            .map_err(|_| format!("the secret `{name}` is no key of a search engine"))
    }
}

/// A key in a private file, read when it is needed.
struct KeyFile(PathBuf);

impl KeyFile {
    fn reveal(&self) -> Result<HeaderValue, String> {
        let path = self.0.display();
        let failed = |error: io::Error| format!("the key of the search engine, `{path}`: {error}");
        let file = files::private::open_with(&self.0, fs::OpenOptions::new().read(true));
        let file = file.map_err(failed)?;
        if file.metadata().map_err(failed)?.permissions().mode() & OTHERS != 0 {
            return Err(format!("the key of the search engine, `{path}`: others can read it"));
        }
        let mut text = String::new();
        // One byte more, so that a longer one is seen to be longer.
        file.take(KEY_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
        let key =
            Some(text.trim()).filter(|it| !it.is_empty() && text.len() as u64 <= KEY_BYTES_MAX);
        key.and_then(|it| HeaderValue::try_from(it).ok())
            .ok_or_else(|| format!("the key of the search engine, `{path}`, is no key"))
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn a_key_is_one_short_word_that_only_its_owner_reads() {
        let dir = tempfile::tempdir().unwrap();
        let key = KeyFile(dir.path().join(KEY));
        assert!(key.reveal().unwrap_err().contains("search.key"));
        let long = "k".repeat(4097);
        for (text, mode, good) in [
            ("hush\n", 0o600, true),
            ("hush", 0o400, true),
            ("hush", 0o640, false),
            ("hush", 0o604, false),
            ("", 0o600, false),
            (" \n", 0o600, false),
            ("hush\nhush", 0o600, false),
            (&long, 0o600, false),
        ] {
            let _ = fs::remove_file(&key.0);
            fs::write(&key.0, text).unwrap();
            fs::set_permissions(&key.0, fs::Permissions::from_mode(mode)).unwrap();
            match key.reveal() {
                Ok(value) => assert!(good && value == "hush", "{text:?} {mode:o}"),
                Err(error) => assert!(!good && !error.contains("hush"), "{error}"),
            }
        }
    }
}
