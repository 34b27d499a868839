//! The door for talks: `lazaret run` and `lazaret chat` let the process that has the gate run the agent, and hear what it says.
//!
//! One connection is one session. Whoever connects says what the person says, and answers what the person is asked there: which
//! words are the person's is known by the socket, that only processes of the same user outside of every cage can reach. When the connection ends, so does the turn, and the worker.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use agent::{Approval, Frame, Purse, Question, Reached, Runtime as _, Turn, TurnError, Voice};
use llm::{ErrorKind, Usage};
use model::Profile;
use monitor::Approver;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Doors;
use super::agent::kind_of;
use crate::agents::{Account, Agents, AgentsOptions};
use crate::gate::GateError;

/// How often it is looked whether there is a question.
const TICK: Duration = Duration::from_millis(100);

/// Whoever runs agents in the process of the doors.
pub trait Talks: Send + Sync {
    /// The agents, and whether there is no model but the mock one.
    ///
    /// # Errors
    /// If the settings choose what cannot be had.
    fn agents(&self) -> Result<(Arc<Agents>, bool), GateError>;

    /// Who pays for the questions of this session; none where nobody keeps books.
    ///
    /// # Errors
    /// If the user has no account here, or nothing is left of their budget.
    fn purse(
        &self,
        user: &str,
        agent: &str,
        session: &str,
    ) -> Result<Option<Arc<dyn Purse>>, TurnError>;

    /// What goes on with jobs, for whoever looks; null where nobody carries them out.
    fn jobs(&self) -> Value {
        Value::Null
    }
}

/// What somebody who connects asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TalkRequest {
    /// For whom.
    pub user: String,
    /// Which agent.
    pub agent: String,
    /// Which session.
    pub session: String,
    /// How careful a new session is.
    pub profile: Option<String>,
    /// Where the agent works.
    pub workspace: Option<PathBuf>,
    /// In a directory that ends with the session.
    pub ephemeral: bool,
    /// Is there a person who can be asked?
    pub asks: bool,
    /// What one turn may cost, in micro-dollars.
    pub cost_max: Option<u64>,
    /// Workers at once.
    pub workers_max: usize,
}

/// What the person says.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Say {
    /// Something to the agent.
    Turn {
        /// What.
        content: String,
    },
    /// That it is to stop.
    Interrupt {},
    /// Yes or no to a question.
    Approve {
        /// Which.
        tool_id: String,
        /// Yes?
        approved: bool,
    },
}

/// What the person is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Told {
    /// A piece of what the agent does.
    Frame {
        /// Which.
        frame: Frame,
    },
    /// What the person is asked now.
    Questions {
        /// All of it.
        questions: Vec<Shown>,
    },
    /// The turn has ended with an answer.
    Ended {
        /// The answer.
        content: String,
        /// Did somebody interrupt it?
        interrupted: bool,
        /// What was metered.
        usage: Usage,
        /// Calls of tools: name, and what became of it.
        calls: Vec<(String, String)>,
        /// What was denied.
        denied: Vec<String>,
        /// Is there a call that a person could allow?
        needs_person: bool,
        /// What the person should know of the session.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        /// The limits of the user's budget of which much is used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        near: Vec<Reached>,
    },
    /// There is no answer.
    Failed {
        /// Why, for programs.
        code: String,
        /// Whose fault it is: `refused`, `usage` or `unable`.
        class: String,
        /// Why, for people.
        message: String,
        /// What was metered.
        usage: Usage,
        /// What the person should know of the session.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
        /// Rules that denied a call until then.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        denied: Vec<String>,
        /// The limit of a budget at which it ended, if that is why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exceeded: Option<Box<Reached>>,
    },
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// The call.
    pub tool_id: String,
    /// The tool.
    pub tool_name: String,
    /// Lines for a person.
    pub shown: Vec<String>,
}

impl TalkRequest {
    fn options(&self) -> Result<AgentsOptions, String> {
        let profile = self.profile.as_deref().map(Profile::parse).transpose();
        Ok(AgentsOptions {
            profile: profile.map_err(|error| error.to_string())?,
            approver: if self.asks { Approver::Reachable } else { Approver::Absent },
            workspace: self.workspace.clone(),
            ephemeral: self.ephemeral,
            cost_max: self.cost_max,
            workers_max: self.workers_max,
            ..AgentsOptions::default()
        })
    }

    fn turn(&self, content: String, stop: &Arc<AtomicBool>) -> Turn {
        Turn {
            user: self.user.clone(),
            agent: self.agent.clone(),
            session: self.session.clone(),
            content,
            voice: Voice::User,
            earlier: None,
            local: true,
            stop: Arc::clone(stop),
        }
    }
}

/// Whom an error is the fault of.
#[must_use]
pub fn class(error: &TurnError) -> &'static str {
    use agent::TurnErrorCode as C;
    match error.code {
        C::AccessDenied
        | C::BudgetExceeded
        | C::ModelUnpriced
        | C::ModelError(ErrorKind::Refused) => "refused",
        // Of a model without a key that it knows, the settings are wrong.
        C::AgentNotFound | C::SessionNotFound | C::ModelError(ErrorKind::InvalidKey) => "usage",
        C::Busy
        | C::QueryInProgress
        | C::WorkersExhausted
        | C::InitFailed
        | C::WorkerError
        | C::ModelError(_) => "unable",
    }
}

