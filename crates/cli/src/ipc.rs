//! `lazaret ipc`: the door for one agent's messages.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aegx::verify::printable;
use aegx::{Principal, RecordType};
use egress::Rules;
use evidence::{NewRecord, SystemClock};
use host::ipc::{Door, Ends, FrameError, Limits, Socket, Stop};
use host::{HostExecutor, Services, WorkspaceFiles, plugins, scheduler};
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::{Approver, OpenError, Opening};
use serde_json::json;
use store::Memory;
use vault::Scope;

use crate::door;
use crate::failure::{Exit, Failure};
use crate::gate::setup::{self, Gate};
use crate::home::Home;
use crate::output;
use crate::visit::{self, Visit};

/// Serve the messages of one agent, in one session, for one user.
///
/// An agent asks for something by a message, a JSON object with an `action` (see `lazaret schema`).
/// Every message is checked, judged, recorded, and only then acted on. For whom that happens is said
/// here, on the command line: no message can change it.
///
/// A frame is four bytes of length, the highest first, then so many bytes of UTF-8 JSON. Each gets
/// one frame as its answer: {"ok":true,…} or {"ok":false,"error":"…",…}.
///
/// By default it listens on a socket in the state directory, which only you can reach, until it gets
/// SIGTERM or SIGINT. With --stdio frames come by stdin and are answered on stdout, until stdin ends.
///
/// What the gate asks of a person is answered with `lazaret approvals`, and `lazaret say` passes on what
/// you say to the session; both find this process by control.sock in the state directory.
///
/// Who may use which agent is said by config.yaml, users.yaml and agents/AGENT/IDENTITY.md in the state
/// directory. Without users.yaml and agents/ it is one person's machine, and config.yaml may be there or
/// not; if one of those two is there, all must be.
///
/// With `providers: {browser: container}` in config.yaml the agent can drive a real browser by the actions
/// browser_launch, browser_navigate and so on; each ends with this process. See docs/browser.md.
///
/// With --workspace DIR the agent works there: file_read, file_write, file_edit, file_list and file_search
/// cannot leave it, and files carry labels from one session to the next: see `lazaret taint show`. With
/// --own-workspace it is workspaces-data/AGENT/USER in the state directory, which is made; once it is there it
/// is used without being asked for.
///
/// With `providers: {shell: sandbox}` in config.yaml the agent can run commands there by shell_exec, each in a
/// cage that keeps it from your secrets, the network and everything outside the workspace. With
/// `shell: {network: [AGENT]}` commands of that agent reach the network through our proxy.
///
/// Try it:
///   lazaret ipc --user me --agent main --session s1 --stdio < frames
///   printf '\0\0\0\027{"action":"skill_list"}' | lazaret ipc --user me --agent main --session s1 --stdio
///
/// Exit codes: 0 ended in order, 1 the user may not use the agent or the session is another's, 2 wrong
/// usage or broken files, 3 could not work (a journal that another process has open).
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Args {
    #[command(flatten)]
    home: Home,
    /// For whom.
    #[arg(long, default_value = "me", value_parser = UserId::parse)]
    user: UserId,
    /// Which agent.
    #[arg(long, default_value = "main", value_parser = AgentId::parse)]
    agent: AgentId,
    /// Which session: a new one, or one that goes on, as tainted as it was.
    #[arg(long, value_parser = SessionId::parse)]
    session: SessionId,
    /// How careful a new session is: paranoid, standard or yolo.
    #[arg(long, default_value = "standard", value_parser = |it: &str| Profile::parse(it))]
    profile: Profile,
    /// A directory of own policy rules, beside the built-in ones.
    #[arg(long, value_name = "DIR")]
    policy: Option<PathBuf>,
    /// The directory in which the agent works. What lies there with a label counts as read, and what a
    /// tainted session leaves there is marked.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Work in the agent's own workspace for this user, which is made if it is not there.
    #[arg(long, conflicts_with = "workspace")]
    own_workspace: bool,
    /// Listen here, in a directory of mode 0700 [default: ipc/SESSION.sock in the state directory]
    #[arg(long, value_name = "PATH", conflicts_with = "stdio")]
    socket: Option<PathBuf>,
    /// Take frames from stdin and answer on stdout.
    #[arg(long)]
    stdio: bool,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let who = Caller {
        session: args.session.clone(),
        user: args.user.clone(),
        agent: args.agent.clone(),
        door: Kind::of_static("ipc"),
    };
    let stop = Stop::on_signals().map_err(Failure::unable)?;
    let home = args.home.dir()?;
    let policy = setup::policy_of(&home, args.policy.as_deref())?;
    // What a browser's pages ask for are calls of the tools that a proxy has.
    let catalogue = gateway::proxy::catalogue().map_err(Failure::unable)?;
    let unkept = |gate: &Gate, why: &str| refused(gate, &who, why);
    let gate = setup::open_with_keys(&home, policy, catalogue, unkept)?;
    let control = door::bind(&home)?;
    let approver = if control.is_some() { Approver::Reachable } else { Approver::Absent };
    let opened = open_session(&gate, &who, &home, args.profile, approver);
    let outcome = opened.and_then(|opened| {
        let visit = visit::place(args.workspace.as_deref(), args.own_workspace, &who, &home)
            .and_then(|dir| Visit::begin(dir.as_deref(), &gate, &who, &home));
        let visit = visit.inspect_err(|error| refused(&gate, &who, error.message()));
        let served = visit.and_then(|visit| {
            let files = visit.files()?;
            let work = || serve(&gate, &who, &home, args, stop, Hands { opened, files });
            let served = door::beside(control.as_ref(), &gate, &home, work);
            served.and(visit.end(&gate, &who))
        });
        let ended = gate.monitor.end_session(&who).map_err(Failure::unable);
        served.and(ended)
    });
    // However it went: what was done is in order on the disk.
    gate.close()?;
    outcome.map(|()| Exit::Done)
}

