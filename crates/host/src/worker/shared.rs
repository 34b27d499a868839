//! What a turn and the threads that work for it share.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use aegx::Digest;
use agent::{Frame, NotPaid, Purse};
use llm::{ErrorKind, Usage};
use model::ipc::Uuid;

use super::turn::TurnLimits;

/// Frames of the host's own that wait to be shown; more of them are not.
const TOLD_MAX: usize = 1000;

/// Questions to models of one turn: its own, those of its tools, those of its sub-agents and theirs.
pub(crate) const MODEL_CALLS_IN_ALL_MAX: usize = 300;

/// What is known of one turn. Each has its own: what comes late counts for the turn that it belongs to.
#[derive(Default)]
pub(crate) struct Shared {
    /// Whoever runs the turn has the other end.
    interrupted: Arc<AtomicBool>,
    /// Has the turn come to its end?
    over: AtomicBool,
    /// The turn of the session that handed this one its task. What is used here is used there too, and whatever ends that
    /// one ends this.
    above: Option<Arc<Self>>,
    pub(crate) limits: TurnLimits,
    /// Who pays for its questions to models, if somebody else than the one above does.
    purse: Option<Arc<dyn Purse>>,
    turn: Mutex<OfTurn>,
    at_work: Mutex<usize>,
    nobody: Condvar,
    asking: AtomicBool,
    asked: AtomicUsize,
    /// The same with those below.
    asked_in_all: AtomicUsize,
    called: AtomicUsize,
    handed_on: AtomicUsize,
    /// Levels of turns beneath this one.
    levels: AtomicU32,
    /// Held by whoever asks a model where there is a limit: what one uses is counted before the next one asks.
    turns: Mutex<()>,
    told: Mutex<VecDeque<Frame>>,
}

/// The turn that runs in a session, or the last one.
#[derive(Clone, Default)]
pub(crate) struct Current(Arc<Mutex<Arc<Shared>>>);

impl Current {
    /// What is known of it.
    pub(crate) fn get(&self) -> Arc<Shared> {
        Arc::clone(&held(&self.0))
    }

    pub(super) fn set(&self, shared: &Arc<Shared>) {
        *held(&self.0) = Arc::clone(shared);
    }
}

/// What the parent saw of a turn itself.
#[derive(Default)]
pub(crate) struct OfTurn {
    /// What models used.
    pub(super) usage: Usage,
    /// Calls in the order in which they were answered.
    pub(super) calls: Vec<(String, String)>,
    /// What that cost, in micro-dollars, as far as prices are known.
    pub(super) cost: u64,
    /// Why a question was not asked, if as much was used as may be.
    pub(super) over: Option<NotPaid>,
    /// Rules that denied a call.
    pub(super) denied: Vec<String>,
    /// Calls that a person could allow, and nobody did.
    pub(super) open: HashSet<Digest>,
    /// What the model said last, if that was an answer.
    pub(super) answer: Option<String>,
    /// Why a model did not answer.
    pub(super) failed: Option<(ErrorKind, String)>,
    /// Calls that a person can be asked about.
    pub(super) stopped: HashMap<Digest, Uuid>,
    /// Has a sub-agent left a call open that a person could allow?
    pub(super) sub_agent_open: bool,
    /// Frames that were none, and were not passed on.
    pub(super) frames_rejected: u64,
}

impl Shared {
    /// Of a turn that ends when `stop` says so; perhaps it does already.
    pub(crate) fn new(bounds: &Bounds) -> Self {
        let Bounds { stop, limits, above, purse } = bounds;
        let (interrupted, above, purse) = (Arc::clone(stop), above.clone(), purse.clone());
        let shared = Self { interrupted, limits: *limits, above, purse, ..Self::default() };
        for (level, it) in (0_u32..).zip(shared.chain()) {
            it.levels.fetch_max(level, Ordering::AcqRel);
        }
        shared
    }

