//! The door for an agent's messages: `lazaret ipc` hands over its ends, and the daemon serves the session behind them.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use agent::{Purse, TurnError};
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::Approver;
use policy::access::Origin;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{Doors, Talks};
use crate::agent_session::{AgentSession, SessionOptions};
use crate::agents::Accounts;
use crate::gate::GateError;
use crate::ipc::{Ends, FrameError, Limits, Socket, Stop, Stopper, serve_socket, serve_wire};
use crate::starter::Starter;

/// How often it is looked whether whoever asked has gone.
const LOOK: Duration = Duration::from_millis(500);

/// What `lazaret ipc` asks of the daemon.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentRequest {
    /// For whom.
    pub user: String,
    /// Which agent.
    pub agent: String,
    /// Which session.
    pub session: String,
    /// How careful a new session is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Where the agent works.
    pub workspace: Option<PathBuf>,
    /// In its own workspace, which is made.
    pub own_workspace: bool,
    /// What is handed over.
    pub handed: Handed,
}

/// What is handed over with a request, as descriptors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Handed {
    /// Where frames come in, and where answers go.
    Ends,
    /// A socket that listens.
    Listener,
}

impl AgentRequest {
    fn caller(&self) -> Result<(Caller, SessionOptions), String> {
        let text = |it: &dyn std::fmt::Display| it.to_string();
        let who = Caller {
            session: SessionId::parse(&self.session).map_err(|it| text(&it))?,
            user: UserId::parse(&self.user).map_err(|it| text(&it))?,
            agent: AgentId::parse(&self.agent).map_err(|it| text(&it))?,
            door: Kind::of_static("ipc"),
        };
        let options = SessionOptions {
            profile: self
                .profile
                .as_deref()
                .map(|it| Profile::parse(it).map_err(|it| text(&it)))
                .transpose()?,
            approver: Approver::Reachable,
            workspace: self.workspace.clone(),
            own_workspace: self.own_workspace,
            ephemeral: false,
            origin: Origin::Local,
            starter: Starter::Person,
        };
        Ok((who, options))
    }
}

/// The person at this machine has the same account, whoever asks models for them.
struct ByTalks(Arc<dyn Talks>);

impl Accounts for ByTalks {
    fn begin(&self, who: &Caller) -> Result<Option<Arc<dyn Purse>>, TurnError> {
        self.0.purse(who.user.as_str(), who.agent.as_str(), who.session.as_str())
    }
}

impl Doors<'_> {
    /// Serves one agent until its ends are closed, or whoever asked for it has gone.
    pub(super) fn agent(&self, stream: &UnixStream, descriptors: Vec<OwnedFd>) {
        let Some(asked) = self.hear(stream) else { return };
        let asked = serde_json::from_slice::<AgentRequest>(&asked).map_err(|it| it.to_string());
        let asked = asked.and_then(|it| it.caller().map(|who| (it.handed, who)));
        let (handed, (who, options)) = match asked {
            Ok(asked) => asked,
            Err(why) => return self.say_error(stream, "usage", &why),
        };
        let Ok((stopper, stop)) = Stop::pair() else {
            return self.say_error(stream, "unable", "the system has no descriptors left");
        };
        let accounts = self.talks.clone().map(|it| Arc::new(ByTalks(it)) as Arc<dyn Accounts>);
        let opened = AgentSession::open_paid(self.gate, self.home, &who, &options, &stop, accounts);
        let mut session = match opened {
            Ok(session) => session,
            Err(error) => return self.say_error(stream, kind_of(&error), &error.to_string()),
        };
        self.say_json(stream, &json!({ "ok": true, "notes": session.take_notes() }));
        let served = thread::scope(|scope| {
            let (over, ended) = UnixStream::pair().map_err(FrameError::Io)?;
            scope.spawn(move || self.watch(stream, &ended, &stopper));
            let served = serve(&session, &who, handed, descriptors, &stop);
            drop(over);
            served
        });
        let ended = session.end(self.gate).map_err(|it| it.to_string());
        let answer = match (served, ended) {
            (Ok(()) | Err(FrameError::Stopped | FrameError::Idle), Ok(notes)) => {
                json!({ "ok": true, "notes": notes })
            }
            (Err(error), Ok(_)) if error.is_malformed() => {
                json!({ "ok": false, "kind": "refused", "error": error.to_string() })
            }
            (Err(error), Ok(_)) => {
                json!({ "ok": false, "kind": "unable", "error": error.to_string() })
            }
            (_, Err(error)) => json!({ "ok": false, "kind": "unable", "error": error }),
        };
        self.say_json(stream, &answer);
    }

    /// Stops a session when whoever asked for it goes, when the daemon ends, or not at all if it is over before.
    pub(super) fn watch(&self, asker: &UnixStream, over: &UnixStream, stopper: &Stopper) {
        let Ok(timeout) = Timespec::try_from(LOOK) else { return };
        loop {
            let gone = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
            let mut fds = [
                PollFd::from_borrowed_fd(asker.as_fd(), gone),
                PollFd::from_borrowed_fd(over.as_fd(), PollFlags::IN | PollFlags::HUP),
                PollFd::from_borrowed_fd(self.stop.as_fd(), PollFlags::IN),
            ];
            if poll(&mut fds, Some(&timeout)).is_ok_and(|ready| ready > 0) {
                break;
            }
        }
        stopper.stop();
    }
}

fn serve(
    session: &AgentSession,
    who: &Caller,
    handed: Handed,
    descriptors: Vec<OwnedFd>,
    stop: &Stop,
) -> Result<(), FrameError> {
    let missing = || FrameError::Io(std::io::Error::other("nothing was handed over"));
    let mut given = descriptors.into_iter();
    match handed {
        Handed::Ends => {
            let (input, output) = given.next().zip(given.next()).ok_or_else(missing)?;
            let mut wire = Ends::new(File::from(input), File::from(output), stop.clone());
            serve_wire(session.door(), who, &mut wire, &Limits::default())
        }
        Handed::Listener => {
            let listener = UnixListener::from(given.next().ok_or_else(missing)?);
            let socket = Socket::handed(listener)?;
            Ok(serve_socket(session.door(), who, &socket, &Limits::default(), stop)?)
        }
    }
}

/// The kind of an error, for whoever asked.
pub(super) fn kind_of(error: &GateError) -> &'static str {
    match error {
        GateError::Usage(_) => "usage",
        GateError::Refused(_) => "refused",
        GateError::Unable(_) | GateError::Busy(_) => "unable",
    }
}
