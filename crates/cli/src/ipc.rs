//! `lazaret ipc`: the door for one agent's messages.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::policy::access::Origin;
use ::serve::Purses;
use aegx::verify::printable;
use agent::{Purse, TurnError};
use evidence::SystemClock;
use host::agents::Accounts;
use host::doors::{self, AgentRequest, Handed};
use host::ipc::{Door, Ends, FrameError, Limits, Socket, Stop};
use host::{AgentSession, SessionOptions};
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::Approver;

use crate::failure::{Exit, Failure};
use crate::gate::setup::{self, Gate};
use crate::handed;
use crate::home::Home;
use crate::output;

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
    /// How careful a new session is: paranoid, standard or yolo; never less than the settings say [default: as they say]
    #[arg(long, value_parser = |it: &str| Profile::parse(it))]
    profile: Option<Profile>,
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
    if let Some(ended) = by_daemon(args, &home, &stop)? {
        return ended.map(|()| Exit::Done);
    }
    let (policy, catalogue) = setup::rules_of(&home, args.policy.as_deref())?;
    let unkept = |gate: &Gate, why: &str| host::record_refused(gate, &who, why);
    let gate = Gate::open_with_keys(&home, policy, catalogue, unkept)?;
    let control = crate::door::bind(&home)?;
    let options = SessionOptions {
        profile: args.profile,
        approver: if control.is_some() { Approver::Reachable } else { Approver::Absent },
        workspace: args.workspace.clone(),
        own_workspace: args.own_workspace,
        ephemeral: false,
        origin: Origin::Local,
        starter: host::Starter::Person,
    };
    let purses = Purses::of(&home, Arc::new(SystemClock));
    let accounts = Some(Arc::new(Here(purses)) as Arc<dyn Accounts>);
    let opened = AgentSession::open_paid(&gate, &home, &who, &options, &stop, accounts);
    let opened = opened.map_err(Failure::from);
    let outcome = opened.and_then(|mut session| {
        session.take_notes().iter().for_each(|it| output::note(it));
        let work = || serve(session.door(), &who, &home, args, stop);
        let served = crate::door::beside(control.as_ref(), &gate, &home, work);
        let ended = session.end(&gate).map_err(Failure::from);
        let ended = ended.map(|notes| notes.iter().for_each(|it| output::note(it)));
        served.and(ended)
    });
    // However it went: what was done is in order on the disk.
    gate.close()?;
    outcome.map(|()| Exit::Done)
}

/// The person at this machine pays, who needs not agree to their own policy.
struct Here(Purses);

impl Accounts for Here {
    fn begin(&self, who: &Caller) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        self.0.purse(who.user.as_str(), who.agent.as_str(), who.session.as_str())
    }
}

/// Hands the session over to the daemon, if one runs, and waits until it has ended.
fn by_daemon(
    args: &Args,
    home: &Path,
    stop: &Stop,
) -> Result<Option<Result<(), Failure>>, Failure> {
    if doors::client::status(home).map_err(Failure::unable)?.is_none() {
        return Ok(None);
    }
    let request = AgentRequest {
        user: args.user.as_str().to_owned(),
        agent: args.agent.as_str().to_owned(),
        session: args.session.as_str().to_owned(),
        profile: args.profile.map(|it| it.as_str().to_owned()),
        workspace: handed::workspace(args.workspace.as_deref())?,
        own_workspace: args.own_workspace,
        handed: if args.stdio { Handed::Ends } else { Handed::Listener },
    };
    let asked = serde_json::to_vec(&request).map_err(Failure::unable)?;
    let policy = args.policy.as_deref();
    let (input, output) = (io::stdin(), io::stdout());
    let (socket, bring) = if args.stdio {
        (None, vec![input.as_fd(), output.as_fd()])
    } else {
        let socket = listen(args, home)?;
        (Some(socket), Vec::new())
    };
    let bring = socket.as_ref().map_or(bring, |it| vec![it.listener()]);
    let Some(mut connection) = handed::over(home, "ipc", &bring, &asked, policy)? else {
        return Ok(None);
    };
    match &socket {
        Some(socket) => listening(socket),
        None => {
            output::note(&format!("session {} for {}: frames on stdin", args.session, args.user))
        }
    }
    Ok(Some(handed::ended(connection.wait(stop)).map(drop)))
}

fn listen(args: &Args, home: &Path) -> Result<Socket, Failure> {
    let default = || home.join("ipc").join(format!("{}.sock", args.session));
    let path = args.socket.clone().unwrap_or_else(default);
    Socket::bind(&path).map_err(crate::door::not_bound)
}

fn listening(socket: &Socket) {
    output::line(&format!("listening on {}", printable(&socket.path().display().to_string())));
}

fn serve(door: &Door, who: &Caller, home: &Path, args: &Args, stop: Stop) -> Result<(), Failure> {
    if args.stdio {
        return serve_stdio(door, who, stop);
    }
    let socket = listen(args, home)?;
    listening(&socket);
    host::ipc::serve_socket(door, who, &socket, &Limits::default(), &stop).map_err(Failure::unable)
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
