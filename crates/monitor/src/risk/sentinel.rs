//! A score across turns that decays: what the session has been like of late.
//!
//! `TrajectorySentinel`: advisory, decaying, bounded, and it only tightens.

use std::collections::VecDeque;

use model::{EffectKind, Objection};
use serde::{Deserialize, Serialize};

use super::{ADVISORY_MAX, Observation, Outcome, Signal, Suspicion, Tuning};
use crate::rule::Rule;

const RULE: Rule = Rule::TrajectorySentinel;
const CODE: &str = "risk_critical";

/// The longest window, in turns.
pub(super) const TURNS_MAX: usize = policy::access::RISK_TURNS_MAX;
/// Calls and reads are counted over so many turns.
const VOLUME_TURNS: usize = 3;
const CALLS_MAX: u32 = 12;
const READS_MAX: u32 = 24;
/// Flagged outputs that count in one turn. What is read is chosen by others: a mailbox full of spam
/// must not make a session critical that itself did nothing wrong.
const FLAGS_PER_TURN_MAX: u32 = 2;
/// So much a calm call takes away, in tenths.
const CALM_TENTHS: u32 = 5;
/// So much calm calls take away in one turn at most, in tenths: less than four stops bring.
const CALM_TENTHS_MAX: u32 = 50;
/// To this score calm calls bring a session, and no further.
const CALM_FLOOR: f64 = Level::Elevated.from_score();
/// Keeps sums far from overflow, in tenths.
const TURN_TENTHS_MAX: u32 = 1_000_000;

/// How risky a session is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Level {
    /// Nothing to see.
    #[default]
    Calm = 0,
    /// Something happened.
    Elevated = 1,
    /// Much happened: worth a person's look. It only marks.
    High = 2,
    /// Whatever does more than look is asked of a person.
    Critical = 3,
}

/// What happened, newest turn first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Sentinel {
    now: Turn,
    past: VecDeque<Turn>,
    /// Turns in a row that began critical.
    critical_turns: u32,
    /// What a parent has not heard of yet, in tenths.
    gained: u32,
    /// Was the volume unusual when last looked at? It counts once, not with every call.
    busy: bool,
    /// The same for reads.
    greedy: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    tenths: u32,
    /// Calls that did more than look.
    calls: u32,
    /// Calls that only looked.
    reads: u32,
    flags: u32,
    /// What calm calls took away in it, in tenths.
    #[serde(default)]
    calmed: u32,
}

impl Sentinel {
    /// Was the session forgiven?
    pub(super) fn begin_turn(&mut self, tuning: &Tuning) -> bool {
        self.past.push_front(std::mem::take(&mut self.now));
        self.past.truncate(tuning.window_turns().max(VOLUME_TURNS) - 1);
        let critical = tuning.level(self.score(tuning)) == Level::Critical;
        self.critical_turns = if critical { self.critical_turns.saturating_add(1) } else { 0 };
        let recovered = self.critical_turns >= tuning.recover_after_turns();
        if recovered {
            *self = Self { gained: self.gained, ..Self::default() };
        }
        recovered
    }

    pub(super) fn add(&mut self, signal: Signal) {
        self.gain(signal.tenths());
    }

    /// An output was flagged; `new` if it is not one that was seen in this turn.
    pub(super) fn flagged(&mut self, suspicion: Suspicion, new: bool) {
        let flags = &mut self.now.flags;
        if new && *flags < FLAGS_PER_TURN_MAX {
            *flags += 1;
            self.add(suspicion.into());
        }
    }

    pub(super) fn called(&mut self, seen: &Observation, tuning: &Tuning) {
        match seen.outcome {
            Outcome::Stopped => self.add(Signal::PolicyDeny),
            Outcome::OutOfScope => self.add(Signal::OutOfScope),
            // A file that is not there and a question to a person are nobody's attack.
            Outcome::Proposed | Outcome::Done | Outcome::Failed | Outcome::Declined => {}
        }
        let now = &mut self.now;
        let count = if seen.kind.only_looks() { &mut now.reads } else { &mut now.calls };
        *count = count.saturating_add(1);
        self.watch_volume(tuning);
    }

    /// A call ended well and brought nothing suspicious: of the newest that weighs, a little is taken away, and in one turn
    /// of the person's no more than [`CALM_TENTHS_MAX`]. What is left below [`CALM_FLOOR`] only the person's turns take
    /// away: an agent cannot make anybody forget by being busy.
    pub(super) fn calmed(&mut self, tuning: &Tuning) {
        let used = self.now.calmed.saturating_add(CALM_TENTHS);
        if self.score(tuning) <= CALM_FLOOR || used > CALM_TENTHS_MAX {
            return;
        }
        self.now.calmed = used;
        let mut turns = [&mut self.now].into_iter().chain(&mut self.past);
        if let Some(turn) = turns.find(|it| it.tenths > 0) {
            turn.tenths = turn.tenths.saturating_sub(CALM_TENTHS);
        }
    }