/// Opens the session, or records that it was not.
fn open_session(
    gate: &Gate,
    who: &Caller,
    home: &Path,
    profile: Profile,
    approver: Approver,
) -> Result<Opened, Failure> {
    let providers = host::providers(home);
    let admission = providers.and_then(|_| host::admission(home, who, &[])).map_err(|error| {
        refused(gate, who, &error.to_string());
        if error.is_refusal() { Failure::refused(error) } else { Failure::usage(error) }
    })?;
    let rules = host::reach(&admission).map_err(|error| {
        refused(gate, who, &error.to_string());
        Failure::usage(error)
    })?;
    let scope = Scope::of(&admission);
    let commands_reach_out = admission.commands_reach_out();
    let opened = Opened { rules, scope, commands_reach_out };
    // Where there is no manifest, none is silent about it.
    let has_manifest = host::manifest_path(home, &who.agent).exists();
    if gate.keeper.is_some() && opened.scope.is_legacy() && has_manifest {
        output::note(&format!(
            "the manifest of `{}` says nothing of credentials, so its tools get every key: see `lazaret credentials check`",
            who.agent
        ));
    }
    let opening = Opening {
        who: who.clone(),
        principal: Principal::User,
        profile,
        parent: None,
        admission,
        approver,
        tools: Vec::new(),
    };
    gate.monitor.open_session(opening).map(|()| opened).map_err(|error| {
        refused(gate, who, &error.to_string());
        not_opened(error)
    })
}

/// What a session may reach, by the files that admitted it.
struct Opened {
    rules: Rules,
    scope: Scope,
    commands_reach_out: bool,
}

/// The same, and where it works.
struct Hands {
    opened: Opened,
    files: Option<WorkspaceFiles>,
}

