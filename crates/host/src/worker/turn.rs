//! One turn of a worker, from the user's words to whatever end it takes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use aegx::Digest;
use agent::{
    Frame, FromWorker, MODEL_CALLS_MAX, Question, Rebuilder, Reply, Status, ToWorker, TurnError,
    TurnErrorCode,
};
use model::UserId;
use monitor::{Approvals, Monitor};
use scan::leak::Sources;

use super::history::{self, Spoken};
use super::inbox::Next;
use super::prompt::Instructions;
use super::shared::{Bounds, OfTurn, Shared, held};
use super::start::Worker;
use super::{END_WITHIN, ERROR_CHARS_MAX, TURN_MAX, ask, call, prompt, questions, told};
use crate::guardrail::Guardrail;

/// How often it is looked whether somebody has answered, interrupted, or waited too long.
const TICK: Duration = Duration::from_millis(50);

/// How much longer a turn waits for each level of sub-agents beneath it: they wait for their own calls as long as it does for
/// its, and then still have to end.
const BELOW_WITHIN: Duration = Duration::from_secs(1);

/// Model calls beside the steps: a conversation may be summarised once in a while.
pub(crate) const MORE_CALLS: usize = 15;

/// How far a turn may go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnLimits {
    pub(crate) wall: Duration,
    pub(crate) model_calls: usize,
    /// Micro-dollars.
    pub(crate) cost: Option<u64>,
    /// Tokens of all models, however they are counted.
    pub(crate) tokens: Option<u64>,
    /// Does it end with the first call that a person would have to allow?
    pub(crate) ends_at_question: bool,
}

impl TurnLimits {
    /// Is there a limit of what may be used?
    pub(crate) fn are_there(&self) -> bool {
        self.cost.is_some() || self.tokens.is_some()
    }

    /// The same without what may be used, for a turn whose use is bounded by the one above.
    pub(crate) fn without_use(self) -> Self {
        Self { cost: None, tokens: None, ..self }
    }
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            wall: TURN_MAX,
            model_calls: MODEL_CALLS_MAX + MORE_CALLS,
            cost: None,
            tokens: None,
            ends_at_question: false,
        }
    }
}

/// A turn as the parent saw it.
pub(crate) struct Seen {
    pub(crate) reply: Reply,
    pub(crate) denied: Vec<String>,
    pub(crate) needs_person: bool,
    /// Frames that were none, and were not passed on.
    pub(crate) frames_rejected: u64,
}

/// How a worker ended its turn.
enum Ending {
    Result { interrupted: bool },
    Error { code: String, message: String },
}

/// What a turn begins with.
pub(crate) struct Prepared<'a> {
    pub(crate) content: &'a str,
    /// What was said before.
    pub(crate) earlier: &'a [Spoken],
    /// What the agent remembers of it.
    pub(crate) memory: &'a [String],
    pub(crate) now: i64,
}

impl Worker {
    /// Who judges what is delivered, if somebody does.
    pub(crate) fn guardrail(&self) -> Option<&Guardrail> {
        self.inner.door().guardrail()
    }

    /// Was nothing said to it yet?
    pub(crate) fn is_fresh(&self) -> bool {
        self.fresh.load(Ordering::Acquire)
    }

    /// What is said to the worker for a turn. Its instructions are made anew, with the time, and answers are compared with
    /// them from here on; what was said before is told to one that does not know it.
    pub(crate) fn prepare(
        &self,
        monitor: &Monitor,
        turn: &Prepared<'_>,
    ) -> Result<ToWorker, TurnError> {
        let inner = &self.inner;
        let workspace = inner.session.workspace();
        let files = told::files(&inner.offer, &inner.who, inner.door());
        let at = (turn.now, &inner.marks);
        let system = prompt::instructions(&inner.offer, workspace, &files, turn.memory, at);
        let mut public = prompt::public(&inner.offer, workspace, turn.now);
        // What it is reminded of is there to be used.
        public.extend_from_slice(turn.memory);
        // The user can read the files of the workspace.
        public.extend(files.into_iter().map(|it| it.1));
        self.register(monitor, Instructions { text: system, public })?;
        let fresh = self.fresh.swap(false, Ordering::AcqRel);
        Ok(ToWorker::Message {
            content: turn.content.to_owned(),
            resume_session_id: Some(inner.who.session.as_str().to_owned()),
            history: if fresh { history::messages(turn.earlier) } else { Vec::new() },
        })
    }

