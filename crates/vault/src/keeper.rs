//! Gives secrets to executors: to who holds a permit, within the agent's grants, for the hosts that a secret is
//! for, with a record of each time.

mod scrubber;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aegx::RecordType;
use evidence::{Clock, Journal, NewRecord};
use model::{Caller, Kind};
use monitor::{Permit, Rule, Scrubber as _, Tried};
use policy::access::Domain;
use scan::net::Target;
use serde_json::{Value, json};

use crate::contents::Contents;
use crate::file::{Held, VaultError};
use crate::guesses::{self, Guesses};
use crate::key::Key;
use crate::name::Name;
use crate::resolve_error::ResolveError;
use crate::scope::{Given, NotGiven, Scope};
use crate::scrub::{Looked, Scrub};
use crate::secret::Secret;
use crate::source::Source;

/// Keeps secrets for executors.
pub struct Keeper {
    source: Source,
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    scrub: Arc<Scrub>,
    /// What opens the vault, to be kept from agents as well.
    keys: Vec<Arc<Secret>>,
    loaded: Mutex<Loaded>,
    guesses: Guesses,
}

struct Loaded {
    contents: Contents,
    /// By what it is seen that the file is another.
    seen: Option<Seen>,
    /// What opens the vault since its key was changed.
    key: Option<Key>,
    /// When it was last tried to open one that does not open.
    failed: Option<(Option<Seen>, Instant)>,
}

/// Inode, time and length of the vault.
type Seen = (u64, i64, i64, u64);

/// How often a vault that does not open is tried again. A passphrase takes a second each time.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// What a secret is wanted for.
pub struct Want<'a> {
    /// Which.
    pub name: &'a Name,
    /// By tools of this domain.
    pub domain: Domain,
    /// It is sent there.
    pub target: &'a Target,
    /// For what, in a word or two for the record.
    pub purpose: &'a str,
}