/// One connection: what is said on it, in one order.
struct Line<'a, 'b> {
    doors: &'a Doors<'b>,
    stream: &'a UnixStream,
    speaker: Mutex<()>,
}

impl Line<'_, '_> {
    fn tell(&self, told: &Told) {
        let _one = self.speaker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(bytes) = serde_json::to_vec(told) {
            // Whoever does not take it has gone, which is heard elsewhere.
            let _ = self.doors.try_say(self.stream, &bytes);
        }
    }
}

impl Doors<'_> {
    /// Runs the turns of one session, until whoever asked for them has gone.
    pub(super) fn talk(&self, stream: &UnixStream) {
        let Some(asked) = self.hear(stream) else { return };
        let request = serde_json::from_slice::<TalkRequest>(&asked);
        let request = request.map_err(|error| ("usage", error.to_string()));
        let opened = request.and_then(|it| self.talking(&it).map(|opened| (it, opened)));
        let (request, (agents, is_mock)) = match opened {
            Ok(opened) => opened,
            Err((kind, why)) => return self.say_error(stream, kind, &why),
        };
        self.say_json(stream, &json!({ "ok": true, "mock": is_mock }));
        let line = Line { doors: self, stream, speaker: Mutex::default() };
        self.turns(&line, &request, &agents);
        agents.end();
    }

    fn talking(
        &self,
        request: &TalkRequest,
    ) -> Result<(Arc<Agents>, bool), (&'static str, String)> {
        let nobody = || ("refused", "nobody runs agents here".to_owned());
        let talks = self.talks.as_ref().ok_or_else(nobody)?;
        let options = request.options().map_err(|why| ("usage", why))?;
        let unable = |error: GateError| (kind_of(&error), error.to_string());
        let (agents, is_mock) = talks.agents().map_err(unable)?;
        Ok((agents.beside(options).map_err(unable)?, is_mock))
    }

    fn turns(&self, line: &Line<'_, '_>, request: &TalkRequest, agents: &Agents) {
        let runs = AtomicBool::new(false);
        // Of the turn that was said last: it can be interrupted before its thread runs.
        let mut stop = Arc::<AtomicBool>::default();
        thread::scope(|scope| {
            while let Some(said) = self.hear_long(line.stream) {
                match serde_json::from_slice::<Say>(&said) {
                    Ok(Say::Turn { content }) => {
                        // One that runs is answered first: there is nobody to tell of another.
                        if runs.swap(true, Ordering::AcqRel) {
                            break;
                        }
                        stop = Arc::default();
                        let (turn, runs) = (request.turn(content, &stop), &runs);
                        let work = move || {
                            let told = self.one_turn(line, agents, &turn);
                            // Whoever is told may say the next one at once.
                            runs.store(false, Ordering::Release);
                            told.iter().for_each(|it| line.tell(it));
                        };
                        let named = thread::Builder::new().name("turn".to_owned());
                        if named.spawn_scoped(scope, work).is_err() {
                            break;
                        }
                    }
                    Ok(Say::Interrupt {}) => stop.store(true, Ordering::Release),
                    Ok(Say::Approve { tool_id, approved }) => {
                        let session = request.session.clone();
                        let approval = Approval { session, tool_id, approved };
                        agents.approve(&request.user, &approval);
                    }
                    Err(_) => break,
                }
            }
            stop.store(true, Ordering::Release);
        });
    }

    /// Runs a turn; how it ended is still to be told.
    fn one_turn(&self, line: &Line<'_, '_>, agents: &Agents, turn: &Turn) -> Option<Told> {
        // Nothing new begins where the next process is about to take over.
        let _under_way = self.calls.begin()?;
        let purse = self.talks.as_ref().map(|it| it.purse(&turn.user, &turn.agent, &turn.session));
        let purse = match purse.transpose() {
            Ok(purse) => purse.flatten(),
            Err(why) => return Some(failed(why)),
        };
        let (runs, over) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| questions(line, agents, turn, over));
            let mut show = |frame| line.tell(&Told::Frame { frame });
            let outcome = agents.account(turn, purse, &mut show);
            drop(runs);
            Some(outcome.map_or_else(failed, ended))
        })
    }
}

fn failed(error: TurnError) -> Told {
    let (code, class) = (error.code.as_str().to_owned(), class(&error).to_owned());
    let TurnError { message, usage, notes, denied, exceeded, .. } = error;
    Told::Failed { code, class, message, usage, notes, denied: denied.into_vec(), exceeded }
}

fn ended(account: Account) -> Told {
    let Account { reply, denied, needs_person, notes, near } = account;
    let agent::Reply { content, interrupted, usage, tool_calls: calls } = reply;
    Told::Ended { content, interrupted, usage, calls, denied, needs_person, notes, near }
}

/// Tells what the person is asked whenever that changes, until the turn is over.
fn questions(line: &Line<'_, '_>, agents: &Agents, turn: &Turn, over: Receiver<()>) {
    let mut last = Vec::new();
    loop {
        let now = agents.questions(&turn.user, &turn.session).into_iter();
        let now: Vec<Shown> = now.map(Shown::from).collect();
        if now != last {
            line.tell(&Told::Questions { questions: now.clone() });
            last = now;
        }
        if over.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

impl From<Question> for Shown {
    fn from(it: Question) -> Self {
        Self { tool_id: it.tool_id, tool_name: it.tool_name, shown: it.shown }
    }
}
