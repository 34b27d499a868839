//! Tasks that one session has handed to sub-agents.
//!
//! INVARIANT (HostCounts): how deep a session stands and how many sub-agents run beneath the first one is counted here, by
//! what the host started itself. A name of a task leads to something only in the session that got it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use agent::{PARALLEL_CALLS_MAX, SubagentStatus};
use model::Caller;
use model::ipc::{AgentCollect, AgentDelegate};
use monitor::{Admission, Output, Permit, Status, Words};
use policy::access::{DelegationSettings, Manifest};
use serde_json::{Value, json};

use super::Agents;
use super::child::{Ended, Task};
use super::workers::Seat;
use crate::executor::Delegates;
use crate::worker::Current;

/// Tasks that one turn of the first session may hand on, those of its sub-agents included.
const TASKS_PER_TURN_MAX: usize = 20;
/// Answers of one session that nobody has taken yet.
const ANSWERS_KEPT_MAX: usize = 40;
/// How long an answer is waited for, where nothing is said.
const COLLECT_DEFAULT: Duration = Duration::from_millis(300_000);
/// How long a sub-agent may take, where nothing is said.
const TASK_DEFAULT: Duration = Duration::from_secs(300);
/// How often it is looked whether the turn is over.
const LOOK: Duration = Duration::from_millis(50);
/// Bytes of the name of a task.
const HANDLE_BYTES: usize = 16;

/// The sub-agents of one session.
pub(super) struct Children {
    agents: Weak<Agents>,
    who: Caller,
    local: bool,
    tokens_of_job: Option<u64>,
    manifest: Arc<Manifest>,
    place: Place,
    current: Current,
    tasks: Arc<Tasks>,
}

/// Where a session stands among those that handed work on.
#[derive(Clone)]
pub(super) struct Place {
    /// The names of the sub-agents from the first one down: as many as it stands deep.
    names: Vec<String>,
    family: Arc<Family>,
}

/// All sessions beneath one that nobody handed anything.
struct Family {
    settings: DelegationSettings,
    running: AtomicUsize,
}