impl Keeper {
    /// Opens the source once, so that what is wrong is known at the start.
    ///
    /// # Errors
    /// If a vault does not open.
    pub fn open(
        source: Source,
        journal: Arc<Journal>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, VaultError> {
        let scrub = Arc::new(Scrub::default());
        let keys = source.keys();
        let seen = seen(&source);
        let contents = source.read()?;
        scrub.learn(&contents, &keys);
        // INVARIANT (SecretsDoNotPrint): whoever writes a record, there is no secret in it.
        let scrubs = Arc::clone(&scrub);
        journal.redact_with(move |text| scrubs.scrub(text));
        let loaded = Mutex::new(Loaded { contents, seen, key: None, failed: None });
        let guesses = Guesses::default();
        Ok(Self { source, journal, clock, scrub, keys, loaded, guesses })
    }

    /// Counts what is tried where another process goes on counting.
    #[must_use]
    pub fn counting_by(self, tried: Arc<dyn Tried>) -> Self {
        Self { guesses: Guesses::kept_by(tried), ..self }
    }

    /// Gives a secret, and the number of its version.
    ///
    /// # Errors
    /// If it is not granted, not there, or not for that host. The last is recorded as an incident.
    pub fn resolve<E>(
        &self,
        permit: &Permit<E>,
        scope: &Scope,
        want: &Want<'_>,
    ) -> Result<(Arc<Secret>, u64), ResolveError> {
        let outcome = self.find(permit, scope, want);
        let (given, answer) = match outcome {
            Ok((given, found)) => (Some(given), Ok(found)),
            Err(error) => (None, Err(error)),
        };
        let record = self.record(permit, want, given.as_ref(), answer.as_ref().err());
        self.append(record)?;
        answer
    }

    pub(crate) fn append(&self, record: NewRecord) -> Result<(), ResolveError> {
        self.journal.append(record).map(drop).map_err(|_| ResolveError::NotRecorded)
    }

    /// The newest value of a secret, if there is one, and whether it is for hosts.
    pub(crate) fn current(&self, name: &Name) -> Result<Option<(Arc<Secret>, bool)>, ResolveError> {
        let loaded = self.fresh()?;
        let entry = loaded.contents.get(name);
        Ok(entry.and_then(|it| Some((Arc::clone(it.current()?), !it.hosts().is_empty()))))
    }

    fn find<E>(
        &self,
        permit: &Permit<E>,
        scope: &Scope,
        want: &Want<'_>,
    ) -> Result<(Given, (Arc<Secret>, u64)), ResolveError> {
        let name = want.name;
        let approved = permit.was_lifted(Rule::CredentialScope);
        let given = scope.give(name.as_str(), want.domain, approved).map_err(|it| match it {
            NotGiven::NotGranted => ResolveError::NotGranted(name.clone()),
            NotGiven::NotApproved => ResolveError::NotApproved(name.clone()),
        })?;
        let loaded = self.fresh()?;
        let missing = || ResolveError::Missing(name.clone());
        let entry = loaded.contents.get(name).ok_or_else(missing)?;
        // INVARIANT (BoundToHosts): a secret goes to the hosts that it is for and to no other.
        if entry.bound().permits(want.target).is_err() {
            let host = want.target.host().to_string();
            return Err(ResolveError::Elsewhere { name: name.clone(), host });
        }
        let secret = entry.current().ok_or_else(missing)?;
        Ok((given, (Arc::clone(secret), entry.newest())))
    }

    /// Stores new values of secrets that are there, all or none. Where nothing can be stored they count until
    /// the process ends.
    ///
    /// # Errors
    /// If the vault does not open or cannot be written.
    pub fn store<E>(
        &self,
        permit: &Permit<E>,
        values: Vec<(Name, Secret)>,
    ) -> Result<(), VaultError> {
        let now = self.clock.unix_seconds();
        let put = |contents: &mut Contents, values: Vec<(Name, Secret)>| {
            values
                .into_iter()
                .try_for_each(|(name, secret)| contents.set(&name, secret, None, now).map(drop))
        };
        let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
        let content = json!({ "decision": "allow", "names": names, "purpose": "oauth_refresh" });
        let record = beside(permit.who(), permit.record(), "vault_set", content);
        self.journal.append(record).map_err(|_| VaultError::NotRecorded)?;
        let mut loaded = self.loaded();
        match &self.source {
            Source::Vault { file, key } => {
                let key = loaded.key.as_ref().unwrap_or(key);
                file.change(key, |contents| put(contents, values))?;
                let now = seen(&self.source);
                let contents = file.open(key)?;
                loaded.seen = now;
                loaded.contents = contents;
            }
            Source::Env(_) => put(&mut loaded.contents, values)?,
        }
        self.scrub.learn(&loaded.contents, &self.keys);
        Ok(())
    }

    /// Waits until nobody else, here or in another process, asks a service for new tokens.
    ///
    /// # Errors
    /// If somebody does not finish.
    pub fn refreshing(&self) -> Result<Option<Held>, VaultError> {
        match &self.source {
            Source::Vault { file, .. } => file.refreshing().map(Some),
            Source::Env(_) => Ok(None),
        }
    }

    /// Takes a secret that is kept elsewhere out of texts as well, by this name. It is for no host.
    pub fn learn(&self, name: &str, secret: Arc<Secret>) {
        self.scrub.learn_one(name, secret);
    }

    /// The number of the newest version of a secret.
    #[must_use]
    pub fn version(&self, name: &Name) -> Option<u64> {
        let loaded = self.fresh().ok()?;
        loaded.contents.get(name).map(crate::contents::Entry::newest)
    }

    /// What is kept, read again if the file has changed.
    fn fresh(&self) -> Result<MutexGuard<'_, Loaded>, ResolveError> {
        let mut loaded = self.loaded();
        let now = seen(&self.source);
        if now == loaded.seen {
            return Ok(loaded);
        }
        let just_tried = |it: &(Option<Seen>, Instant)| it.0 == now && it.1.elapsed() < TRY_AGAIN;
        if loaded.failed.as_ref().is_some_and(just_tried) {
            return Err(ResolveError::Vault);
        }
        let Some((contents, key)) = self.read_again(&loaded) else {
            loaded.failed = Some((now, Instant::now()));
            return Err(ResolveError::Vault);
        };
        let keys = key.as_ref().or(loaded.key.as_ref()).map(Key::as_secrets);
        self.scrub.learn(&contents, keys.as_deref().unwrap_or(&self.keys));
        loaded.contents = contents;
        loaded.seen = now;
        loaded.failed = None;
        loaded.key = key.or(loaded.key.take());
        Ok(loaded)
    }

