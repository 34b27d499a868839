//! What the user's words of this turn and the one before it ask for, name and give.

use model::Intent;

use super::asked::reads_as_english;
use super::bits::Bits;
use super::given::{Given, Shape};
use super::ledger::Ledger;
use super::norm::{fold, word_key, words};
use crate::deed::{Deed, Kind};

impl Ledger {
    /// Do the user's words of this turn or the one before it ask for an act, or name what it is done to?
    pub(super) fn asks_for(&self, deed: &Deed) -> bool {
        let acts = self.turn.acts.with(self.before.acts);
        let named = || {
            let folded = fold(&deed.object);
            let mut all = words(&folded).filter(|it| it.len() > 2).peekable();
            // `config` is a word of every day; `CLAUDE.md` and `.bashrc` are files.
            let tells = !matches!(deed.kind, Kind::Obeyed(_)) || deed.object.contains('.');
            tells
                && all.peek().is_some()
                && all.all(|it| {
                    let key = word_key(&it);
                    self.turn.words.contains(&key) || self.before.words.contains(&key)
                })
        };
        acts.has(deed.kind) || named()
    }

    /// Did the user give another value of this kind in this turn, which the call does not have? An act that had it has
    /// used it up.
    pub(super) fn gave_another(&self, value: Given, used: &[Given]) -> bool {
        let given = &self.turn.given;
        let is_own = given.contains(&value) || self.before.given.contains(&value);
        let is_left = |it: &&Given| {
            it.shape == value.shape && !used.contains(it) && !self.used.contains(&it.key)
        };
        let counts = match value.shape {
            Shape::Email | Shape::Account | Shape::Id(_) => true,
            // What nobody outside speaks of is the agent's own reckoning.
            Shape::Number | Shape::Day => self.bits(value.key).has(Bits::MENTIONED),
        };
        counts
            && !is_own
            && !self.bits(value.key).is_vouched_for()
            && given.iter().any(|it| is_left(&it))
    }

    /// The user's own words of the last turns, for readers of intent.
    fn heard(&self) -> String {
        let turns: Vec<&str> =
            self.heard.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        turns.join(" / ")
    }

    /// What a reader says of an act, as far as it can be believed: in other languages than English, that something was not
    /// asked for is a guess.
    pub(crate) fn intent(&self, read: impl FnOnce(&str) -> Intent) -> Intent {
        let words = self.heard();
        match read(&words) {
            Intent::NotAsked if !reads_as_english(&fold(&words)) => Intent::Unsure,
            other @ (Intent::Asked | Intent::Unsure | Intent::NotAsked) => other,
        }
    }

    /// Did the user accept what was offered?
    pub(super) fn accepted(&self) -> bool {
        self.turn.accepted
    }

    /// Was content seen that others may have written?
    pub(crate) fn is_untrusted(&self) -> bool {
        self.untrusted
    }

    /// Has anybody said what is wanted?
    pub(super) fn has_user(&self) -> bool {
        self.has_user
    }
}
