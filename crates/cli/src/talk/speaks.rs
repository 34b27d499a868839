//! Whom a command speaks with: agents of its own, or those of the process that has the gate already.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent::{Approval, Frame, Question, Reached, Reply, Turn, TurnError, TurnErrorCode};
use host::agents::{Account, AgentsOptions};
use host::doors::client::Connection;
use host::doors::talk::{Say, Shown, TalkRequest, Told, class};
use llm::Usage;
use monitor::Approver;

use crate::failure::{Exit, Failure};
use crate::handed;
use crate::talk::host::Host;

/// Agents that a person speaks with.
pub(super) trait Speaks: Sync {
    /// Runs one turn to its end.
    fn account(&self, turn: &Turn, on_frame: &mut dyn FnMut(Frame)) -> Result<Account, Untold>;

    /// What the person is asked now.
    fn questions(&self, turn: &Turn) -> Vec<Question>;

    /// Takes the person's answer; false if nobody waits for it any more.
    fn approve(&self, turn: &Turn, tool_id: &str, approved: bool) -> bool;

    /// Interrupts the turn that runs.
    fn interrupt(&self, turn: &Turn);
}

/// A turn without an answer.
pub(super) struct Untold {
    pub(super) exit: Exit,
    pub(super) code: String,
    pub(super) message: String,
    pub(super) usage: Usage,
    pub(super) notes: Vec<String>,
    /// Rules that denied a call until then.
    pub(super) denied: Vec<String>,
    /// The limit of a budget at which it ended, if that is why.
    pub(super) exceeded: Option<Box<Reached>>,
}

impl Untold {
    fn of(
        class: &str,
        (code, message): (String, String),
        (usage, notes, denied): (Usage, Vec<String>, Vec<String>),
        exceeded: Option<Box<Reached>>,
    ) -> Self {
        let exit = match class {
            "refused" => Exit::Refused,
            "usage" => Exit::Usage,
            _ => Exit::Unable,
        };
        Self { exit, code, message, usage, notes, denied, exceeded }
    }

    fn gone(why: impl std::fmt::Display) -> Self {
        let message = format!("the daemon: {why}");
        let said = (TurnErrorCode::WorkerError.as_str().to_owned(), message);
        Self::of("unable", said, Default::default(), None)
    }
}

impl From<TurnError> for Untold {
    fn from(error: TurnError) -> Self {
        let (class, code) = (class(&error), error.code.as_str().to_owned());
        let TurnError { message, usage, notes, denied, exceeded, .. } = error;
        Self::of(class, (code, message), (usage, notes, denied.into_vec()), exceeded)
    }
}

impl Speaks for Host {
    fn account(&self, turn: &Turn, on_frame: &mut dyn FnMut(Frame)) -> Result<Account, Untold> {
        Self::account(self, turn, on_frame).map_err(Untold::from)
    }

    fn questions(&self, turn: &Turn) -> Vec<Question> {
        agent::Runtime::questions(&*self.agents, &turn.user, &turn.session)
    }

    fn approve(&self, turn: &Turn, tool_id: &str, approved: bool) -> bool {
        let (session, tool_id) = (turn.session.clone(), tool_id.to_owned());
        agent::Runtime::approve(&*self.agents, &turn.user, &Approval { session, tool_id, approved })
    }

    fn interrupt(&self, turn: &Turn) {
        turn.stop.store(true, Ordering::Release);
    }
}

/// Agents of the process that has the gate, by a connection of one session.
pub(super) struct Beside {
    home: PathBuf,
    request: TalkRequest,
    speaker: Mutex<Connection>,
    hearer: Mutex<Connection>,
    asked: Mutex<Vec<Question>>,
    /// Is there no model but the mock one?
    pub(super) is_mock: bool,
}

/// How long the daemon may take to end a session.
const END_WITHIN: Duration = Duration::from_secs(30);

/// A connection of one session: one end to say, one to hear, and whether there is no model but the mock one.
type Ends = (Connection, Connection, bool);

/// Asks the daemon on `home` for a session, if one runs.
fn connect(home: &Path, request: &TalkRequest) -> Result<Option<Ends>, Failure> {
    let asked = serde_json::to_vec(request).map_err(Failure::unable)?;
    let Some(mut connection) = Connection::open(home, "talk", &[]).map_err(Failure::unable)? else {
        return Ok(None);
    };
    connection.say(&asked).map_err(Failure::unable)?;
    let said = handed::ended(connection.hear())?;
    let is_mock = said.get("mock").and_then(serde_json::Value::as_bool) == Some(true);
    let hearer = connection.again().map_err(Failure::unable)?;
    Ok(Some((connection, hearer, is_mock)))
}

