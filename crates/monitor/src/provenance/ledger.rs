//! What a session has heard and seen, as an index of atoms. Deciding looks up, and never searches.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use model::{Call, Source, Trust};
use serde::{Deserialize, Serialize};

use super::acts::Act;
use super::asked::Asked;
use super::bits::Bits;
use super::catalogue::Trusted;
use super::delegation::{DELEGATIONS_MAX, Delegation, Named, Slots};
use super::facts::{self, Scan, Seen};
use super::given::Given;
use super::handed::Handed;
use super::hash::{Key, KeyHasher};
use super::norm::phrase;
use super::own_words;
use super::rivals::Rivals;
use super::rows::Kept;
use super::structure::Body;
use super::user::{self, Cues, Said};
use crate::deed::AskedActs;

/// Keys in the index of one session. When it is full, what is not in it counts as seen somewhere bad.
pub const INDEX_KEYS_MAX: usize = 1 << 20;
/// Rows that are kept to be compared with what the user says later; older ones are settled for good.
pub const ROWS_KEPT_MAX: usize = 2048;
/// Values of one turn that others could take the place of.
const GIVEN_MAX: usize = 256;
/// Turns whose words readers of intent are shown.
const TURNS_HEARD_MAX: usize = 4;
/// Names of origins that are kept for people; later ones are called by their tool only.
const ORIGINS_MAX: usize = 4096;

/// Facts of one session, drawn from what was said and seen.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Ledger {
    pub(super) index: HashMap<Key, Entry, KeyHasher>,
    pub(super) origins: Vec<String>,
    pub(super) rows: VecDeque<Kept>,
    /// What the user asked for in this turn, and in the one before.
    pub(super) turn: Turn,
    pub(super) before: Turn,
    operator: Asked,
    /// What texts from outside ask for.
    pub(super) foreign: Asked,
    /// What the agent last said to the user.
    #[serde(default)]
    offer: Option<Said>,
    /// The user's own words of the last turns. Nothing at rest holds them: after a restart only the tables know.
    #[serde(skip)]
    pub(super) heard: VecDeque<String>,
    /// Values of acts since the turn began.
    #[serde(default)]
    pub(super) used: HashSet<Key>,
    /// Addresses and accounts of which there are several.
    #[serde(default)]
    pub(super) rivals: Rivals,
    /// What stands in the sources of delegations.
    #[serde(default)]
    pub(super) handed: Handed,
    /// The source that the user spoke of last.
    #[serde(default)]
    last_source: Named,
    /// A user has spoken.
    pub(super) has_user: bool,
    /// It is somebody else who speaks in this turn: the user asked for nothing in it.
    #[serde(default)]
    pub(super) of_others: bool,
    /// Content that others may have written was seen.
    pub(super) untrusted: bool,
    /// Some text gave orders.
    pub(super) marked: bool,
    /// The index could not take everything.
    pub(super) full: bool,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) bits: Bits,
    /// Where it stood, the worst place first.
    pub(super) origin: u32,
}

/// What one turn of the user's asks for and hands on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Turn {
    pub(super) asked: Asked,
    pub(super) cues: Cues,
    /// Acts that are known by themselves.
    #[serde(default)]
    pub(super) acts: AskedActs,
    /// It accepts what the agent offered.
    #[serde(default)]
    pub(super) accepted: bool,
    /// Words of an offer that it answers: they choose no value.
    #[serde(default)]
    pub(super) offered: HashSet<Key>,
    /// Values that others could take the place of.
    #[serde(default)]
    pub(super) given: Vec<Given>,
    /// The words in which it was said.
    pub(super) words: HashSet<Key>,
    /// What it lets sources decide.
    #[serde(default)]
    pub(super) delegations: Vec<Delegation>,
    /// Acts that a source asks for which the user handed on.
    pub(super) lent: Asked,
    pub(super) lender: Option<u32>,
}

