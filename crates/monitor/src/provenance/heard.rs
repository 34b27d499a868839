//! What the user's words of this turn and the one before it ask for, name and give.

use model::Intent;

use super::answer::Answer;
use super::asked::{reads_as_english, reads_as_foreign};
use super::bits::Bits;
use super::given::{Given, Shape};
use super::ledger::Ledger;
use super::norm::{fold, word_key, words};
use super::user::{Cues, Said};
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
            Shape::Number | Shape::Day => {
                let bits = self.bits(value.key);
                // One of something is what everybody means who says nothing.
                let is_one = value.key == word_key("1");
                bits.has(Bits::MENTIONED) || (bits.has(Bits::LISTED) && !is_one)
            }
        };
        counts
            && !is_own
            && !self.bits(value.key).is_vouched_for()
            && given.iter().any(|it| is_left(&it))
    }

    /// Did the user give a value in this turn that neither the call nor an act before it has?
    pub(super) fn has_left(&self, used: &[Given]) -> bool {
        self.turn.given.iter().any(|it| !used.contains(it) && !self.used.contains(&it.key))
    }

    /// The user's own words of the last turns, for readers of intent.
    fn heard(&self) -> String {
        let turns: Vec<&str> =
            self.heard.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        turns.join(" / ")
    }

    /// Is what the user said in a language that the tables know well enough to say that nothing was asked for?
    pub(super) fn is_understood(&self) -> bool {
        let heard = self.heard();
        let folded = fold(&heard);
        reads_as_english(&folded) || !reads_as_foreign(&folded)
    }

    /// What a reader says of an act, as far as it can be believed: in other languages than English, that something was not
    /// asked for is a guess.
    pub(crate) fn intent(&self, read: impl FnOnce(&str) -> Intent) -> Intent {
        let words = self.heard();
        if words.is_empty() {
            return Intent::Unread;
        }
        match read(&words) {
            Intent::NotAsked if !reads_as_english(&fold(&words)) => Intent::Unread,
            other @ (Intent::Asked | Intent::Unsure | Intent::Unread | Intent::NotAsked) => other,
        }
    }

    /// Is it a word of the turn that counts?
    pub(super) fn spoke(&self, word: &str) -> bool {
        let turn = if self.turn.asked.is_empty() { &self.before } else { &self.turn };
        turn.words.contains(&word_key(word)) || self.turn.words.contains(&word_key(word))
    }

    /// What the user gave.
    pub(super) fn cues(&self) -> Cues {
        let mut cues = self.turn.cues;
        if self.turn.asked.is_empty() {
            cues.add(self.before.cues);
        }
        cues
    }

    /// Takes in what the agent offered, by what the user replied to it.
    pub(super) fn hear_reply(&mut self, mut offer: Said, said: &Said) {
        // INVARIANT (HostDecidesTaint): what was offered counts by the user's reply alone.
        let is_answered = match &said.answer {
            Answer::No => false,
            Answer::Chooses => true,
            Answer::Names(words) => words.iter().any(|it| offer.entries.contains_key(it)),
        };
        if said.yes {
            // What somebody outside ordered is not made the user's by being repeated.
            let is_ordered = |it: &Bits| it.has(Bits::FLAGGED) || it.has(Bits::ORDERED);
            offer.entries.retain(|key, _| !is_ordered(&self.bits(*key)));
            self.hear(&offer);
            self.turn.accepted = true;
        } else if is_answered {
            // Which of several things is meant, its own words say. What nothing brings back wants a yes.
            self.turn.asked.add(&offer.asked.without_loss());
            self.turn.offered.extend(offer.entries.keys());
            self.turn.accepted = true;
        }
    }

    /// Is it a word of the user's, or of an offer that the user answered?
    pub(super) fn offered(&self, word: &str) -> bool {
        self.spoke(word) || self.turn.offered.contains(&word_key(word))
    }

    /// Did the user answer a question of the agent's without a yes?
    pub(super) fn is_only_answered(&self) -> bool {
        !self.turn.offered.is_empty()
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
