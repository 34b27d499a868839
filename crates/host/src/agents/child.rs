//! A sub-agent at its task: a session of its own, a worker of its own, one turn.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use aegx::Principal;
use agent::{Frame, SubagentStatus, TurnError};
use evidence::{Clock, SystemClock};
use model::{Caller, Source, TaintTag};
use monitor::{Heard, taint};
use policy::access::SubAgent;
use scan::boundary::{Boundary, Nonce, wrap};

use super::children::Place;
use super::slots::Slot;
use super::workers::Seat;
use super::{Agents, new_session, not_kept, refused};
use crate::starter::Starter;
use crate::worker::{Bounds, MORE_CALLS, Prepared, Seen, Shared, TurnLimits, context, tokens};

/// Characters of a task and of an answer that a person is shown.
const SHOWN_CHARS_MAX: usize = 200;
/// Characters of an answer that are given to whoever handed the task on.
const ANSWER_CHARS_MAX: usize = 50_000;

/// What a sub-agent is to do, and as whom.
pub(super) struct Task {
    pub(super) handle: String,
    pub(super) parent: Caller,
    pub(super) principal: Principal,
    pub(super) local: bool,
    pub(super) name: String,
    pub(super) names: Vec<String>,
    pub(super) place: Place,
    pub(super) task: String,
    pub(super) context: Option<String>,
    pub(super) model: Option<String>,
    pub(super) sub_agent: SubAgent,
    pub(super) tokens: Option<u64>,
    pub(super) tokens_of_job: Option<u64>,
    pub(super) wall: Duration,
    /// The turn that hands it on.
    pub(super) above: Arc<Shared>,
}

/// How it ended, and what its words carry.
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) status: SubagentStatus,
    pub(super) text: String,
    pub(super) tags: Vec<TaintTag>,
    pub(super) tokens: u64,
}

impl Ended {
    /// Of one about which nothing is known.
    pub(super) fn lost() -> Self {
        let (status, text) = (SubagentStatus::Failed, "the sub-agent has gone".to_owned());
        Self { name: String::new(), status, text, tags: vec![worst()], tokens: 0 }
    }
}

/// What is believed of a session about which nothing is known.
pub(super) fn worst() -> TaintTag {
    taint::label(Source::Tool, "an agent of our own", SystemClock.unix_seconds())
}

impl Agents {
    /// Runs a sub-agent to its end, and ends its worker.
    pub(super) fn child(&self, task: &Task) -> Ended {
        let description = agent::clean(&task.task, SHOWN_CHARS_MAX);
        let description = format!("{}: {description}", task.name);
        task.above.tell(Frame::SubagentStarted { task_id: task.handle.clone(), description });
        let mut tags = Vec::new();
        let outcome = self.child_session(task, &mut tags);
        let (status, text, tokens) = match outcome {
            Ok(Seen { reply, denied, needs_person, .. }) => {
                task.above.note_sub_agent(&task.name, &denied, needs_person);
                let used = tokens(&reply.usage);
                match reply.interrupted {
                    true => (SubagentStatus::Stopped, "it was stopped".to_owned(), used),
                    false => (SubagentStatus::Completed, reply.content, used),
                }
            }
            Err(error) => (SubagentStatus::Failed, error.message, tokens(&error.usage)),
        };
        let text: String = self.gate.monitor.without_secrets(&text).into_owned();
        task.above.tell(Frame::SubagentDone {
            task_id: task.handle.clone(),
            status,
            summary: agent::clean(&text, SHOWN_CHARS_MAX),
            total_tokens: tokens,
        });
        let text = text.chars().take(ANSWER_CHARS_MAX).collect();
        Ended { name: task.name.clone(), status, text, tags, tokens }
    }

    fn child_session(&self, task: &Task, tags: &mut Vec<TaintTag>) -> Result<Seen, TurnError> {
        let session = new_session().map_err(|it| not_kept(&it.into()))?;
        let who = Caller { session, ..task.parent.clone() };
        self.in_slot(&who, |slot| {
            let stop = Arc::default();
            slot.begin(&stop);
            let outcome = self.child_turn(slot, &stop, &who, task);
            // INVARIANT (AbsorbBeforeDeliver): its words carry what it carries, however it ended. Of a session about which
            // nothing is known the worst is believed; one that never began has said nothing.
            if slot.worker().is_some() {
                tags.extend(self.gate.monitor.tag(&who).unwrap_or_else(|_| Some(worst())));
            }
            self.end_worker(slot);
            outcome
        })
    }

    fn child_turn(
        &self,
        slot: &Slot,
        stop: &Arc<AtomicBool>,
        who: &Caller,
        task: &Task,
    ) -> Result<Seen, TurnError> {
        let calls = task.sub_agent.max_turns.and_then(|it| usize::try_from(it).ok());
        let starter = Starter::Session {
            parent: task.parent.session.clone(),
            principal: task.principal,
            sub_agents: task.names.clone(),
            tokens: task.tokens_of_job,
        };
        let seat = Seat {
            model: task.model.clone().or_else(|| task.sub_agent.model.clone()),
            model_calls: calls,
            place: Some(task.place.clone()),
            ..Seat::of(starter, task.local)
        };
        let worker = self.worker(slot, who, &seat)?;
        let content = said(task).map_err(|it| not_kept(&it.into()))?;
        // What one agent says to another is nobody's word: it is no turn of the user.
        let heard = Heard { source: Source::Agent, origin: "agent_delegate", text: &content };
        self.gate.monitor.hear(who, &heard).map_err(refused)?;
        let now = || SystemClock.unix_seconds();
        let context = context(&self.home, who).map_err(|it| not_kept(&it.into()))?;
        let memory: Vec<String> = context.into_iter().collect();
        let prepared = Prepared { content: &content, earlier: &[], memory: &memory, now: now() };
        let message = worker.prepare(&self.gate.monitor, &prepared)?;
        let usual = TurnLimits::default();
        let limits = TurnLimits {
            wall: task.wall,
            model_calls: calls.map_or(usual.model_calls, |it| it.saturating_add(MORE_CALLS)),
            tokens: task.tokens,
            ..usual
        };
        let bounds = Bounds {
            stop: Arc::clone(stop),
            limits,
            above: Some(Arc::clone(&task.above)),
            purse: None,
        };
        let (begun, mut uses) = (Instant::now(), 0);
        let mut on_frame = |frame: Frame| {
            if let Frame::ToolResult { .. } = frame {
                uses += 1;
                task.above.tell(Frame::SubagentProgress {
                    task_id: task.handle.clone(),
                    tool_uses: uses,
                    duration_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
                    total_tokens: worker.tokens(),
                });
            }
        };
        worker.turn(&message, &bounds, &*self.gate.store, &now, &mut on_frame)
    }
}

/// What a sub-agent is told: its task, and what it is given for it, which is data.
fn said(task: &Task) -> std::io::Result<String> {
    let Some(context) = &task.context else { return Ok(task.task.clone()) };
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(std::io::Error::other)?;
    let given = wrap(Boundary::Peer, "context", context, &Nonce::new(random));
    Ok(format!("{}\n\n{given}", task.task))
}
