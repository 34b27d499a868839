//! A session of one agent, served: admitted by the files of the state directory, with everything that carries its
//! messages out.

mod opens;
mod place;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aegx::RecordType;
use egress::Rules;
use evidence::{NewRecord, SystemClock};
use model::provider::{self, Provider, ProviderKind};
use model::{Caller, Kind, Profile};
use monitor::{Admission, Approver};
use policy::access::Origin;
use serde_json::json;
use store::Memory;
use vault::Scope;

use self::opens::Opens;
use self::place::{leave, not_visited, workspace};
use crate::agents::Accounts;
use crate::executor::{About, Asker, Delegates, HostExecutor, Offers, Questions, WorkspaceFiles};
use crate::extraction::Extraction;
use crate::gate::{Gate, GateError};
use crate::guardrail::{self, Guardrail};
use crate::ipc::{Door, Stop};
use crate::models::Payer;
use crate::services::Services;
use crate::starter::Starter;
use crate::tool_servers::{self, ToolServers};
use crate::workspace::Workspace;
use crate::{plugin_tools, scheduler};

/// What whoever opens a session chooses.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// How careful a new session is; as the settings say, if nothing is chosen.
    pub profile: Option<Profile>,
    /// Can a person be asked?
    pub approver: Approver,
    /// Where the agent works; without it in its own workspace, if that is there.
    pub workspace: Option<PathBuf>,
    /// Make the agent's own workspace.
    pub own_workspace: bool,
    /// Make a workspace for this session alone, which ends with it.
    pub ephemeral: bool,
    /// Where whoever speaks to it is.
    pub origin: Origin,
    /// Who starts it.
    pub starter: Starter,
}

/// What whoever runs the agent of a session does for it.
#[derive(Clone, Default)]
pub(crate) struct Supplied {
    /// Hands its work on.
    pub(crate) delegates: Option<Arc<dyn Delegates>>,
    /// Asks models for it, and counts what that uses.
    pub(crate) questions: Option<Arc<dyn Questions>>,
    /// Keeps accounts of what it asks models, where nobody counts that.
    pub(crate) accounts: Option<Arc<dyn Accounts>>,
    /// Are plugins run for it, and the servers of its manifest?
    pub(crate) tools_of_others: bool,
}

/// A session that is open, and the door to it.
pub struct AgentSession {
    who: Caller,
    door: Door,
    workspace: Option<Workspace>,
    /// What a person should know.
    notes: Vec<String>,
    /// Where its notes are, if they end with it: nobody comes back to the session of a job or a sub-agent.
    passing: Option<Arc<dyn Memory>>,
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
        Self::open_with(gate, home, who, options, stop, Supplied::default())
    }

    /// The same where its user pays for what it asks models.
    ///
    /// # Errors
    /// As [`AgentSession::open`].
    pub fn open_paid(
        gate: &Gate,
        home: &Path,
        who: &Caller,
        options: &SessionOptions,
        stop: &Stop,
        accounts: Option<Arc<dyn Accounts>>,
    ) -> Result<Self, GateError> {
        let supplied = Supplied { accounts, ..Supplied::default() };
        Self::open_with(gate, home, who, options, stop, supplied)
    }

    /// The same for an agent that somebody here runs.
    pub(crate) fn open_with(
        gate: &Gate,
        home: &Path,
        who: &Caller,
        options: &SessionOptions,
        stop: &Stop,
        supplied: Supplied,
    ) -> Result<Self, GateError> {
        let mut notes = Vec::new();
        let admitted = admit(gate, home, who, options, supplied, stop, &mut notes)?;
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
        let workspace = workspace(options, gate, who, home, &mut notes)
            .inspect_err(|error| record_refused(gate, who, &error.to_string()))?;
        let files = workspace.as_ref().map(|it| it.files().map_err(not_visited)).transpose()?;
        let unread = crate::admission::unread(home).map_err(GateError::usage)?;
        let files = files.map(|it| it.denying(unread));
        gate.own.has_workspace(&who.session, workspace.as_ref().map(Workspace::root));
        let (questions, model) = (admitted.supplied.questions.clone(), admitted.model.clone());
        let payer = admitted.supplied.accounts.clone().map(|it| Payer::new(it, who));
        let asker = Asker::of((questions, payer.clone()), gate, home, model)?;
        let extraction = Extraction::by_settings(home, asker.as_ref())?;
        let guardrail = Guardrail::of(admitted.guardrail, gate, home, asker.as_ref())
            .inspect_err(|error| record_refused(gate, who, &error.to_string()))?;
        let mut executor = executor(gate, home, admitted, files, stop, &mut notes)?;
        if let Some(payer) = payer {
            executor = executor.paid_by(payer);
        }
        if let Some(asker) = asker {
            executor = executor.with_asker(asker);
        }
        let door = Door::new(Arc::clone(&gate.monitor), Arc::clone(&gate.journal), executor)
            .with_extraction(extraction)
            .with_guardrail(guardrail);
        let passing = match options.starter {
            Starter::Person => None,
            Starter::Job { .. } | Starter::Session { .. } => Some(memory(gate, home)?),
        };
        Ok(Self { who: who.clone(), door, workspace, notes, passing })
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
        let Self { who, door, workspace, mut notes, passing } = self;
        drop(door);
        gate.own.has_workspace(&who.session, None);
        let left = match &workspace {
            Some(it) => leave(it, gate, &who),
            None => Ok(Vec::new()),
        };
        let ended = gate.monitor.end_session(&who).map_err(GateError::unable);
        let forgotten = passing.map_or(Ok(0), |it| it.forget_notes(&who.user, &who.session));
        notes.extend(left?);
        forgotten.map_err(GateError::unable)?;
        ended.map(|()| notes)
    }
}

