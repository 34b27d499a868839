//! A gate on a state directory: journal, store, vault, policy and catalogue, put together in one place for the daemon,
//! the commands and the tests.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use aegx::RecordType;
use evidence::{Config, Durability, Journal, NewRecord, OpenError, SystemClock};
use model::Kind;
use monitor::provenance::Catalogue;
use monitor::{Monitor, Scrubber, Setup};
use policy::Policy;
use sandbox::audit::Requirement;
use serde_json::json;
use store::{Bond, FileMemory, SqliteStore};
use vault::Keeper;

use crate::keys::KeysError;
use crate::search_key::EngineKey;
use crate::state_folder::StateFolder;
use crate::workspace::Ground;

/// A gate, and what it stands on.
pub struct Gate {
    /// Decides.
    pub monitor: Arc<Monitor>,
    /// The monitor's journal.
    pub journal: Arc<Journal>,
    /// The monitor's store.
    pub store: Arc<SqliteStore>,
    bond: Bond,
    /// Who keeps secrets, where somebody does.
    pub keeper: Option<Arc<Keeper>>,
    /// The key of the search engine, where one is chosen that wants one.
    pub search_key: Option<EngineKey>,
    /// The state directory, as agents may name it.
    pub own: Arc<StateFolder>,
    /// Memory in a file, where somebody has it open: all share one.
    in_a_file: Mutex<Weak<FileMemory>>,
}

/// Why there is no gate, or no session behind it.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// Files or arguments that have to be changed first.
    #[error("{0}")]
    Usage(String),
    /// It was understood, and it is not allowed.
    #[error("{0}")]
    Refused(String),
    /// The system, or another process that has the journal.
    #[error("{0}")]
    Unable(String),
    /// Another process decides by this journal.
    #[error("{0}")]
    Busy(String),
}

impl GateError {
    /// An error in files or arguments.
    pub fn usage(why: impl std::fmt::Display) -> Self {
        Self::Usage(why.to_string())
    }

    /// A refusal.
    pub fn refused(why: impl std::fmt::Display) -> Self {
        Self::Refused(why.to_string())
    }

    /// An error of the system.
    pub fn unable(why: impl std::fmt::Display) -> Self {
        Self::Unable(why.to_string())
    }
}

impl Gate {
    /// Opens a gate on `home`, which is made if it is not there.
    ///
    /// # Errors
    /// If the directory, the journal or the store cannot be had, or the settings are not understood.
    pub fn open(
        home: &Path,
        durability: Durability,
        policy: Policy,
        catalogue: Catalogue,
    ) -> Result<Self, GateError> {
        files::private::create_dir(home)
            .map_err(|error| GateError::Unable(format!("`{}`: {error}", home.display())))?;
        let mut config = Config::new(home.join("evidence"));
        config.durability = durability;
        let (journal, _) = Journal::open(&config).map_err(not_opened)?;
        let journal = Arc::new(journal);
        let bond = Bond::of(home);
        let store = Arc::new(bond.open(durability).map_err(GateError::unable)?);
        let setup = Setup {
            journal: Arc::clone(&journal),
            state: Arc::clone(&store) as Arc<dyn monitor::State>,
            policy: Arc::new(policy),
            catalogue,
            clock: Arc::new(SystemClock),
        };
        let reader = crate::reader(home).map_err(GateError::usage)?;
        let own = Arc::new(StateFolder::new(home, std::env::home_dir()));
        let monitor = Monitor::new(setup)
            .with_own_places(Arc::clone(&own) as Arc<dyn monitor::OwnPlaces>)
            .with_sanitizing(crate::plans(home).map_err(GateError::usage)?);
        let monitor = match crate::guarded(home).map_err(GateError::usage)? {
            Some(guarded) => monitor.with_guarded(guarded),
            None => monitor,
        };
        let monitor = Arc::new(match reader {
            Some(reader) => monitor.with_reader(reader),
            None => monitor,
        });
        Ok(Self {
            monitor,
            journal,
            store,
            bond,
            keeper: None,
            search_key: None,
            own,
            in_a_file: Mutex::default(),
        })
    }

