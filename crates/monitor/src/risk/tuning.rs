//! What an operator may set about the sentinel, within bounds.

use policy::access::{RECOVER_TURNS_MIN, RiskSettings};

use super::sentinel::{Level, TURNS_MAX};

/// How the sentinel weighs. Only [`Tuning::new`] makes one, so that it can be relied on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    window_turns: usize,
    decay_per_turn: f64,
    recover_after_turns: u32,
}

/// A setting that would switch the sentinel off or let it grow for ever.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TuningError {
    /// Nothing would be remembered, or everything.
    #[error("the window has {0} turns; there must be 1 to {TURNS_MAX}")]
    Window(usize),
    /// Nothing would be remembered, or the score would grow by itself.
    #[error("the decay per turn is {0}; it must be more than 0 and at most 1")]
    Decay(f64),
}

impl Tuning {
    /// Settings that hold together. A time to recovery below four turns counts as four.
    ///
    /// # Errors
    /// If one of them is out of bounds.
    pub fn new(
        window_turns: usize,
        decay_per_turn: f64,
        recover_after_turns: u32,
    ) -> Result<Self, TuningError> {
        if !(1..=TURNS_MAX).contains(&window_turns) {
            return Err(TuningError::Window(window_turns));
        }
        // Written so that a NaN fails.
        if !(decay_per_turn > 0.0 && decay_per_turn <= 1.0) {
            return Err(TuningError::Decay(decay_per_turn));
        }
        let recover_after_turns = recover_after_turns.max(RECOVER_TURNS_MIN);
        Ok(Self { window_turns, decay_per_turn, recover_after_turns })
    }

    /// As the operator wrote it, with the default for what was not said. What is out of bounds is not read at all, see
    /// [`RiskSettings`]; if it came here all the same, the default holds.
    #[must_use]
    pub fn under(settings: &RiskSettings) -> Self {
        let usual = Self::default();
        let read = Self::new(
            settings.window_turns.unwrap_or(usual.window_turns),
            settings.decay_per_turn.unwrap_or(usual.decay_per_turn),
            settings.recover_after_turns.unwrap_or(usual.recover_after_turns),
        );
        read.unwrap_or(usual)
    }

    /// Turns that count, the present one included.
    #[must_use]
    pub fn window_turns(&self) -> usize {
        self.window_turns
    }

    /// What is left of a weight a turn later.
    #[must_use]
    pub fn decay_per_turn(&self) -> f64 {
        self.decay_per_turn
    }

    /// Turns in a row that begin critical until the session is forgiven.
    #[must_use]
    pub fn recover_after_turns(&self) -> u32 {
        self.recover_after_turns
    }

    /// The level of a score.
    #[must_use]
    pub fn level(&self, score: f64) -> Level {
        let reached = |it: &&Level| score >= it.from_score();
        Level::ALL.iter().rev().find(reached).copied().unwrap_or(Level::Calm)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self { window_turns: 8, decay_per_turn: 0.85, recover_after_turns: 16 }
    }
}