/// What a session may reach, by the files that admitted it.
struct Admitted {
    plugins: Offers,
    servers: ToolServers,
    rules: Rules,
    scope: Scope,
    commands_reach_out: bool,
    network_is_closed: bool,
    supplied: Supplied,
    made_in: scheduler::MadeIn,
    about: About,
    /// The agent's own model, if its manifest names one.
    model: Option<String>,
    /// What a model judges before it is delivered.
    guardrail: policy::access::Guardrail,
}

/// What the files say of `who`, or of a sub-agent of theirs.
fn admission(
    home: &Path,
    who: &Caller,
    options: &SessionOptions,
    refused: &dyn Fn(&dyn std::fmt::Display),
) -> Result<Admission, GateError> {
    let providers = crate::providers(home);
    let admission = providers
        .and_then(|_| crate::admission_from(home, who, &[], options.origin))
        .map_err(|error| {
        refused(&error);
        if error.is_refusal() { GateError::refused(error) } else { GateError::usage(error) }
    })?;
    let admission = admission.of_sub_agents(options.starter.sub_agents().to_vec());
    admission.ok_or_else(|| {
        let why = "the manifest does not name this sub-agent any more";
        refused(&why);
        GateError::refused(why)
    })
}

fn admit(
    gate: &Gate,
    home: &Path,
    who: &Caller,
    options: &SessionOptions,
    supplied: Supplied,
    stop: &Stop,
    notes: &mut Vec<String>,
) -> Result<Admitted, GateError> {
    let refused = |why: &dyn std::fmt::Display| record_refused(gate, who, &why.to_string());
    let admission = admission(home, who, options, &refused)?;
    let rules = crate::reach(&admission).map_err(|error| {
        refused(&error);
        GateError::usage(error)
    })?;
    let scope = Scope::of(&admission);
    let commands_reach_out = admission.commands_reach_out();
    let network_is_closed = admission.closes_network();
    let guardrail = guardrail::wanted(&admission);
    let model = match &admission {
        Admission::OnePerson => None,
        Admission::Layered { manifest, .. } => manifest.model.clone(),
    };
    // Where there is no manifest, none is silent about it.
    let has_manifest = crate::manifest_path(home, &who.agent).exists();
    if gate.keeper.is_some() && scope.is_legacy() && has_manifest {
        notes.push(format!(
            "the manifest of `{}` says nothing of credentials, so its tools get every key: see `lazaret credentials check`",
            who.agent
        ));
    }
    let plugins = plugin_tools::offers(gate, home, supplied.tools_of_others, notes)?;
    let named = match supplied.tools_of_others {
        true => tool_servers::named(&admission, notes),
        false => Vec::new(),
    };
    let opens = Opens { gate, home, who, options, admission: &admission };
    let servers = opens.with_tools(&plugins, &named, stop, notes)?;
    let made_in = scheduler::MadeIn {
        remote: options.origin == Origin::Remote,
        sub_agents: options.starter.sub_agents().to_vec(),
        tokens: options.starter.tokens(),
    };
    let about = About {
        home: home.to_owned(),
        origin: options.origin,
        sub_agents: made_in.sub_agents.clone(),
    };
    Ok(Admitted {
        plugins,
        servers,
        rules,
        scope,
        commands_reach_out,
        network_is_closed,
        supplied,
        made_in,
        about,
        model,
        guardrail,
    })
}

fn executor(
    gate: &Gate,
    home: &Path,
    admitted: Admitted,
    files: Option<WorkspaceFiles>,
    stop: &Stop,
    notes: &mut Vec<String>,
) -> Result<HostExecutor, GateError> {
    let Admitted { plugins, servers, rules, scope, commands_reach_out, network_is_closed, .. } =
        admitted;
    let (supplied, made_in, about) = (admitted.supplied, admitted.made_in, admitted.about);
    let journal = || Arc::clone(&gate.journal);
    let mut executor =
        HostExecutor::new(memory(gate, home)?, home.join("evidence"), Arc::new(SystemClock))
            .with_about(about)
            .with_servers(servers);
    if !plugins.is_empty() {
        let reach = (&rules, network_is_closed, &scope);
        executor = executor.with_plugins(plugin_tools::tools(gate, home, plugins, reach, stop)?);
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
        executor = executor.with_scheduler(scheduler.for_jobs_of(made_in));
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
    if let Some(delegates) = supplied.delegates {
        executor = executor.with_delegates(delegates);
    }
    let browsers = crate::browsers(home, Arc::clone(&gate.monitor), journal());
    if let Some(browsers) = browsers.map_err(GateError::usage)? {
        executor = executor.with_browsers(browsers);
    }
    Ok(executor)
}

/// The memory that the settings choose.
pub(crate) fn memory(gate: &Gate, home: &Path) -> Result<Arc<dyn Memory>, GateError> {
    let providers = crate::providers(home).map_err(GateError::usage)?;
    let in_a_file = Some(Provider::Memory(provider::Memory::File));
    if providers.of(ProviderKind::Memory) != in_a_file {
        return Ok(Arc::clone(&gate.store) as Arc<dyn Memory>);
    }
    gate.file_memory(home).map(|it| it as Arc<dyn Memory>)
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