/// A change of a ledger: small, and the same when it is applied again to the state before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delta(Change);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Change {
    Nothing,
    Turn,
    TurnOfOthers,
    User(Said),
    Operator(Said),
    Seen(Seen),
    Offer(Option<Said>),
}

impl Ledger {
    /// Of a session in which nothing was said.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in what the operator's catalogue trusts.
    pub fn trust(&mut self, trusted: &Trusted) -> Delta {
        let text = trusted.entries.join("\n");
        let mut said = user::hear_operator(&text);
        said.asked = Asked::default();
        for entry in &trusted.entries {
            if let Some(key) = phrase(entry) {
                said.entries.insert(key, Bits::OPERATOR);
            }
        }
        self.take(Change::Operator(said))
    }

    /// A new turn of the user's begins: what was asked for before is done.
    pub fn begin_turn(&mut self) -> Delta {
        self.take(Change::Turn)
    }

    /// A turn begins in which somebody else speaks: the user asks for nothing in it, and what they asked for before is
    /// for nobody else to use. What the agent offered was not offered to them.
    pub fn begin_turn_of_others(&mut self) -> Delta {
        self.take(Change::TurnOfOthers)
    }

    /// Takes in content that came without a call. `scan` finds where it speaks to the assistant.
    pub fn said(&mut self, source: Source, origin: &str, text: &str, scan: Scan<'_>) -> Delta {
        let change = match source {
            Source::User => Change::User(user::hear(text)),
            Source::System => Change::Operator(user::hear_operator(text)),
            // What the agent wrote is no fact: it may repeat anything. It is an offer, until the user says something.
            Source::Agent => Change::Offer(user::hear_offer(text)),
            Source::Web
            | Source::Tool
            | Source::Email
            | Source::Memory
            | Source::File
            | Source::Channel
            | Source::Skill => Change::Seen(facts::of_content(origin, text, scan)),
        };
        self.take(change)
    }

    /// Takes in what a call gave back, which is believed so far as `trust` says. `fields_from` says who
    /// wrote a field, where the host knows it.
    pub fn returned(
        &mut self,
        call: &Call,
        trust: Trust,
        act: &Act,
        body: Body<'_>,
        scan: Scan<'_>,
        fields_from: &BTreeMap<String, Source>,
    ) -> Delta {
        let seen = facts::of_output(call, act, trust, body, scan, fields_from);
        self.take(Change::Seen(seen))
    }

    /// Applies a change that was stored.
    pub fn apply(&mut self, delta: &Delta) {
        self.change(&delta.0);
    }