    /// Opens the same with who keeps secrets: what agents are shown is scrubbed of them. `unkept` hears why there is
    /// nobody although there should be, before the gate is closed.
    ///
    /// # Errors
    /// As [`Gate::open`]; also if the surroundings are not what the operator requires, or the vault does not open.
    pub fn open_with_keys(
        home: &Path,
        policy: Policy,
        catalogue: Catalogue,
        unkept: impl FnOnce(&Self, &str),
    ) -> Result<Self, GateError> {
        let required = crate::required(home).map_err(GateError::usage)?;
        let gate = Self::open(home, Durability::Synced, policy, catalogue)?
            .with(|monitor| monitor.with_surroundings(crate::surroundings()))?;
        if let Some(refused) = NotAsRequired::of(&required) {
            let recorded = gate.journal.append(refused.record).map_err(GateError::unable);
            gate.close()?;
            recorded?;
            return Err(GateError::Refused(refused.why));
        }
        let keeper = match crate::keeper(home, Arc::clone(&gate.journal), Arc::new(SystemClock)) {
            Ok(keeper) => keeper.map(|it| {
                let store = Arc::clone(&gate.store) as Arc<dyn monitor::Tried>;
                Arc::new(it.counting_by(store))
            }),
            Err(error) => {
                unkept(&gate, &error.to_string());
                gate.close()?;
                return Err(match error {
                    KeysError::Settings(_) => GateError::usage(error),
                    KeysError::Vault(_) => GateError::unable(error),
                });
            }
        };
        let search_key = EngineKey::of(home, keeper.clone()).map_err(GateError::usage)?;
        let gate = Self { keeper, search_key, ..gate };
        match gate.scrubber() {
            Some(scrubber) => gate.with(|monitor| monitor.with_scrubber(scrubber)),
            None => Ok(gate),
        }
    }

    fn with(self, change: impl FnOnce(Monitor) -> Monitor) -> Result<Self, GateError> {
        let Self { monitor, journal, store, bond, keeper, search_key, own, in_a_file } = self;
        let monitor = Arc::into_inner(monitor)
            .ok_or_else(|| GateError::unable("the gate is in use already"))?;
        let monitor = Arc::new(change(monitor));
        Ok(Self { monitor, journal, store, bond, keeper, search_key, own, in_a_file })
    }

    /// The memory in a file of the state directory `home`. It is opened once, and closed when nobody has it any more.
    ///
    /// # Errors
    /// If it cannot be opened, or another process has it open.
    pub(crate) fn file_memory(&self, home: &Path) -> Result<Arc<FileMemory>, GateError> {
        let mut open = self.in_a_file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = open.upgrade() {
            return Ok(memory);
        }
        let store = Arc::clone(&self.store);
        let memory = FileMemory::open(&home.join("memory"), store).map_err(GateError::unable)?;
        let memory = Arc::new(memory);
        *open = Arc::downgrade(&memory);
        Ok(memory)
    }

    /// Who knows what agents must not see, if there is anything.
    fn scrubber(&self) -> Option<Arc<dyn Scrubber>> {
        if let Some(keeper) = &self.keeper {
            return Some(Arc::clone(keeper) as Arc<dyn Scrubber>);
        }
        let key = self.search_key.clone()?;
        // INVARIANT (SecretsDoNotPrint): a keeper says so to the journal itself.
        let scrubs = key.clone();
        self.journal.redact_with(move |text| scrubs.scrub(text));
        Some(Arc::new(key))
    }

    /// What workspaces need of it.
    #[must_use]
    pub fn ground(&self) -> Ground<'_> {
        Ground {
            monitor: &self.monitor,
            journal: &self.journal,
            sessions: &*self.store,
            clock: &SystemClock,
        }
    }

    /// Ends in order.
    ///
    /// # Errors
    /// If what was done cannot be closed on the disk.
    pub fn close(self) -> Result<(), GateError> {
        drop(self.monitor);
        drop((self.keeper, self.search_key));
        // What was done is more than a copy has that was made before.
        let counted = self.bond.count(&self.store).map_err(GateError::unable);
        drop(self.store);
        let closed = match Arc::into_inner(self.journal) {
            Some(journal) => journal.close().map_err(GateError::unable),
            None => Ok(()),
        };
        closed.and(counted)
    }
}

/// A host that may not serve, because its surroundings are not what the operator requires.
pub struct NotAsRequired {
    /// What is lacking, and the next step.
    pub why: String,
    /// The same for the journal.
    pub record: NewRecord,
}

impl NotAsRequired {
    /// Why nothing is served, if something that is required is not so.
    #[must_use]
    pub fn of(required: &[Requirement]) -> Option<Self> {
        let lacking = crate::lacking(required);
        if lacking.is_empty() {
            return None;
        }
        let each: Vec<String> =
            lacking.iter().map(|(it, why)| format!("{}: {why}", it.name())).collect();
        let why = format!(
            "the surroundings are not what `sandbox` in config.yaml requires ({}); see `lazaret doctor`",
            each.join("; ")
        );
        let content = json!({ "lacking": each, "decision": "DENY" });
        let kind = Kind::of_static("sandbox_refused");
        let record = NewRecord::of_host(RecordType::GuardDecision, kind, content);
        Some(Self { why, record })
    }
}

/// Only one process at a time decides by a journal.
fn not_opened(error: OpenError) -> GateError {
    const NEXT: &str =
        "one gate, proxy or command with a network at a time: wait for it, or name another --home";
    if matches!(error, OpenError::Locked { .. }) {
        return GateError::Busy(format!("{error}; {NEXT}"));
    }
    GateError::unable(error)
}
