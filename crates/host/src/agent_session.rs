//! A session of one agent, served: admitted by the files of the state directory, with everything that carries its
//! messages out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aegx::{Principal, RecordType};
use egress::Rules;
use evidence::{NewRecord, SystemClock};
use model::provider::{self, Provider, ProviderKind};
use model::{Caller, Kind, Profile};
use monitor::{Approver, OpenError, Opening};
use policy::access::Origin;
use serde_json::json;
use store::{FileMemory, Memory};
use vault::Scope;

use crate::executor::{HostExecutor, WorkspaceFiles};
use crate::gate::{Gate, GateError};
use crate::ipc::{Door, Stop};
use crate::services::Services;
use crate::workspace::{VisitError, Workspace};
use crate::{plugins, scheduler};

/// What whoever opens a session chooses.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// How careful a new session is.
    pub profile: Profile,
    /// Can a person be asked?
    pub approver: Approver,
    /// Where the agent works; without it in its own workspace, if that is there.
    pub workspace: Option<PathBuf>,
    /// Make the agent's own workspace.
    pub own_workspace: bool,
    /// Where whoever speaks to it is.
    pub origin: Origin,
}

/// A session that is open, and the door to it.
pub struct AgentSession {
    who: Caller,
    door: Door,
    workspace: Option<Workspace>,
    /// What a person should know.
    notes: Vec<String>,
}

impl AgentSession {
    /// Opens the session of `who`. What is refused is on record.
    ///
    /// # Errors
    /// If the files do not admit `who`, or something that carries messages out is not as the settings say.
    pub fn open(
        gate: &Gate,
        home: &Path,
        who: &Caller,
        options: &SessionOptions,
        stop: &Stop,
    ) -> Result<Self, GateError> {
        let mut notes = Vec::new();
        let admitted = admit(gate, home, who, options, &mut notes)?;
        let opened = Self::behind(gate, home, who, options, admitted, stop, notes);
        if opened.is_err() {
            // It is refused already; that it cannot be ended in order either changes nothing.
            let _ = gate.monitor.end_session(who);
        }
        opened
    }

    fn behind(
        gate: &Gate,
        home: &Path,
        who: &Caller,
        options: &SessionOptions,
        admitted: Admitted,
        stop: &Stop,
        mut notes: Vec<String>,
    ) -> Result<Self, GateError> {
        let workspace = place(options, who, home)
            .and_then(|dir| enter(dir.as_deref(), gate, who, home, &mut notes))
            .inspect_err(|error| record_refused(gate, who, &error.to_string()))?;
        let files = workspace.as_ref().map(|it| it.files().map_err(not_visited)).transpose()?;
        let executor = executor(gate, home, admitted, files, stop, &mut notes)?;
        let door = Door::new(Arc::clone(&gate.monitor), Arc::clone(&gate.journal), executor);
        Ok(Self { who: who.clone(), door, workspace, notes })
    }

    /// The door by which its messages come.
    #[must_use]
    pub fn door(&self) -> &Door {
        &self.door
    }

    /// Where it works, if it has files.
    #[must_use]
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_ref().map(Workspace::root)
    }

    /// What a person should know now; each is said once.
    pub fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Ends the session; gives what a person should know.
    ///
    /// # Errors
    /// If what it leaves in its workspace cannot be marked, or its end not be kept.
    pub fn end(self, gate: &Gate) -> Result<Vec<String>, GateError> {
        let Self { who, door, workspace, mut notes } = self;
        drop(door);
        let left = match &workspace {
            Some(it) => it.leave(&gate.ground(), &who).map_err(not_visited),
            None => Ok(Vec::new()),
        };
        let ended = gate.monitor.end_session(&who).map_err(GateError::unable);
        notes.extend(left?);
        ended.map(|()| notes)
    }
}

/// What a session may reach, by the files that admitted it.
struct Admitted {
    rules: Rules,
    scope: Scope,
    commands_reach_out: bool,
}

fn admit(
    gate: &Gate,
    home: &Path,
    who: &Caller,
    options: &SessionOptions,
    notes: &mut Vec<String>,
) -> Result<Admitted, GateError> {
    let refused = |why: &dyn std::fmt::Display| record_refused(gate, who, &why.to_string());
    let providers = crate::providers(home);
    let admission = providers
        .and_then(|_| crate::admission_from(home, who, &[], options.origin))
        .map_err(|error| {
        refused(&error);
        if error.is_refusal() { GateError::refused(error) } else { GateError::usage(error) }
    })?;
    let rules = crate::reach(&admission).map_err(|error| {
        refused(&error);
        GateError::usage(error)
    })?;
    let scope = Scope::of(&admission);
    let commands_reach_out = admission.commands_reach_out();
    // Where there is no manifest, none is silent about it.
    let has_manifest = crate::manifest_path(home, &who.agent).exists();
    if gate.keeper.is_some() && scope.is_legacy() && has_manifest {
        notes.push(format!(
            "the manifest of `{}` says nothing of credentials, so its tools get every key: see `lazaret credentials check`",
            who.agent
        ));
    }
    let opening = Opening {
        who: who.clone(),
        principal: Principal::User,
        profile: options.profile,
        parent: None,
        admission,
        approver: options.approver,
        tools: Vec::new(),
    };
    gate.monitor.open_session(opening).map_err(|error| {
        refused(&error);
        let another = matches!(error, OpenError::State(monitor::StateError::NotYours { .. }));
        if another { GateError::refused(error) } else { GateError::unable(error) }
    })?;
    Ok(Admitted { rules, scope, commands_reach_out })
}