    /// Of no turn: nothing is to be done, nobody pays, and nobody is above.
    pub(super) fn of_none() -> Self {
        Self { over: AtomicBool::new(true), ..Self::default() }
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Acquire) || self.is_cut_off()
    }

    /// Is the turn over that handed it its task? Nobody waits for its answer then.
    pub(super) fn is_cut_off(&self) -> bool {
        self.above.as_ref().is_some_and(|it| it.is_over())
    }

    /// How many levels stand beneath this turn, as far as it has handed on work.
    pub(super) fn levels_below(&self) -> u32 {
        self.levels.load(Ordering::Acquire)
    }

    /// Is nothing more to be done in it?
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire) || self.is_interrupted()
    }

    /// It has come to its end: what it has handed on ends with it.
    pub(crate) fn finish(&self) {
        self.over.store(true, Ordering::Release);
    }

    /// Says that it is to end.
    pub(crate) fn stop(&self) -> &Arc<AtomicBool> {
        &self.interrupted
    }

    pub(super) fn interrupt(&self) {
        self.interrupted.store(true, Ordering::Release);
    }

    pub(crate) fn of_turn(&self) -> MutexGuard<'_, OfTurn> {
        held(&self.turn)
    }

    /// Counts a question to a model; false if one is asked already, or there were enough.
    pub(super) fn may_ask(&self, at_most: usize) -> bool {
        self.may_ask_beside(at_most) && !self.asking.swap(true, Ordering::AcqRel)
    }

    /// Counts a question to a model that a tool asks, beside others, here and above; false if there were enough: of this
    /// turn, or of any turn that it works for with all below that.
    pub(crate) fn may_ask_beside(&self, at_most: usize) -> bool {
        let enough = |count: &AtomicUsize, most| count.fetch_add(1, Ordering::AcqRel) >= most;
        !enough(&self.asked, at_most)
            && !self.chain().any(|it| enough(&it.asked_in_all, MODEL_CALLS_IN_ALL_MAX))
    }

    pub(super) fn has_asked(&self) {
        self.asking.store(false, Ordering::Release);
    }

    /// Counts a call, here and above; false if there were enough.
    pub(super) fn may_call(&self, at_most: usize) -> bool {
        let above = || self.above.as_ref().is_none_or(|it| it.may_call(at_most));
        self.called.fetch_add(1, Ordering::AcqRel) < at_most && above()
    }

    /// Counts a task that is handed on, here and above; false if there were enough.
    pub(crate) fn may_hand_on(&self, at_most: usize) -> bool {
        let above = || self.above.as_ref().is_none_or(|it| it.may_hand_on(at_most));
        self.handed_on.fetch_add(1, Ordering::AcqRel) < at_most && above()
    }

    /// A person would have to allow a call: where nobody waits for that, the turn ends.
    pub(super) fn is_asked(&self) {
        self.chain().filter(|it| it.limits.ends_at_question).for_each(Self::interrupt);
    }

    /// This turn, and those above it.
    fn chain(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |it| it.above.as_deref())
    }

    /// Who pays for what is asked here.
    pub(super) fn payer(&self) -> Option<Arc<dyn Purse>> {
        self.chain().find_map(|it| it.purse.clone())
    }

    /// What models used in it until now.
    pub(crate) fn usage(&self) -> Usage {
        self.of_turn().usage
    }

    /// Waits until nobody else spends of a limit that counts here. They are taken from below upwards, by everybody.
    pub(super) fn purses(&self) -> Vec<MutexGuard<'_, ()>> {
        let limited = self.chain().filter(|it| it.limits.are_there());
        limited.map(|it| held(&it.turns)).collect()
    }

    /// Is as much used as may be, here or above?
    pub(super) fn is_spent(&self) -> bool {
        self.chain().any(|it| {
            let (turn, limits) = (it.of_turn(), it.limits);
            limits.cost.is_some_and(|most| turn.cost >= most)
                || limits.tokens.is_some_and(|most| tokens(&turn.usage) >= most)
        })
    }

    /// Is there a limit of what it may cost, here or above?
    pub(super) fn has_cost_limit(&self) -> bool {
        self.chain().any(|it| it.limits.cost.is_some())
    }

    /// How many micro-dollars may still be spent, where somebody has set a limit.
    pub(super) fn cost_left(&self) -> Option<u64> {
        let left = |it: &Self| Some(it.limits.cost?.saturating_sub(it.of_turn().cost));
        self.chain().filter_map(left).min()
    }

    /// How many tokens may still be used, where somebody has set a limit.
    pub(super) fn tokens_left(&self) -> Option<u64> {
        let left = |it: &Self| Some(it.limits.tokens?.saturating_sub(tokens(&it.of_turn().usage)));
        self.chain().filter_map(left).min()
    }

    /// Counts what a model used, here and above.
    pub(super) fn count(&self, usage: Usage, cost: u64) {
        for it in self.chain() {
            let mut turn = it.of_turn();
            add(&mut turn.usage, usage);
            turn.cost = turn.cost.saturating_add(cost);
        }
    }

    /// Shows a frame of the host's own.
    pub(crate) fn tell(&self, frame: Frame) {
        let mut told = held(&self.told);
        if told.len() < TOLD_MAX {
            told.push_back(frame);
        }
    }

    /// Frames of the host's own that nobody was shown yet.
    pub(super) fn take_told(&self) -> VecDeque<Frame> {
        std::mem::take(&mut *held(&self.told))
    }

    /// What became of a task that was handed on, for whoever looks at this turn.
    pub(crate) fn note_sub_agent(&self, name: &str, denied: &[String], needs_person: bool) {
        let mut turn = self.of_turn();
        turn.denied.extend(denied.iter().map(|it| format!("{name}: {it}")));
        turn.sub_agent_open |= needs_person;
    }

    /// Notes that somebody works for the turn, unless so many do already.
    pub(crate) fn work(self: &Arc<Self>, at_most: usize) -> Option<AtWork> {
        let mut count = held(&self.at_work);
        if *count >= at_most {
            return None;
        }
        *count += 1;
        Some(AtWork(Arc::clone(self)))
    }

    /// Waits until nobody works any more; false if that takes too long.
    pub(super) fn settle(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut count = held(&self.at_work);
        while *count > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            count = self.nobody.wait_timeout(count, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}

/// Somebody works for the turn, until this is dropped.
pub(crate) struct AtWork(Arc<Shared>);

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut count = held(&self.0.at_work);
        *count = count.saturating_sub(1);
        self.0.nobody.notify_all();
    }
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a turn begins with, beside what is said.
#[derive(Default)]
pub(crate) struct Bounds {
    /// Says that it is to end.
    pub(crate) stop: Arc<AtomicBool>,
    /// How far it may go.
    pub(crate) limits: TurnLimits,
    /// The turn that handed it its task.
    pub(crate) above: Option<Arc<Shared>>,
    /// Who pays for its questions, if somebody else than the one above does.
    pub(crate) purse: Option<Arc<dyn Purse>>,
}

