//! Gives secrets to executors: to who holds a permit, within the agent's grants, for the hosts that a secret is
//! for, with a record of each time.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aegx::RecordType;
use evidence::{Clock, Journal, NewRecord};
use model::{Caller, Kind};
use monitor::{CREDENTIAL_SCOPE, HeldSecret, Permit, Scrubber};
use policy::access::Domain;
use scan::net::Target;
use serde_json::{Value, json};

use crate::contents::Contents;
use crate::file::{Held, VaultError};
use crate::name::Name;
use crate::scope::{Given, NotGiven, Scope};
use crate::scrub::Scrub;
use crate::secret::Secret;
use crate::source::Source;

/// Keeps secrets for executors.
pub struct Keeper {
    source: Source,
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    scrub: Scrub,
    loaded: Mutex<Loaded>,
}

struct Loaded {
    contents: Contents,
    /// By what it is seen that the file is another.
    seen: Option<(u64, i64, i64, u64)>,
}

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

/// Why a secret is not given. It is told to the agent, so it says nothing that an agent should not know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The manifest does not grant it.
    #[error("the agent has no grant for `{0}`")]
    NotGranted(Name),
    /// A person has to be asked, and was not.
    #[error("a person has to approve each use of `{0}`")]
    NotApproved(Name),
    /// It is not there.
    #[error("there is no secret `{0}`: the operator sets it with `lazaret vault set {0}`")]
    Missing(Name),
    /// It is for other hosts.
    #[error(
        "the secret `{name}` is not for `{host}`; the operator binds it with `lazaret vault set {name} --host {host}`"
    )]
    Elsewhere {
        /// The secret.
        name: Name,
        /// Where it was to be sent.
        host: String,
    },
    /// The vault does not open any more.
    #[error("the vault does not open; the operator should look")]
    Vault,
    /// What is not recorded is not given.
    #[error("its use could not be recorded")]
    NotRecorded,
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
        let scrub = Scrub::default();
        let seen = seen(&source);
        let contents = source.read()?;
        scrub.learn(&contents);
        let loaded = Mutex::new(Loaded { contents, seen });
        Ok(Self { source, journal, clock, scrub, loaded })
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

    /// The newest value of a secret, if there is one.
    pub(crate) fn current(&self, name: &Name) -> Result<Option<Arc<Secret>>, ResolveError> {
        let loaded = self.fresh()?;
        Ok(loaded.contents.get(name).and_then(|it| it.current()).cloned())
    }

    fn find<E>(
        &self,
        permit: &Permit<E>,
        scope: &Scope,
        want: &Want<'_>,
    ) -> Result<(Given, (Arc<Secret>, u64)), ResolveError> {
        let name = want.name;
        let approved = permit.was_lifted(CREDENTIAL_SCOPE);
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
        _permit: &Permit<E>,
        values: Vec<(Name, Secret)>,
    ) -> Result<(), VaultError> {
        let now = self.clock.unix_seconds();
        let put = |contents: &mut Contents, values: Vec<(Name, Secret)>| {
            values
                .into_iter()
                .try_for_each(|(name, secret)| contents.set(&name, secret, None, now).map(drop))
        };
        let mut loaded = self.loaded();
        match &self.source {
            Source::Vault { file, key } => {
                file.change(key, |contents| put(contents, values))?;
                loaded.seen = seen(&self.source);
                loaded.contents = self.source.read()?;
            }
            Source::Env(_) => put(&mut loaded.contents, values)?,
        }
        self.scrub.learn(&loaded.contents);
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
        if now != loaded.seen {
            loaded.contents = self.source.read().map_err(|_| ResolveError::Vault)?;
            loaded.seen = now;
            self.scrub.learn(&loaded.contents);
        }
        Ok(loaded)
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

impl Scrubber for Keeper {
    fn scrub(&self, text: &str) -> Option<String> {
        // What cannot be read again is known as it was.
        drop(self.fresh());
        self.scrub.scrub(text)
    }

    fn held(&self, text: &str) -> Vec<HeldSecret> {
        drop(self.fresh());
        self.scrub.held(text)
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
fn seen(source: &Source) -> Option<(u64, i64, i64, u64)> {
    let Source::Vault { file, .. } = source else { return None };
    let found = fs::symlink_metadata(file.path()).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
}
