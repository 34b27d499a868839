//! Rows of results: each gives its values the flags that it has earned by what the user said.

use serde::{Deserialize, Serialize};

use super::bits::Bits;
use super::delegation::{Origin, Slots};
use super::facts::{Facts, Seen, Standing};
use super::handed::SourceOf;
use super::hash::Key;
use super::ledger::{Ledger, ROWS_KEPT_MAX};
use super::tie;

/// A row that may yet turn out to be meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    origin: u32,
    facts: Facts,
    standing: Standing,
    args: Vec<Key>,
    arg_words: Vec<Key>,
    #[serde(default)]
    tool_words: Vec<Key>,
    /// What its tool shows.
    #[serde(default)]
    objects: u32,
    /// The only row of its output.
    alone: bool,
    /// A text from outside chose what was read.
    lured: bool,
}

impl Kept {
    fn origin(&self) -> Origin<'_> {
        Origin {
            args: &self.args,
            arg_words: &self.arg_words,
            tool_words: &self.tool_words,
            objects: self.objects,
            facts: &self.facts,
            alone: self.alone,
        }
    }
}

impl Ledger {
    /// Takes in what came from outside.
    pub(super) fn see(&mut self, seen: &Seen) {
        // A weak sign of orders in what nobody outside wrote (a report of the host's, a build's advice) marks its own
        // phrases, and makes no session one that has read something from outside.
        let untrusted = seen.trust == Standing::Untrusted;
        self.untrusted |= untrusted;
        if untrusted || !seen.flagged.is_empty() {
            self.foreign.add(&seen.demands);
        }
        self.full |= seen.cut;
        self.use_up(&seen.used);
        let origin = self.origin(&seen.from);
        for key in &seen.flagged {
            self.note(*key, Bits::FLAGGED, origin);
        }
        let lured = tie::is_lured(self, &seen.args, &seen.tool_words);
        let ties: Vec<usize> = seen.rows.iter().map(|row| tie::score(self, row)).collect();
        let best = ties.iter().copied().max().unwrap_or_default();
        for facts in &seen.rows {
            let title = if facts.title.is_empty() {
                seen.from.clone()
            } else {
                format!("{}: {}", seen.from, facts.title)
            };
            let kept = Kept {
                origin: self.origin(&title),
                facts: facts.clone(),
                standing: seen.trust,
                args: seen.args.clone(),
                arg_words: seen.arg_words.clone(),
                tool_words: seen.tool_words.clone(),
                objects: seen.objects,
                alone: seen.rows.len() == 1,
                lured,
            };
            let is_pointed_at = self.settle(&kept, best);
            self.keep(kept, is_pointed_at);
        }
    }

    fn keep(&mut self, mut row: Kept, is_pointed_at: bool) {
        // Only what the user named may yet be handed on with its orders.
        if !is_pointed_at {
            row.facts.ordered.clear();
        }
        self.rows.push_back(row);
        if self.rows.len() > ROWS_KEPT_MAX {
            self.rows.pop_front();
        }
    }

    /// Gives the atoms of a row the flags that it has earned. Returns whether the user named it, or the place that it came from.
    pub(super) fn settle(&mut self, row: &Kept, best: usize) -> bool {
        let call = tie::call(self, (&row.args, &row.tool_words), &row.arg_words);
        let origin = row.origin();
        let of = self.source_of(&origin);
        let has_tasks = self.is_filled(of, Slots::TASKS);
        let tie = tie::row(self, &origin, call, best, has_tasks);
        let listed = match (row.standing, row.facts.directory) {
            (Standing::Trusted | Standing::Own, _) => Bits::TRUSTED,
            (Standing::Untrusted, true) => Bits::DIRECTORY,
            (Standing::Untrusted, false) => Bits::LISTED,
        };
        // To be found by a search for the user's words makes nobody in the row a friend.
        let near = row.facts.directory || call == tie::Tie::Place || tie::is_own(self, &row.facts);
        let related = if near { Bits::RELATED } else { Bits::default() };
        let (listed, mentioned, ordered) = match tie {
            tie::Tie::None => (listed, Bits::MENTIONED, Bits::MENTIONED.with(Bits::ORDERED)),
            tie::Tie::Related | tie::Tie::Source => (
                listed.with(related),
                Bits::MENTIONED.with(Bits::NEARBY),
                Bits::MENTIONED.with(Bits::ORDERED),
            ),
            tie::Tie::Place => (
                listed.with(related),
                Bits::MENTIONED.with(Bits::NEARBY).with(Bits::HANDED_ON),
                Bits::HANDED_ON.with(Bits::ORDERED),
            ),
            tie::Tie::Designated => (
                listed.with(Bits::RELATED).with(Bits::DESIGNATED),
                Bits::MENTIONED.with(Bits::NEARBY).with(Bits::HANDED_ON),
                Bits::HANDED_ON.with(Bits::ORDERED),
            ),
        };
        let lured = if row.lured { Bits::LURED } else { Bits::default() };
        let (listed, mentioned) = (listed.with(lured), mentioned.with(lured));
        row.facts.listed.iter().for_each(|key| self.note(*key, listed, row.origin));
        let is_pointed_at = tie >= tie::Tie::Place;
        row.facts.rivals.iter().for_each(|it| self.rivals.note(*it, row.origin, is_pointed_at));
        if row.standing != Standing::Own {
            row.facts.mentioned.iter().for_each(|key| self.note(*key, mentioned, row.origin));
            row.facts.ordered.iter().for_each(|key| self.note(*key, ordered, row.origin));
        }
        // A page may be linked to in what a search for the user's words has found.
        let of = match tie {
            tie::Tie::None => self.only(of, Slots::EACH),
            tie::Tie::Related | tie::Tie::Source => self.only(of, Slots::LINK.with(Slots::EACH)),
            tie::Tie::Place | tie::Tie::Designated => of,
        };
        self.hand_on(row, of);
        if is_pointed_at && has_tasks {
            self.turn.lent.add(&row.facts.asked);
            self.turn.lender = Some(row.origin);
        } else if row.standing == Standing::Untrusted {
            self.foreign.add(&row.facts.asked);
        }
        is_pointed_at
    }

    /// Notes the values of a row that a clause of the user's points at.
    fn hand_on(&mut self, row: &Kept, of: SourceOf) {
        if of.leads.is_empty() {
            return;
        }
        let facts = &row.facts;
        let values = facts.listed.iter().chain(&facts.mentioned).chain(&facts.ordered);
        values.for_each(|key| self.handed.note(*key, of));
    }
}