    /// Has answers compared with these instructions from here on. The same as for the turn before need not be registered
    /// again, unless somebody put others in their place.
    fn register(&self, monitor: &Monitor, told: Instructions) -> Result<(), TurnError> {
        let busy = |why: String| TurnError::new(TurnErrorCode::Busy, why);
        let who = &self.inner.who;
        let mut last = held(&self.inner.instructions);
        let counts = monitor.prompt_hash(who).map_err(|it| busy(it.to_string()))?;
        if *last == told
            && counts.is_some_and(|it| it == Digest::of(told.text.as_bytes()).to_string())
        {
            return Ok(());
        }
        let sources =
            Sources { prompt: Some(&told.text), public: &told.public, ..Sources::default() };
        monitor.register_system_prompt(who, &sources).map_err(|it| busy(it.to_string()))?;
        *last = told;
        Ok(())
    }

    /// Tokens that the turn has used so far.
    pub(crate) fn tokens(&self) -> u64 {
        super::shared::tokens(&self.inner.shared().of_turn().usage)
    }

    /// What a person is asked now.
    pub(crate) fn questions(&self, approvals: &dyn Approvals, now: i64) -> Vec<Question> {
        self.inner.questions.shown(approvals, now)
    }

    /// A person's answer; false if nobody waits for it.
    pub(crate) fn answer(&self, monitor: &Monitor, id: &str, approved: bool, by: UserId) -> bool {
        self.inner.questions.answer(monitor, id, approved, by)
    }