fn serve(
    gate: &Gate,
    who: &Caller,
    home: &Path,
    args: &Args,
    stop: Stop,
    hands: Hands,
) -> Result<(), Failure> {
    let memory = memory(gate, home)?;
    let mut executor = HostExecutor::new(memory, args.home.journal()?, Arc::new(SystemClock));
    let Hands { opened, files } = hands;
    let Opened { rules, scope, commands_reach_out } = opened;
    for it in plugins::check(home, &gate.journal).map_err(Failure::unable)?.refused {
        output::note(&format!("the plugin {} is refused: {}", it.name, it.why));
    }
    if let Some(skills) = host::skills::skills(home).map_err(Failure::usage)? {
        executor = executor.with_skills(skills);
    }
    let journal = Arc::clone(&gate.journal);
    if let Some(scheduler) = scheduler::scheduler(home, journal).map_err(Failure::usage)? {
        executor = executor.with_scheduler(scheduler);
    }
    let journal = Arc::clone(&gate.journal);
    if let Some(mut shell) = host::shell(home, journal).map_err(Failure::usage)? {
        if let Some(keeper) = gate.keeper.clone() {
            shell = shell.with_keys(keeper, scope.clone());
        }
        if commands_reach_out {
            shell = shell.with_network(crate::proxy::outside(home, gate)?, rules.clone());
        }
        executor = executor.with_shell(shell.with_stop(stop.clone()));
    }
    if let Some(keeper) = gate.keeper.clone() {
        let settings = host::settings(home).map_err(Failure::usage)?;
        let journal = Arc::clone(&gate.journal);
        let services = Services::new(settings.as_ref(), keeper, scope, rules.clone(), journal);
        executor = executor.with_services(services.map_err(Failure::usage)?);
    }
    let web = host::web(home, Arc::clone(&gate.journal), gate.search_key.clone());
    if let Some(web) = web.map_err(Failure::usage)? {
        executor = executor.with_web(web, rules);
    }
    if let Some(files) = files {
        executor = executor.with_files(files);
    }
    let (monitor, journal) = (Arc::clone(&gate.monitor), Arc::clone(&gate.journal));
    if let Some(browsers) = host::browsers(home, monitor, journal).map_err(Failure::usage)? {
        executor = executor.with_browsers(browsers);
    }
    let door = Door::new(Arc::clone(&gate.monitor), Arc::clone(&gate.journal), executor);
    if args.stdio {
        return serve_stdio(&door, who, stop);
    }
    let default = || home.join("ipc").join(format!("{}.sock", who.session));
    let path = args.socket.clone().unwrap_or_else(default);
    let socket = Socket::bind(&path).map_err(door::not_bound)?;
    output::line(&format!("listening on {}", printable(&path.display().to_string())));
    host::ipc::serve_socket(&door, who, &socket, &Limits::default(), &stop).map_err(Failure::unable)
}

/// The memory that the settings choose.
fn memory(gate: &Gate, home: &Path) -> Result<Arc<dyn Memory>, Failure> {
    let store = Arc::clone(&gate.store);
    if !crate::memory::is_file(home)? {
        return Ok(store);
    }
    Ok(Arc::new(crate::memory::open(home, store)?))
}

/// INVARIANT (NothingSilent): a session that is refused leaves a record.
fn refused(gate: &Gate, who: &Caller, error: &str) {
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

fn serve_stdio(door: &Door, who: &Caller, stop: Stop) -> Result<(), Failure> {
    // Without the buffers of the standard library: whether there are bytes is asked of the system.
    let own = |fd: io::Result<OwnedFd>| fd.map(File::from).map_err(Failure::unable);
    let input = own(io::stdin().as_fd().try_clone_to_owned())?;
    let output = own(io::stdout().as_fd().try_clone_to_owned())?;
    output::note(&format!("session {} for {}: frames on stdin", who.session, who.user));
    let mut wire = Ends::new(input, output, stop);
    match host::ipc::serve_wire(door, who, &mut wire, &Limits::default()) {
        Ok(()) | Err(FrameError::Stopped | FrameError::Idle) => Ok(()),
        Err(error) if error.is_malformed() => Err(Failure::refused(error)),
        // Nobody is there any more to be told.
        Err(FrameError::Io(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(Failure::unable(error)),
    }
}

fn not_opened(error: OpenError) -> Failure {
    let another = matches!(error, OpenError::State(monitor::StateError::NotYours { .. }));
    if another { Failure::refused(error) } else { Failure::unable(error) }
}