/// A sub-agent runs, until this is dropped.
struct Running(Arc<Family>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Place {
    /// Of a session that nobody handed a task; a job that a sub-agent made stands as deep as that.
    fn first(settings: DelegationSettings, seat: &Seat) -> Self {
        let family = Family { settings, running: AtomicUsize::new(0) };
        Self { names: seat.starter.sub_agents().to_vec(), family: Arc::new(family) }
    }

    fn below(&self, name: &str) -> Self {
        let names = self.names.iter().cloned().chain([name.to_owned()]).collect();
        Self { names, family: Arc::clone(&self.family) }
    }

    fn is_deepest(&self) -> bool {
        self.names.len() >= self.family.settings.max_depth
    }

    /// One more runs, unless as many do as may.
    fn run(&self) -> Option<Running> {
        let at_most = self.family.settings.max_concurrent;
        let more = |count: usize| (count < at_most).then_some(count + 1);
        let counted =
            self.family.running.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok();
        counted.then(|| Running(Arc::clone(&self.family)))
    }
}

/// What became of tasks, by their names; nothing yet of those that run.
type All = HashMap<String, Option<Ended>>;

#[derive(Default)]
struct Tasks {
    all: Mutex<All>,
    changed: Condvar,
}

impl Tasks {
    fn all(&self) -> MutexGuard<'_, All> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, handle: &str, ended: Ended) {
        self.all().insert(handle.to_owned(), Some(ended));
        self.changed.notify_all();
    }

    /// Waits until all of these have ended, or `is_enough`.
    fn wait(&self, handles: &[&str], is_enough: impl Fn() -> bool) {
        let mut all = self.all();
        let run = |all: &All| handles.iter().any(|it| matches!(all.get(*it), Some(None)));
        while run(&all) && !is_enough() {
            let waited = self.changed.wait_timeout(all, LOOK);
            all = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Takes what became of a task: nothing if there is none of this name, and nothing yet if it runs.
    fn take(&self, handle: &str) -> Option<Option<Ended>> {
        let mut all = self.all();
        match all.get(handle)? {
            Some(_) => all.remove(handle),
            None => Some(None),
        }
    }
}

/// A task that has not ended. Whoever waits for it is told so, also if whoever runs it breaks.
struct Open {
    tasks: Arc<Tasks>,
    handle: String,
}

impl Drop for Open {
    fn drop(&mut self) {
        let is_open = matches!(self.tasks.all().get(&self.handle), Some(None));
        if is_open {
            self.tasks.end(&self.handle, Ended::lost());
        }
    }
}

impl Children {
    /// Of the session of `who`, which is admitted so.
    pub(super) fn new(
        agents: &Weak<Agents>,
        who: &Caller,
        admission: &Admission,
        seat: &Seat,
        current: Current,
    ) -> Self {
        let (manifest, settings) = match admission {
            Admission::OnePerson => {
                (Arc::new(Manifest::silent(&who.agent)), DelegationSettings::default())
            }
            Admission::Layered { manifest, global, .. } => {
                (Arc::clone(manifest), *global.delegation())
            }
        };
        Self {
            agents: Weak::clone(agents),
            who: who.clone(),
            local: seat.local,
            tokens_of_job: seat.starter.tokens(),
            manifest,
            place: seat.place.clone().unwrap_or_else(|| Place::first(settings, seat)),
            current,
            tasks: Arc::default(),
        }
    }

    /// Begins a task, and gives its name.
    fn begin(&self, asked: &AgentDelegate) -> Result<String, String> {
        let settings = self.place.family.settings;
        let agents = self.agents.upgrade().ok_or("the host is about to end")?;
        let name = asked.agent.as_ref().map(|it| it.as_str());
        let found = self.manifest.sub_agent(name);
        let (name, sub_agent) = found.ok_or("the manifest names no such sub-agent")?;
        if self.place.is_deepest() {
            let most = settings.max_depth;
            return Err(format!("sub-agents may stand {most} deep, and this one does already"));
        }
        let turn = self.current.get();
        if turn.is_over() {
            return Err("the turn is over".to_owned());
        }
        if !turn.may_hand_on(TASKS_PER_TURN_MAX) {
            return Err(format!("one turn hands on at most {TASKS_PER_TURN_MAX} tasks"));
        }
        let running = self.place.run().ok_or_else(|| {
            format!(
                "at most {} sub-agents run at once: take an answer first",
                settings.max_concurrent
            )
        })?;
        // They are waited for as calls are, beside as many of these as there may be.
        let at_work = turn.work(PARALLEL_CALLS_MAX + 1 + settings.max_concurrent);
        let at_work = at_work.ok_or("too much goes on at once")?;
        if self.tasks.all().len() >= ANSWERS_KEPT_MAX {
            return Err("too many answers wait: take them first".to_owned());
        }
        let handle = new_handle()?;
        // It is driven by whoever drives this turn.
        let principal = agents.gate.monitor.principal(&self.who).map_err(|it| it.to_string())?;
        let seconds = asked.timeout_sec.map(|it| Duration::from_secs(it.get()));
        let task = Task {
            handle: handle.clone(),
            parent: self.who.clone(),
            principal,
            local: self.local,
            name: name.to_owned(),
            names: self.place.below(name).names,
            place: self.place.below(name),
            task: asked.task.as_str().to_owned(),
            context: asked.context.as_ref().map(|it| it.as_str().to_owned()),
            model: asked.model.as_ref().map(|it| it.as_str().to_owned()),
            sub_agent: sub_agent.clone(),
            tokens: asked.max_tokens.map(|it| it.get()),
            tokens_of_job: self.tokens_of_job,
            wall: seconds.unwrap_or(TASK_DEFAULT),
            above: turn,
        };
        self.tasks.all().insert(handle.clone(), None);
        let open = Open { tasks: Arc::clone(&self.tasks), handle: handle.clone() };
        let begun = thread::Builder::new().name("sub-agent".to_owned()).spawn(move || {
            let ended = agents.child(&task);
            // Whoever takes the answer may begin another one at once.
            drop((running, agents));
            open.tasks.end(&open.handle, ended);
            drop((task, open, at_work));
        });
        if begun.is_err() {
            self.tasks.all().remove(&handle);
            return Err("the system has no thread left".to_owned());
        }
        Ok(handle)
    }

    fn is_over(&self) -> bool {
        self.current.get().is_over()
    }
}

impl Delegates for Children {
    fn has_sub_agents(&self) -> bool {
        !self.manifest.agents.is_empty() && !self.place.is_deepest()
    }

    fn delegate(&self, permit: Permit<AgentDelegate>) -> Output {
        let asked = permit.spend();
        let handle = match self.begin(&asked) {
            Ok(handle) => handle,
            Err(why) => return Output::not_begun(why),
        };
        if asked.wait == Some(false) {
            let body = json!({ "handleId": handle, "status": RUNNING });
            return Output { words: Words::Ours, ..Output::text(body.to_string()) };
        }
        // It ends by itself: it has its time, and ends with the turn.
        self.tasks.wait(&[handle.as_str()], || false);
        match self.tasks.take(&handle).flatten() {
            Some(ended) if ended.status == SubagentStatus::Completed => {
                let body = shown(&handle, &ended).to_string();
                Output { tags: ended.tags, ..Output::text(body) }
            }
            Some(Ended { text, tags, .. }) => {
                Output { status: Status::Failed, tags, ..Output::text(text) }
            }
            None => Output::unanswered("the sub-agent has gone"),
        }
    }

    fn collect(&self, permit: Permit<AgentCollect>) -> Output {
        let asked = permit.spend();
        let mut handles: Vec<&str> =
            asked.handle_ids.as_slice().iter().map(|it| it.as_str()).collect();
        handles.sort_unstable();
        handles.dedup();
        let known = |it: &&str| self.tasks.all().contains_key(*it);
        if !handles.iter().any(known) {
            return Output::not_begun("this session has no such task, or its answer was taken");
        }
        let at_most = asked.timeout_ms.map(|it| Duration::from_millis(it.get()));
        let until = Instant::now() + at_most.unwrap_or(COLLECT_DEFAULT);
        self.tasks.wait(&handles, || Instant::now() >= until || self.is_over());
        let (mut results, mut tags) = (Vec::new(), Vec::new());
        for handle in handles {
            results.push(match self.tasks.take(handle) {
                Some(Some(ended)) => {
                    let shown = shown(handle, &ended);
                    tags.extend(ended.tags);
                    shown
                }
                Some(None) => json!({ "handleId": handle, "status": RUNNING }),
                None => json!({ "handleId": handle, "status": "unknown" }),
            });
        }
        Output { tags, ..Output::text(json!({ "results": results }).to_string()) }
    }
}

/// The word for a task that has not ended.
const RUNNING: &str = "running";

fn shown(handle: &str, ended: &Ended) -> Value {
    let (status, key) = match ended.status {
        SubagentStatus::Completed => ("completed", "response"),
        SubagentStatus::Failed => ("failed", "error"),
        SubagentStatus::Stopped => ("stopped", "error"),
    };
    json!({
        "handleId": handle,
        "agent": ended.name,
        "status": status,
        key: ended.text,
        "tokens": ended.tokens,
    })
}

/// A name that nobody can guess.
fn new_handle() -> Result<String, String> {
    let mut random = [0; HANDLE_BYTES];
    getrandom::fill(&mut random).map_err(|it| it.to_string())?;
    Ok(format!("task-{:032x}", u128::from_be_bytes(random)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::starter::Starter;

    fn place(max_concurrent: usize, max_depth: usize) -> Place {
        let settings = DelegationSettings { max_concurrent, max_depth };
        Place::first(settings, &Seat::of(Starter::Person, true))
    }

    #[test]
    fn how_deep_and_how_many_is_counted_for_all_beneath_the_first_one() {
        let first = place(2, 2);
        let child = first.below("a");
        assert!(!first.is_deepest() && !child.is_deepest() && child.below("b").is_deepest());
        let one = first.run().unwrap();
        let _other = child.below("b").run().unwrap();
        assert!(first.run().is_none() && child.run().is_none(), "two run, wherever");
        drop(one);
        assert!(child.run().is_some());
        // A job that a sub-agent made stands as deep as the sub-agent.
        let starter = Starter::Job { sub_agents: vec!["a".to_owned()], tokens: None };
        let of_job = Place::first(first.family.settings, &Seat::of(starter, true));
        assert!(!of_job.is_deepest() && of_job.below("b").is_deepest());
    }

    #[test]
    fn an_answer_is_taken_once_and_only_where_its_name_is_known() {
        let tasks = Arc::new(Tasks::default());
        tasks.all().insert("mine".to_owned(), None);
        assert!(tasks.take("yours").is_none());
        assert!(matches!(tasks.take("mine"), Some(None)), "it runs");
        tasks.wait(&["mine"], || true);
        // Whoever runs it breaks.
        drop(Open { tasks: Arc::clone(&tasks), handle: "mine".to_owned() });
        tasks.wait(&["mine", "yours"], || false);
        let ended = tasks.take("mine").flatten().unwrap();
        assert_eq!(ended.status, SubagentStatus::Failed);
        assert!(ended.tags.iter().all(|it| monitor::taint::is_outside(it.taint)));
        assert!(tasks.take("mine").is_none(), "once");
        assert_ne!(new_handle().unwrap(), new_handle().unwrap());
    }
}
