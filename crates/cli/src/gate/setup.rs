//! A gate on a directory: journal, store, policy and catalogue, put together once for all commands.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use aegx::RecordType;
use evidence::{Config, Durability, Journal, NewRecord, OpenError, SystemClock};
use host::EngineKey;
use model::Kind;
use monitor::provenance::Catalogue;
use monitor::{Monitor, Scrubber, Setup, Surroundings};
use policy::Policy;
use sandbox::audit::Requirement;
use serde_json::json;
use store::{Bond, SqliteStore};
use vault::Keeper;

use crate::failure::Failure;
use crate::policy::folder;
use crate::policy::live::RULES;

/// A gate, and what it stands on.
pub(crate) struct Gate {
    pub(crate) monitor: Arc<Monitor>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) store: Arc<SqliteStore>,
    bond: Bond,
    /// Who keeps secrets, where somebody does.
    pub(crate) keeper: Option<Arc<Keeper>>,
    /// The key of the search engine, where one is chosen that wants one.
    pub(crate) search_key: Option<EngineKey>,
}

/// Opens a gate on `home`, which is made if it is not there.
pub(crate) fn open(
    home: &Path,
    durability: Durability,
    policy: Policy,
    catalogue: Catalogue,
) -> Result<Gate, Failure> {
    files::private::create_dir(home)
        .map_err(|error| Failure::unable(format!("`{}`: {error}", home.display())))?;
    let mut config = Config::new(home.join("evidence"));
    config.durability = durability;
    let (journal, _) = Journal::open(&config).map_err(not_opened)?;
    let journal = Arc::new(journal);
    let bond = Bond::of(home);
    let store = Arc::new(bond.open(durability).map_err(Failure::unable)?);
    let setup = Setup {
        journal: Arc::clone(&journal),
        state: Arc::clone(&store) as Arc<dyn monitor::State>,
        policy: Arc::new(policy),
        catalogue,
        clock: Arc::new(SystemClock),
    };
    let reader = host::reader(home).map_err(Failure::usage)?;
    let monitor = Monitor::new(setup);
    let monitor = Arc::new(match reader {
        Some(reader) => monitor.with_reader(reader),
        None => monitor,
    });
    Ok(Gate { monitor, journal, store, bond, keeper: None, search_key: None })
}

/// The same with who keeps secrets: what agents are shown is scrubbed of them. `unkept` hears why there is nobody
/// although there should be, before the gate is closed.
pub(crate) fn open_with_keys(
    home: &Path,
    policy: Policy,
    catalogue: Catalogue,
    unkept: impl FnOnce(&Gate, &str),
) -> Result<Gate, Failure> {
    let required = host::required(home).map_err(Failure::usage)?;
    let gate = open(home, Durability::Synced, policy, catalogue)?.within(host::surroundings())?;
    if let Some(refused) = refused(&required) {
        let recorded = gate.journal.append(refused.record).map_err(Failure::unable);
        gate.close()?;
        recorded?;
        return Err(Failure::refused(refused.why));
    }
    let keeper = match host::keeper(home, Arc::clone(&gate.journal), Arc::new(SystemClock)) {
        Ok(keeper) => keeper.map(|it| {
            let store = Arc::clone(&gate.store) as Arc<dyn monitor::Tried>;
            Arc::new(it.counting_by(store))
        }),
        Err(error) => {
            unkept(&gate, &error.to_string());
            gate.close()?;
            return Err(match error {
                host::KeysError::Settings(_) => Failure::usage(error),
                host::KeysError::Vault(_) => Failure::unable(error),
            });
        }
    };
    let search_key = EngineKey::of(home, keeper.clone()).map_err(Failure::usage)?;
    let gate = Gate { keeper, search_key, ..gate };
    match gate.scrubber() {
        Some(scrubber) => gate.with(|monitor| monitor.with_scrubber(scrubber)),
        None => Ok(gate),
    }
}

/// A host that may not serve, because its surroundings are not what the operator requires.
pub(crate) struct Refused {
    pub(crate) why: String,
    pub(crate) record: NewRecord,
}

/// Why nothing is served, if something that is required is not so.
pub(crate) fn refused(required: &[Requirement]) -> Option<Refused> {
    let lacking = host::lacking(required);
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
    Some(Refused { why, record })
}

impl Gate {
    /// The same with how the process is confined, which every session says on its record.
    fn within(self, surroundings: Surroundings) -> Result<Self, Failure> {
        self.with(|monitor| monitor.with_surroundings(surroundings))
    }

    fn with(self, change: impl FnOnce(Monitor) -> Monitor) -> Result<Self, Failure> {
        let Self { monitor, journal, store, bond, keeper, search_key } = self;
        let monitor = Arc::into_inner(monitor)
            .ok_or_else(|| Failure::unable("the gate is in use already"))?;
        let monitor = Arc::new(change(monitor));
        Ok(Self { monitor, journal, store, bond, keeper, search_key })
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

    /// Ends in order.
    pub(crate) fn close(self) -> Result<(), Failure> {
        drop(self.monitor);
        drop((self.keeper, self.search_key));
        // What was done is more than a copy has that was made before.
        let counted = self.bond.count(&self.store).map_err(Failure::unable);
        drop(self.store);
        let closed = match Arc::into_inner(self.journal) {
            Some(journal) => journal.close().map_err(Failure::unable),
            None => Ok(()),
        };
        closed.and(counted)
    }
}

/// The rules for a gate on `home`: the embedded ones, and those of `dir`, or of the state directory itself.
pub(crate) fn policy_of(home: &Path, dir: Option<&Path>) -> Result<Policy, Failure> {
    let own = home.join(RULES);
    // Whatever is there is read, or refused: a link that leads nowhere is no empty folder.
    policy(dir.or_else(|| own.symlink_metadata().is_ok().then_some(&*own)))
}

/// The embedded rules, and those of a directory.
pub(crate) fn policy(dir: Option<&Path>) -> Result<Policy, Failure> {
    let loaded = folder::load(dir).map_err(|flaws| {
        let lines = flaws.iter().map(ToString::to_string).collect::<Vec<_>>();
        // A message is one line: `lazaret policy check` shows each flaw on its own.
        Failure::usage(format!("the policy does not load: {}", lines.join("; ")))
    })?;
    Ok(loaded.policy)
}

/// A catalogue from a file; without one, tools are classified by ourselves.
pub(crate) fn catalogue(file: Option<&Path>) -> Result<Catalogue, Failure> {
    let Some(file) = file else { return Ok(Catalogue::default()) };
    let at =
        |error: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {error}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| at(&error))?;
    Catalogue::parse(&text).map_err(|error| at(&error))
}

/// Only one process at a time decides by a journal.
fn not_opened(error: OpenError) -> Failure {
    const NEXT: &str =
        "one gate, proxy or command with a network at a time: wait for it, or name another --home";
    let next =
        if matches!(error, OpenError::Locked { .. }) { format!("; {NEXT}") } else { String::new() };
    Failure::unable(format!("{error}{next}"))
}
