//! Risk across calls: what a session did before says what its next call may mean.
//!
//! Three detectors that share no state. [`Chain`] sees, within one turn, reads of secrets followed by
//! sending and privileges that pile up. [`Correlator`] sees, within one turn, several outputs that give
//! orders. [`Sentinel`] keeps a score across turns that decays. Pure values: no clock, no I/O.
//!
//! INVARIANT (NoFreeReset): only a person's turn clears or decays anything; calls that end well lower
//! the score, and never below [`Level::Elevated`]. A child session begins with the state of its parent,
//! turns that an agent begins change nothing, and what a child did flows back.

mod chain;
mod classes;
mod classify;
mod command;
mod correlator;
mod kept;
mod observation;
mod paths;
mod sentinel;
mod signal;
mod tuning;

use model::{Decision, Objection};
use serde::{Deserialize, Serialize};

pub use chain::Pattern;
pub use classes::Classes;
pub use kept::kept;
pub use observation::{Flag, Observation, Outcome, Suspicion};
pub use sentinel::Level;
pub use signal::Signal;
pub use tuning::{Tuning, TuningError};

use chain::Chain;
use correlator::Correlator;
use sentinel::Sentinel;

/// Who began a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opener {
    /// The session's own user, by a message.
    Person,
    /// An agent, a tool or a timer. To open turns must not be a way to be forgotten.
    Other,
}

/// The risk of one session.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    tuning: Tuning,
    state: Snapshot,
}

/// What must survive a restart. A few hundred bytes, whatever happens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    chain: Chain,
    correlator: Correlator,
    sentinel: Sentinel,
}

impl Risk {
    /// A session in which nothing happened yet.
    #[must_use]
    pub fn new(tuning: Tuning) -> Self {
        Self::restore(tuning, Snapshot::default())
    }

    /// A session as it was when `state` was taken.
    #[must_use]
    pub fn restore(tuning: Tuning, mut state: Snapshot) -> Self {
        state.correlator.bound();
        state.sentinel.bound();
        Self { tuning, state }
    }

    /// What to keep.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.state
    }

    /// A session that this one starts. It is as risky as its parent: a delegation resets nothing.
    #[must_use]
    pub fn child(&self) -> Self {
        let mut child = self.clone();
        child.state.chain.forget_own();
        child.state.sentinel.forget_gained();
        child
    }

    /// Takes over what `child` did since the last time. Call it after every call of a child, so that
    /// a child that dies leaves nothing unsaid.
    ///
    /// A child's calls do not enter the parent's chain: a child's
    /// sending or gaining of rights completes nothing here. But the delegation itself is a call of
    /// the parent, and its answer may hold what the child has read: that is remembered as a read.
    pub fn adopt(&mut self, child: &mut Self) {
        self.state.chain.answered_by(&mut child.state.chain);
        self.state.correlator.merge(&child.state.correlator);
        self.state.sentinel.take_gained(&mut child.state.sentinel);
    }

    /// A turn begins. True if a session that was critical for too long was forgiven.
    pub fn begin_turn(&mut self, opener: Opener) -> bool {
        match opener {
            Opener::Person => {
                self.state.chain.clear();
                self.state.correlator.clear();
                self.state.sentinel.begin_turn(&self.tuning)
            }
            Opener::Other => false,
        }
    }

    /// What speaks against `proposed`, before it happens. It never grants.
    #[must_use]
    pub fn objections(&self, proposed: &Observation) -> Vec<Objection> {
        let chain = self.state.chain.completed_by(proposed.classes);
        let chain = chain.map(|pattern| pattern.objection(proposed));
        let confirmed = self.state.correlator.is_confirmed();
        let confirmed = if confirmed { correlator::objection(proposed) } else { None };
        let critical = self.level() == Level::Critical;
        let critical = if critical { sentinel::objection(proposed) } else { None };
        [chain, confirmed, critical].into_iter().flatten().collect()
    }

    /// Learns what became of a call. Every call that was judged belongs here, once.
    pub fn observe(&mut self, seen: &Observation) {
        let completes = self.state.chain.completed_by(seen.classes).is_some();
        if completes {
            self.state.sentinel.add(Signal::ToolPairTransition);
        }
        if seen.outcome.may_have_answered() {
            self.state.chain.observe(seen.classes);
        }
        if let Some(flag) = seen.flag {
            self.state.sentinel.flagged(flag.suspicion, self.state.correlator.observe(flag));
        }
        self.state.sentinel.called(seen, &self.tuning);
        if seen.outcome == Outcome::Done && seen.flag.is_none() && !completes {
            self.state.sentinel.calmed(&self.tuning);
        }
    }

    /// Takes in what another guard saw, such as a secret that it cut out of an answer.
    pub fn report(&mut self, signal: Signal) {
        self.state.sentinel.add(signal);
    }

    /// How risky the session has been of late. Advice for the policy; never shown to the model.
    #[must_use]
    pub fn level(&self) -> Level {
        self.tuning.level(self.score())
    }

    /// The score behind the level.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.state.sentinel.score(&self.tuning)
    }

    /// Did two or more different outputs of this turn give orders? Then a suspicious output is to be
    /// treated like a certain one until the turn ends.
    #[must_use]
    pub fn injection_confirmed(&self) -> bool {
        self.state.correlator.is_confirmed()
    }
}

impl Default for Risk {
    fn default() -> Self {
        Self::new(Tuning::default())
    }
}

/// The strictest decision that an advisory detector may ask for: it turns an allow into a question.
const ADVISORY_MAX: Decision = Decision::StepUp;