    fn watch_volume(&mut self, tuning: &Tuning) {
        let turns = VOLUME_TURNS.min(tuning.window_turns());
        let recent = || self.turns().take(turns);
        let busy = recent().map(|it| it.calls).fold(0, u32::saturating_add) > CALLS_MAX;
        let greedy = recent().map(|it| it.reads).fold(0, u32::saturating_add) > READS_MAX;
        if busy && !self.busy {
            self.add(Signal::HighCallRate);
        }
        if greedy && !self.greedy {
            self.add(Signal::UnusualReadVolume);
        }
        (self.busy, self.greedy) = (busy, greedy);
    }

    /// Old turns weigh less. Multiplied step by step, so that every machine gets the same bits.
    pub(super) fn score(&self, tuning: &Tuning) -> f64 {
        let mut factor = 1.0;
        let mut score = 0.0;
        for turn in self.turns().take(tuning.window_turns()) {
            score += factor * f64::from(turn.tenths) / 10.0;
            factor *= tuning.decay_per_turn();
        }
        score
    }

    pub(super) fn forget_gained(&mut self) {
        self.gained = 0;
    }

    pub(super) fn take_gained(&mut self, child: &mut Self) {
        self.gain(std::mem::take(&mut child.gained));
    }

    /// A snapshot is not believed to be of a sane size.
    pub(super) fn bound(&mut self) {
        self.past.truncate(TURNS_MAX);
        let turns = self.past.iter_mut().chain([&mut self.now]);
        turns.for_each(|it| it.tenths = it.tenths.min(TURN_TENTHS_MAX));
    }

    fn gain(&mut self, tenths: u32) {
        self.gained = self.gained.saturating_add(tenths).min(TURN_TENTHS_MAX);
        let now = &mut self.now;
        now.tenths = now.tenths.saturating_add(tenths).min(TURN_TENTHS_MAX);
    }

    /// Newest first.
    fn turns(&self) -> impl Iterator<Item = &Turn> {
        [&self.now].into_iter().chain(&self.past)
    }
}

impl Level {
    /// All of them, calmest first.
    pub const ALL: &[Self] = &[Self::Calm, Self::Elevated, Self::High, Self::Critical];

    /// The score from which on it holds.
    #[must_use]
    pub const fn from_score(self) -> f64 {
        match self {
            Self::Calm => 0.0,
            Self::Elevated => 2.0,
            Self::High => 4.0,
            Self::Critical => 8.0,
        }
    }

    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Elevated => "elevated",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

fn is_tool(kind: EffectKind) -> bool {
    kind == EffectKind::ToolWrite || kind == EffectKind::ToolSend || kind == EffectKind::ToolDestroy
}

/// A critical session asks a person about whatever does more than look. It never denies: the
/// sentinel is advisory and downgrades allows only; a policy may read the level.
///
/// A call of somebody else's tool is asked about only where an argument comes from a text that gives
/// orders. The others are judged argument by argument, and an attack that was stopped five times must
/// not be able to stop the user's own work.
pub(super) fn objection(proposed: &Observation) -> Option<Objection> {
    if proposed.kind.only_looks() || (is_tool(proposed.kind) && !proposed.from_flagged) {
        return None;
    }
    let why = format!("`{}` waits for a person: too much went wrong of late", proposed.name());
    let remedy = "let the person approve it";
    Some(Objection::new(RULE, ADVISORY_MAX, CODE, why).with_remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calm_calls_lower_a_turn_by_so_much_and_no_more() {
        let (tuning, mut sentinel) = (Tuning::default(), Sentinel::default());
        for _ in 0..8 {
            sentinel.add(Signal::PolicyDeny);
        }
        let before = sentinel.score(&tuning);
        for _ in 0..100 {
            sentinel.calmed(&tuning);
        }
        let lowered = before - sentinel.score(&tuning);
        assert_eq!(lowered, f64::from(CALM_TENTHS_MAX) / 10.0);
        // Whoever is stopped again and looks three times in between gets there all the same.
        for _ in 0..8 {
            sentinel.add(Signal::PolicyDeny);
            (0..3).for_each(|_| sentinel.calmed(&tuning));
        }
        assert_eq!(tuning.level(sentinel.score(&tuning)), Level::Critical);
        sentinel.begin_turn(&tuning);
        let before = sentinel.score(&tuning);
        sentinel.calmed(&tuning);
        assert!(sentinel.score(&tuning) < before, "in the next turn they do again");
    }
}