/// All tokens of a usage.
pub(crate) fn tokens(usage: &Usage) -> u64 {
    let Usage { input_tokens, output_tokens, cache_read_tokens, cache_creation_tokens, .. } =
        *usage;
    let read = input_tokens.saturating_add(cache_read_tokens);
    read.saturating_add(cache_creation_tokens).saturating_add(output_tokens)
}

/// Adds up what was used.
pub(crate) fn add(sum: &mut Usage, more: Usage) {
    sum.input_tokens = sum.input_tokens.saturating_add(more.input_tokens);
    sum.output_tokens = sum.output_tokens.saturating_add(more.output_tokens);
    sum.cache_read_tokens = sum.cache_read_tokens.saturating_add(more.cache_read_tokens);
    sum.cache_creation_tokens =
        sum.cache_creation_tokens.saturating_add(more.cache_creation_tokens);
    sum.estimated |= more.estimated;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(limits: TurnLimits, above: Option<&Arc<Shared>>) -> Arc<Shared> {
        let bounds = Bounds { limits, above: above.cloned(), ..Bounds::default() };
        Arc::new(Shared::new(&bounds))
    }

    fn used(count: u64) -> Usage {
        Usage { input_tokens: count, ..Usage::default() }
    }

    #[test]
    fn what_is_used_below_is_used_above_and_limits_hold_from_both() {
        let limited = |tokens| TurnLimits { tokens: Some(tokens), ..TurnLimits::default() };
        let root = turn(limited(100), None);
        let child = turn(TurnLimits::default(), Some(&root));
        let deep = turn(limited(30), Some(&child));
        assert_eq!((child.tokens_left(), deep.tokens_left()), (Some(100), Some(30)));
        deep.count(used(30), 5);
        assert!(deep.is_spent() && !child.is_spent() && !root.is_spent());
        child.count(used(70), 6);
        assert!(child.is_spent() && root.is_spent(), "the limit of the first one holds for all");
        let sum = |it: &Shared| {
            let turn = it.of_turn();
            (tokens(&turn.usage), turn.cost)
        };
        assert_eq!((sum(&root), sum(&child), sum(&deep)), ((100, 11), (100, 11), (30, 5)));
        let paid = turn(TurnLimits { cost: Some(1), ..TurnLimits::default() }, None);
        assert!(turn(TurnLimits::default(), Some(&paid)).has_cost_limit());
        assert!(!child.has_cost_limit());
    }

    #[test]
    fn calls_and_tasks_are_counted_above_too_and_the_end_of_one_is_that_of_all_below() {
        let root = turn(TurnLimits::default(), None);
        let children: Vec<_> = (0..3).map(|_| turn(TurnLimits::default(), Some(&root))).collect();
        let calls = children.iter().cycle().take(9).filter(|it| it.may_call(5)).count();
        let tasks = children.iter().cycle().take(9).filter(|it| it.may_hand_on(4)).count();
        assert_eq!((calls, tasks), (5, 4));
        let deep = turn(TurnLimits::default(), Some(&children[0]));
        assert!(!deep.is_interrupted());
        // Each may ask as often as it may, and all of them together not more often than the first one.
        let asks = children.iter().cycle().take(2 * MODEL_CALLS_IN_ALL_MAX);
        let asked = asks.filter(|it| it.may_ask_beside(MODEL_CALLS_IN_ALL_MAX)).count();
        assert_eq!(asked, MODEL_CALLS_IN_ALL_MAX);
        assert!(!root.may_ask(1) && !deep.may_ask(1));
        root.finish();
        assert!(deep.is_interrupted() && children.iter().all(|it| it.is_interrupted()));
        assert!(!root.is_interrupted() && root.is_over());
        // A question ends the turn that waits for nobody, and with it what it has handed on.
        let job = turn(TurnLimits { ends_at_question: true, ..TurnLimits::default() }, None);
        let below = turn(TurnLimits::default(), Some(&job));
        below.is_asked();
        assert!(job.is_interrupted() && below.is_interrupted());
    }

    #[test]
    fn whoever_spends_of_one_limit_waits_for_the_other() {
        let root = turn(TurnLimits { tokens: Some(9), ..TurnLimits::default() }, None);
        let [one, other] = [(); 2].map(|()| turn(TurnLimits::default(), Some(&root)));
        let held = one.purses();
        assert_eq!(held.len(), 1);
        assert!(root.turns.try_lock().is_err());
        drop(held);
        assert_eq!(other.purses().len(), 1);
    }
}