    /// What is in the source now, with the key that opens it if that is another.
    fn read_again(&self, loaded: &Loaded) -> Option<(Contents, Option<Key>)> {
        let (file, key) = match &self.source {
            Source::Vault { file, key } => (file, loaded.key.as_ref().unwrap_or(key)),
            Source::Env(_) => return self.source.read().ok().map(|it| (it, None)),
        };
        if let Ok(contents) = file.open(key) {
            return Some((contents, None));
        }
        // The key may have been changed, too.
        let key = crate::unlock(file, None).ok()?;
        file.open(&key).ok().map(|it| (it, Some(key)))
    }

    /// Is everything known that must not get out? A vault that was taken away holds nothing new.
    fn knows_all(&self) -> bool {
        self.fresh().is_ok() || seen(&self.source).is_none()
    }

    /// Does somebody try values of a secret? What is found then says nothing any more, whether it is one or not.
    ///
    /// INVARIANT (NoOracle): who was told too often that a value is none is not told that another one is.
    fn is_guessed(&self, looked: &Looked) -> bool {
        use guesses::Kind;
        let now = self.clock.unix_seconds();
        let near = self.guesses.count(Kind::NearMiss, looked.near_misses(), now);
        let shaped = self.guesses.count(Kind::Shaped, looked.shaped(), now);
        // Where nobody knows how often it was tried, it was too often.
        let (Ok(near), Ok(shaped)) = (near, shaped) else { return true };
        let told = near.iter().chain(&shaped).all(|name| self.tell_of_guesses(name));
        let over = |name: &str| self.guesses.is_over(name, now);
        !told || looked.names().any(over) || looked.near_misses().any(|(name, _)| over(name))
    }

    /// Records that values of a secret are tried. The texts in which they are have no session here.
    fn tell_of_guesses(&self, name: &str) -> bool {
        let content = json!({ "decision": "deny", "incident": "secret_guessed", "keys": [name] });
        let kind = Kind::of_static("incident");
        let record = NewRecord::of_host(RecordType::GuardDecision, kind, content);
        self.journal.append(record).is_ok()
    }

    fn loaded(&self) -> MutexGuard<'_, Loaded> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names only.
    fn record<E>(
        &self,
        permit: &Permit<E>,
        want: &Want<'_>,
        given: Option<&Given>,
        error: Option<&ResolveError>,
    ) -> NewRecord {
        let incident = matches!(error, Some(ResolveError::Elsewhere { .. }));
        let mut content = json!({
            "decision": if error.is_none() { "allow" } else { "deny" },
            "domain": want.domain.as_str(),
            "host": want.target.host().to_string(),
            "keys": [want.name.as_str()],
            "purpose": want.purpose,
        });
        let mut add = |name: &str, value: Value| {
            if let Some(fields) = content.as_object_mut() {
                fields.insert(name.to_owned(), value);
            }
        };
        add("grants", given.and_then(|it| it.grant.clone()).into_iter().collect());
        if let Some(given) = given {
            add("mode", given.mode.into());
        }
        if let Some(error) = error {
            add("error", error.to_string().into());
        }
        if incident {
            add("incident", "secret_elsewhere".into());
        }
        let kind = if incident { "incident" } else { "credential" };
        beside(permit.who(), permit.record(), kind, content)
    }
}

/// A record of the host, beside the decision by which it happened.
pub(crate) fn beside(
    who: &Caller,
    decision: aegx::Digest,
    kind: &'static str,
    content: Value,
) -> NewRecord {
    NewRecord {
        parents: vec![decision],
        session: Some(who.session.clone()),
        agent: Some(who.agent.clone()),
        ..NewRecord::of_host(RecordType::GuardDecision, Kind::of_static(kind), content)
    }
}

/// By what it is seen that a vault was replaced: a replaced file is another file.
fn seen(source: &Source) -> Option<Seen> {
    let Source::Vault { file, .. } = source else { return None };
    let found = fs::symlink_metadata(file.path()).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
}