fn executor(
    gate: &Gate,
    home: &Path,
    admitted: Admitted,
    files: Option<WorkspaceFiles>,
    stop: &Stop,
    notes: &mut Vec<String>,
) -> Result<HostExecutor, GateError> {
    let Admitted { rules, scope, commands_reach_out } = admitted;
    let journal = || Arc::clone(&gate.journal);
    let mut executor =
        HostExecutor::new(memory(gate, home)?, home.join("evidence"), Arc::new(SystemClock));
    for it in plugins::check(home, &gate.journal).map_err(GateError::unable)?.refused {
        notes.push(format!("the plugin {} is refused: {}", it.name, it.why));
    }
    if let Some(models) = crate::models::Models::of(gate, home).map_err(GateError::usage)? {
        executor = executor.with_models(&models);
    }
    for (name, why) in crate::skills::check(home, &gate.journal).map_err(GateError::unable)? {
        notes.push(format!("the skill {name} is refused: {why}"));
    }
    if let Some(skills) = crate::skills::skills(home).map_err(GateError::usage)? {
        executor = executor.with_skills(skills);
    }
    if let Some(scheduler) = scheduler::scheduler(home, journal()).map_err(GateError::usage)? {
        executor = executor.with_scheduler(scheduler);
    }
    if let Some(mut shell) = crate::shell(home, journal()).map_err(GateError::usage)? {
        if let Some(keeper) = gate.keeper.clone() {
            shell = shell.with_keys(keeper, scope.clone());
        }
        if commands_reach_out {
            let outside = crate::outside(home, Arc::clone(&gate.monitor), journal());
            shell = shell.with_network(outside.map_err(GateError::usage)?, rules.clone());
        }
        executor = executor.with_shell(shell.with_stop(stop.clone()));
    }
    if let Some(keeper) = gate.keeper.clone() {
        let settings = crate::settings(home).map_err(GateError::usage)?;
        let services = Services::new(settings.as_ref(), keeper, scope, rules.clone(), journal());
        executor = executor.with_services(services.map_err(GateError::usage)?);
    }
    let web = crate::web(home, journal(), gate.search_key.clone());
    if let Some(web) = web.map_err(GateError::usage)? {
        executor = executor.with_web(web, rules);
    }
    if let Some(files) = files {
        executor = executor.with_files(files);
    }
    let browsers = crate::browsers(home, Arc::clone(&gate.monitor), journal());
    if let Some(browsers) = browsers.map_err(GateError::usage)? {
        executor = executor.with_browsers(browsers);
    }
    Ok(executor)
}

/// The memory that the settings choose.
fn memory(gate: &Gate, home: &Path) -> Result<Arc<dyn Memory>, GateError> {
    let store = Arc::clone(&gate.store);
    let providers = crate::providers(home).map_err(GateError::usage)?;
    let in_a_file = Some(Provider::Memory(provider::Memory::File));
    if providers.of(ProviderKind::Memory) != in_a_file {
        return Ok(store);
    }
    let memory = FileMemory::open(&home.join("memory"), store).map_err(GateError::unable)?;
    Ok(Arc::new(memory))
}

/// Where a session works: where it was told to, or in the agent's own workspace, if that is there or was
/// asked for.
fn place(
    options: &SessionOptions,
    who: &Caller,
    home: &Path,
) -> Result<Option<PathBuf>, GateError> {
    if let Some(dir) = &options.workspace {
        return Ok(Some(dir.clone()));
    }
    // Names that no folder can have are nobody's workspace, unless one is asked for.
    let path = match Workspace::own(home, who) {
        Err(_) if !options.own_workspace => return Ok(None),
        path => path.map_err(not_visited)?,
    };
    if options.own_workspace {
        let made = files::private::create_dir(&path);
        made.map_err(|error| GateError::unable(format!("`{}`: {error}", path.display())))?;
    }
    Ok(path.is_dir().then_some(path))
}

/// An open session comes into a workspace. If this fails, it must not begin.
fn enter(
    dir: Option<&Path>,
    gate: &Gate,
    who: &Caller,
    home: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<Workspace>, GateError> {
    let Some(dir) = dir else { return Ok(None) };
    let workspace = Workspace::open(home, dir).map_err(not_visited)?;
    notes.extend(workspace.enter(&gate.ground(), who).map_err(not_visited)?);
    Ok(Some(workspace))
}

fn not_visited(error: VisitError) -> GateError {
    if error.is_misplaced() { GateError::usage(error) } else { GateError::unable(error) }
}

/// INVARIANT (NothingSilent): a session that is refused leaves a record.
pub fn record_refused(gate: &Gate, who: &Caller, error: &str) {
    let content = json!({
        "agent": who.agent.as_str(),
        "decision": "deny",
        "error": error,
        "session": who.session.as_str(),
        "user": who.user.as_str(),
    });
    let kind = Kind::of_static("session_refused");
    let record = NewRecord::of_host(RecordType::GuardDecision, kind, content);
    // It stays refused, recorded or not.
    let _ = gate.journal.append(record);
}