/// The same session for the process that has the gate already.
pub(super) fn request(turn: &Turn, options: &AgentsOptions) -> Result<TalkRequest, Failure> {
    Ok(TalkRequest {
        user: turn.user.clone(),
        agent: turn.agent.clone(),
        session: turn.session.clone(),
        profile: options.profile.map(|it| it.as_str().to_owned()),
        workspace: handed::workspace(options.workspace.as_deref())?,
        ephemeral: options.ephemeral,
        asks: options.approver == Approver::Reachable,
        cost_max: options.cost_max,
        workers_max: options.workers_max,
    })
}

impl Beside {
    /// A session at the daemon on `home`, if one runs.
    pub(super) fn open(home: &Path, request: &TalkRequest) -> Result<Option<Self>, Failure> {
        Ok(connect(home, request)?.map(|(speaker, hearer, is_mock)| Self {
            home: home.to_owned(),
            request: request.clone(),
            speaker: Mutex::new(speaker),
            hearer: Mutex::new(hearer),
            asked: Mutex::default(),
            is_mock,
        }))
    }

    fn say(&self, say: &Say) -> Result<(), Untold> {
        let bytes = serde_json::to_vec(say).map_err(Untold::gone)?;
        held(&self.speaker).say(&bytes).map_err(Untold::gone)
    }

    /// Says it; to the next daemon, where the one before has ended meanwhile. The session goes on there.
    fn say_again(&self, say: &Say, hearer: &mut Connection) -> Result<(), Untold> {
        if self.say(say).is_ok() {
            return Ok(());
        }
        let next =
            crate::daemon::start(&self.home).and_then(|_| connect(&self.home, &self.request));
        let next = next.map_err(|failure| Untold::gone(failure.message()))?;
        let (speaker, heard, _) = next.ok_or_else(|| Untold::gone("it has ended"))?;
        *held(&self.speaker) = speaker;
        *hearer = heard;
        self.say(say)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        // Whoever goes on with the session finds it free.
        held(&self.speaker).hang_up_in_order(END_WITHIN);
    }
}

impl Speaks for Beside {
    fn account(&self, turn: &Turn, on_frame: &mut dyn FnMut(Frame)) -> Result<Account, Untold> {
        let mut hearer = held(&self.hearer);
        self.say_again(&Say::Turn { content: turn.content.clone() }, &mut hearer)?;
        // Whoever wanted it to end meanwhile was not heard, or before there was something to end.
        if turn.stop.load(Ordering::Acquire) {
            self.say(&Say::Interrupt {})?;
        }
        let outcome = loop {
            let told = hearer.hear_whenever().map_err(Untold::gone)?;
            match serde_json::from_value::<Told>(told).map_err(Untold::gone)? {
                Told::Frame { frame } => on_frame(frame),
                Told::Questions { questions } => {
                    *held(&self.asked) = questions.into_iter().map(question).collect();
                }
                Told::Ended {
                    content,
                    interrupted,
                    usage,
                    calls,
                    denied,
                    needs_person,
                    notes,
                    near,
                } => {
                    let reply = Reply { content, interrupted, usage, tool_calls: calls };
                    break Ok(Account { reply, denied, needs_person, notes, near });
                }
                Told::Failed { code, class, message, usage, notes, denied, exceeded } => {
                    let seen = (usage, notes, denied);
                    break Err(Untold::of(&class, (code, message), seen, exceeded));
                }
            }
        };
        held(&self.asked).clear();
        outcome
    }

    fn questions(&self, _: &Turn) -> Vec<Question> {
        held(&self.asked).clone()
    }

    fn approve(&self, _: &Turn, tool_id: &str, approved: bool) -> bool {
        let tool_id = tool_id.to_owned();
        held(&self.asked).retain(|it| it.tool_id != tool_id);
        self.say(&Say::Approve { tool_id, approved }).is_ok()
    }

    fn interrupt(&self, turn: &Turn) {
        turn.stop.store(true, Ordering::Release);
        // If it has gone, the turn ends with that, or is about to be said to the next one.
        let _ = self.say(&Say::Interrupt {});
    }
}

fn question(it: Shown) -> Question {
    Question { tool_id: it.tool_id, tool_name: it.tool_name, shown: it.shown }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