    fn take(&mut self, change: Change) -> Delta {
        self.change(&change);
        Delta(change)
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Nothing => {}
            Change::Turn => {
                self.of_others = false;
                self.before = std::mem::take(&mut self.turn);
                self.used.clear();
                self.heard.push_back(String::new());
                if self.heard.len() > TURNS_HEARD_MAX {
                    self.heard.pop_front();
                }
            }
            Change::TurnOfOthers => {
                self.of_others = true;
                self.turn = Turn::default();
                self.before = Turn::default();
                self.offer = None;
                self.last_source = Named::default();
                self.used.clear();
                self.handed.clear();
                self.heard.clear();
            }
            Change::User(said) => {
                if let Some(offer) = self.offer.take() {
                    self.hear_reply(offer, said);
                }
                self.hear(said);
            }
            Change::Operator(said) => {
                self.operator.add(&said.asked);
                said.entries.iter().for_each(|(key, bits)| self.note(*key, *bits, 0));
            }
            Change::Seen(seen) => self.see(seen),
            Change::Offer(said) => self.offer.clone_from(said),
        }
    }

    pub(super) fn hear(&mut self, said: &Said) {
        self.has_user = true;
        let last = self.heard.pop_back().unwrap_or_default();
        self.heard.push_back(own_words::tail(&format!("{last} {}", said.text)));
        self.turn.asked.add(&said.asked);
        self.turn.cues.add(said.cues);
        self.turn.acts = self.turn.acts.with(said.acts);
        let room = GIVEN_MAX.saturating_sub(self.turn.given.len());
        self.turn.given.extend(said.given.iter().copied().take(room));
        let spoken = said.entries.iter().filter(|(_, bits)| bits.has(Bits::SPOKEN));
        self.turn.words.extend(spoken.map(|(key, _)| *key));
        self.delegate(said);
        said.entries.iter().for_each(|(key, bits)| self.note(*key, *bits, 0));
        // What was seen before may be what is meant now.
        self.handed.clear();
        let rows = std::mem::take(&mut self.rows);
        for row in &rows {
            self.settle(row, 0);
        }
        self.rows = rows;
    }

    /// Notes values of an act.
    pub(super) fn use_up(&mut self, values: &[Key]) {
        self.used.extend(values.iter().take(GIVEN_MAX));
    }

    /// Takes in delegations. One without a word for its source means the one that was spoken of last.
    fn delegate(&mut self, said: &Said) {
        let room = DELEGATIONS_MAX.saturating_sub(self.turn.delegations.len());
        for delegation in said.delegations.iter().take(room) {
            let mut delegation = delegation.clone();
            if delegation.source.is_empty() && !delegation.is_any {
                delegation.is_any = self.last_source.is_empty();
                delegation.source = self.last_source.clone();
            }
            self.turn.delegations.push(delegation);
        }
        if said.last_source.is_sure() {
            self.last_source = said.last_source.clone();
        }
    }

    pub(super) fn note(&mut self, key: Key, bits: Bits, origin: u32) {
        self.marked |= bits.has(Bits::FLAGGED) || bits.has(Bits::ORDERED);
        if let Some(entry) = self.index.get_mut(&key) {
            // The place that is named to people is the worst in which it stood.
            if bits.has(Bits::FLAGGED) || entry.origin == 0 {
                entry.origin = origin;
            }
            entry.bits = entry.bits.with(bits);
        } else if self.index.len() < INDEX_KEYS_MAX {
            self.index.insert(key, Entry { bits, origin });
        } else {
            self.full = true;
        }
    }

    /// Remembers the name of a place; 0 stands for the user and for places beyond the limit.
    pub(super) fn origin(&mut self, name: &str) -> u32 {
        if self.origins.len() < ORIGINS_MAX {
            self.origins.push(name.to_owned());
            return u32::try_from(self.origins.len()).unwrap_or_default();
        }
        0
    }

    pub(super) fn bits(&self, key: Key) -> Bits {
        self.index.get(&key).map(|it| it.bits).unwrap_or_default()
    }

    pub(super) fn place(&self, key: Key) -> &str {
        let origin = self.index.get(&key).map_or(0, |it| it.origin);
        self.name_of(origin)
    }

    pub(super) fn name_of(&self, origin: u32) -> &str {
        let at = usize::try_from(origin).ok().and_then(|it| it.checked_sub(1));
        at.and_then(|it| self.origins.get(it)).map_or("", String::as_str)
    }

    /// What may be done: what the user asked for, or, where a turn asks for nothing, the one before it.
    pub(super) fn asked(&self) -> &Asked {
        if !self.has_user {
            return &self.operator;
        }
        if self.turn.asked.is_empty() { &self.before.asked } else { &self.turn.asked }
    }

    /// What the sources ask for whose tasks the user handed on, and the last of them.
    pub(super) fn lent(&self) -> (&Asked, &str) {
        let hands_on = |it: &Delegation| it.slots.has(Slots::TASKS);
        let now = !self.turn.asked.is_empty() || self.turn.delegations.iter().any(hands_on);
        let turn = if now { &self.turn } else { &self.before };
        (&turn.lent, self.name_of(turn.lender.unwrap_or_default()))
    }

    /// How many clauses of sources count as the user's, because they handed the tasks of these on.
    pub(crate) fn tasks_handed_on(&self) -> usize {
        self.lent().0.clauses().len()
    }

    /// What other texts ask for.
    pub(super) fn foreign(&self) -> &Asked {
        &self.foreign
    }
}