    /// Runs one turn, as far as its bounds let it go. After an error of the worker it is of no use any more.
    pub(crate) fn turn(
        &self,
        message: &ToWorker,
        bounds: &Bounds,
        approvals: &dyn Approvals,
        now: &dyn Fn() -> i64,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Seen, TurnError> {
        let inner = &self.inner;
        *held(&self.used) = Instant::now();
        let shared = inner.begin(bounds);
        // What it said after its last result belongs to no turn.
        inner.link.clear();
        inner.link.say(message).map_err(|_| broken(inner.link.why()))?;
        let ending = self.follow(&shared, approvals, now, on_frame);
        shared.finish();
        for tool_id in inner.questions.clear() {
            let _ = inner.link.say(&ToWorker::ToolApprovalResponse { tool_id, approved: false });
        }
        // What was begun is finished before the next turn: a call does not outlive the words that it was made for.
        let below = BELOW_WITHIN.saturating_mul(shared.levels_below());
        let is_settled = shared.settle(END_WITHIN.saturating_add(below));
        shared.take_told().into_iter().for_each(&mut *on_frame);
        *held(&self.used) = Instant::now();
        let turn = std::mem::take(&mut *shared.of_turn());
        let usage = turn.usage;
        if !is_settled {
            inner.link.close();
            let why = match ending {
                Ok(Ending::Result { interrupted: true }) => {
                    "it was interrupted, and a call of this turn has not come back; more may have been used"
                }
                Ok(_) | Err(_) => "a call of this turn has not come back",
            };
            return Err(broken(why.to_owned()).after(usage).perhaps_more());
        }
        inner.end_turn();
        ending.and_then(|it| settled(it, turn)).map_err(|it| it.after(usage))
    }

    fn follow(
        &self,
        shared: &Arc<Shared>,
        approvals: &dyn Approvals,
        now: &dyn Fn() -> i64,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Ending, TurnError> {
        let inner = &self.inner;
        let (mut frames, begun) = (Rebuilder::default(), Instant::now());
        let mut interrupted: Option<Instant> = None;
        loop {
            match inner.link.next(TICK) {
                Next::Message(said) => {
                    if let Some(ending) = self.hear(shared, said, &mut frames, on_frame)? {
                        return Ok(ending);
                    }
                }
                Next::Nothing => {}
                Next::Over | Next::Spoilt(_) => return Err(broken(inner.link.why())),
            }
            shared.take_told().into_iter().for_each(&mut *on_frame);
            for (tool_id, approved) in inner.questions.answered(approvals, now()) {
                let _ = inner.link.say(&ToWorker::ToolApprovalResponse { tool_id, approved });
            }
            if shared.is_cut_off() {
                // Nobody waits for its answer, and whoever ended the turn above waits for its end.
                inner.link.close();
                on_frame(Frame::Status { status: Status::Interrupted });
                return Ok(Ending::Result { interrupted: true });
            }
            if shared.is_interrupted() && interrupted.is_none() {
                interrupted = Some(Instant::now());
                inner.link.say(&ToWorker::Interrupt {}).map_err(|_| broken(inner.link.why()))?;
            }
            if interrupted.is_some_and(|it| it.elapsed() > END_WITHIN) {
                inner.link.close();
                on_frame(Frame::Status { status: Status::Interrupted });
                return Ok(Ending::Result { interrupted: true });
            }
            let wall = shared.limits.wall;
            if begun.elapsed() > wall {
                inner.link.close();
                return Err(broken(format!("no answer within {} s", wall.as_secs())));
            }
        }
    }

    /// Takes one message of the worker; an ending if it is one.
    fn hear(
        &self,
        shared: &Arc<Shared>,
        said: FromWorker,
        frames: &mut Rebuilder,
        on_frame: &mut dyn FnMut(Frame),
    ) -> Result<Option<Ending>, TurnError> {
        let inner = &self.inner;
        match said {
            // It is ready once; that it says so again changes nothing.
            FromWorker::Ready {} => {}
            FromWorker::Frame { frame } => {
                // What sub-agents do is the host's to tell.
                if let Some(frame) = frames.take(&frame).filter(|it| !is_of_sub_agents(it)) {
                    on_frame(frame);
                }
                shared.of_turn().frames_rejected = frames.dropped();
            }
            FromWorker::SessionId { session_id, .. } => self.is_its_own(session_id.as_str())?,
            FromWorker::ToolApprovalRequest { tool_id, tool_name, tool_input } => {
                let call =
                    questions::asked(&tool_name, &tool_input, |it| inner.door().has_tool(it));
                let id = call.and_then(|it| shared.of_turn().stopped.get(&it).copied());
                let waits =
                    inner.reachable && id.is_some_and(|it| inner.questions.wait(&tool_id, it));
                if !waits {
                    let no = ToWorker::ToolApprovalResponse { tool_id, approved: false };
                    let _ = inner.link.say(&no);
                }
            }
            FromWorker::Ask { id, purpose, messages } => {
                ask::ask(inner, shared, id, purpose, messages);
            }
            FromWorker::Call { id, message } => call::call(inner, shared, id, message),
            FromWorker::Result { session_id, interrupted, .. } => {
                self.is_its_own(session_id.as_str())?;
                return Ok(Some(Ending::Result { interrupted }));
            }
            FromWorker::Error { code, message } => {
                return Ok(Some(Ending::Error { code, message }));
            }
        }
        Ok(None)
    }

    /// A worker works in the session that it was given, and in no other.
    fn is_its_own(&self, session: &str) -> Result<(), TurnError> {
        if session == self.inner.who.session.as_str() {
            return Ok(());
        }
        self.inner.link.close();
        Err(broken("it named a session that is not its own".to_owned()))
    }
}

/// What the turn came to, by what the parent saw itself.
fn settled(ending: Ending, turn: OfTurn) -> Result<Seen, TurnError> {
    let OfTurn { usage, calls, denied, answer, failed, open, over, .. } = turn;
    let (sub_agent_open, frames_rejected) = (turn.sub_agent_open, turn.frames_rejected);
    let needs_person = !open.is_empty() || sub_agent_open;
    match ending {
        Ending::Result { interrupted } => {
            let content = answer.unwrap_or_default();
            let reply = Reply { content, interrupted, usage, tool_calls: calls };
            Ok(Seen { reply, denied, needs_person, frames_rejected })
        }
        Ending::Error { code, message } => {
            let error = match (over, failed) {
                (Some(why), _) => TurnError::new(why.code, why.message),
                (None, Some((kind, detail))) => {
                    TurnError::new(TurnErrorCode::ModelError(kind), detail)
                }
                (None, None) => {
                    let code = agent::clean(&code, agent::FRAME_NAME_CHARS_MAX).replace('\n', " ");
                    let message = agent::clean(&message, ERROR_CHARS_MAX);
                    broken(format!("worker_{code}: {message}"))
                }
            };
            Err(error.denying(denied))
        }
    }
}

fn is_of_sub_agents(frame: &Frame) -> bool {
    match frame {
        Frame::SubagentStarted { .. }
        | Frame::SubagentProgress { .. }
        | Frame::SubagentDone { .. } => true,
        Frame::Status { .. }
        | Frame::Token { .. }
        | Frame::ThinkingToken { .. }
        | Frame::ToolUseStart { .. }
        | Frame::ToolUseInput { .. }
        | Frame::ToolResult { .. } => false,
    }
}

fn broken(message: String) -> TurnError {
    TurnError::new(TurnErrorCode::WorkerError, message)
}
