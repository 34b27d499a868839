//! The key of the search engine: in the vault, or in a private file where the vault has none.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egress::SearchKey;
use hyper::header::HeaderValue;
use model::ipc::WebSearch;
use model::provider::{self, Provider, ProviderKind};
use monitor::{HeldSecret, Permit, Scrubber};
use policy::access::{Domain, SearchEngine};
use scan::net::Target;
use vault::{Keeper, Name, Scope, Scrub, Secret, Want};
use zeroize::Zeroizing;

use crate::admission::{self, AdmissionError};

/// The key of the search engine, in the vault.
const SECRET: &str = "SEARCH_KEY";
/// Where it lies in the state directory, if it is not in the vault. Only its owner may read it.
const KEY: &str = "search.key";
/// The longest key, in bytes.
const KEY_BYTES_MAX: u64 = 4096;
/// The rights of everybody but the owner of a file.
const OTHERS: u32 = 0o077;

/// The key of the search engine that the settings choose.
#[derive(Clone)]
pub struct EngineKey(Arc<Inner>);

struct Inner {
    keeper: Option<Arc<Keeper>>,
    path: PathBuf,
    /// Takes the key of the file out of texts where no keeper does.
    scrub: Scrub,
}

impl EngineKey {
    /// None if the settings in `home` choose no engine that wants a key. What is in the file is kept from agents from
    /// now on, like what `keeper` keeps.
    ///
    /// # Errors
    /// If the settings are not understood.
    pub fn of(home: &Path, keeper: Option<Arc<Keeper>>) -> Result<Option<Self>, AdmissionError> {
        let chosen = admission::providers(home)?.of(ProviderKind::Web);
        let settings = admission::settings(home)?;
        let search = settings.as_ref().and_then(|it| it.egress().search.as_ref());
        let wants = search.is_some_and(|it| match it.engine {
            SearchEngine::Brave => true,
            SearchEngine::Searxng => false,
        });
        let searches = chosen == Some(Provider::Web(provider::Web::Search));
        let key = (searches && wants).then(|| Self::at(home.join(KEY), keeper));
        if let Some(key) = &key {
            // That it is missing or no key is told when it is needed.
            let _not_there = key.in_the_file();
        }
        Ok(key)
    }

    fn at(path: PathBuf, keeper: Option<Arc<Keeper>>) -> Self {
        Self(Arc::new(Inner { keeper, path, scrub: Scrub::default() }))
    }

    /// What is in the file now. Before anybody is given it, it is known what to take out of texts.
    ///
    /// INVARIANT (SecretsDoNotPrint)
    fn in_the_file(&self) -> Result<HeaderValue, String> {
        // Agents read it, and where our state lies is not for them.
        let failed = |error: io::Error| format!("the key of the search engine, `{KEY}`: {error}");
        let file = files::private::open_with(&self.0.path, fs::OpenOptions::new().read(true));
        let file = file.map_err(failed)?;
        if file.metadata().map_err(failed)?.permissions().mode() & OTHERS != 0 {
            return Err(format!("the key of the search engine, `{KEY}`: others can read it"));
        }
        let mut text = Zeroizing::new(String::new());
        // One byte more, so that a longer one is seen to be longer.
        file.take(KEY_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
        let no_key = |why: &str| format!("the key of the search engine, `{KEY}`, is no key: {why}");
        if text.len() as u64 > KEY_BYTES_MAX {
            return Err(no_key("it is too long"));
        }
        let value = HeaderValue::try_from(text.trim()).map_err(|_| no_key("it is not one line"))?;
        let secret = Secret::new(Zeroizing::new(text.trim().to_owned()));
        let secret = Arc::new(secret.map_err(|error| no_key(&error.to_string()))?);
        match &self.0.keeper {
            Some(keeper) => keeper.learn(SECRET, secret),
            None => self.0.scrub.learn_one(SECRET, secret),
        }
        Ok(value)
    }
}

impl SearchKey for EngineKey {
    fn reveal(&self, permit: &Permit<WebSearch>, target: &Target) -> Result<HeaderValue, String> {
        let name = Name::parse(SECRET).map_err(|it| it.to_string())?;
        let kept = self.0.keeper.as_ref().filter(|it| it.version(&name).is_some());
        let Some(keeper) = kept else { return self.in_the_file() };
        let want = Want { name: &name, domain: Domain::Web, target, purpose: "web_search" };
        let found = keeper.resolve(permit, &Scope::Host, &want);
        let (secret, _) = found.map_err(|it| it.to_string())?;
        HeaderValue::try_from(secret.reveal(permit))
            .map_err(|_| format!("the secret `{name}` is no key of a search engine"))
    }
}

/// For where nobody keeps secrets: the keeper knows the key otherwise.
impl Scrubber for EngineKey {
    fn scrub_part(&self, text: &str, part: Range<usize>) -> Option<String> {
        self.0.scrub.scrub_part(text, part)
    }

    fn held(&self, text: &str) -> Vec<HeldSecret> {
        self.0.scrub.held(text)
    }

    fn longest(&self) -> usize {
        self.0.scrub.longest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn put(path: &Path, text: &str, mode: u32) {
        let _ = fs::remove_file(path);
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_key_is_one_word_that_only_its_owner_reads() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(KEY);
        let key = EngineKey::at(path.clone(), None);
        let missing = key.in_the_file().unwrap_err();
        assert!(missing.contains("`search.key`"), "{missing}");
        let state = dir.path().to_str().unwrap();
        assert!(!missing.contains(state), "where our state lies is not for agents: {missing}");
        let long = "hush ".repeat(1000);
        for (text, mode, good) in [
            ("hush-hush\n", 0o600, true),
            ("hush-hush", 0o400, true),
            ("hush-hush", 0o640, false),
            ("hush-hush", 0o604, false),
            ("", 0o600, false),
            (" \n", 0o600, false),
            // It could not be taken out of texts.
            ("hush", 0o600, false),
            ("hush-hush\nhush", 0o600, false),
            (&long, 0o600, false),
        ] {
            put(&path, text, mode);
            match key.in_the_file() {
                Ok(value) => assert!(good && value == "hush-hush", "{text:?} {mode:o}"),
                Err(error) => {
                    assert!(!good && !error.contains("hush") && !error.contains(state), "{error}");
                }
            }
        }
    }

    #[test]
    fn a_key_in_a_file_is_kept_from_agents_as_those_of_the_vault_are() {
        let home = tempfile::tempdir().unwrap();
        let settings = "providers: {web: search}\n\
            egress: {search: {engine: brave, url: 'https://search.example/'}}\n";
        put(&home.path().join("config.yaml"), settings, 0o600);
        put(&home.path().join(KEY), "hush-7d3kqp0zx2vm\n", 0o600);
        let key = EngineKey::of(home.path(), None).unwrap().unwrap();
        assert_eq!(key.scrub("say hush-7d3kqp0zx2vm!").unwrap(), "say [secret:SEARCH_KEY]!");
        assert_eq!(key.held("hush-7d3kqp0zx2vm").len(), 1);
        // Another one is known before it is given to anybody, and the old one still is.
        put(&home.path().join(KEY), "hush-498fj1mcz7wq\n", 0o600);
        key.in_the_file().unwrap();
        assert!(
            key.scrub("hush-7d3kqp0zx2vm").is_some() && key.scrub("hush-498fj1mcz7wq").is_some()
        );
        put(&home.path().join("config.yaml"), "providers: {web: fetch}\n", 0o600);
        assert!(EngineKey::of(home.path(), None).unwrap().is_none());
    }
}
