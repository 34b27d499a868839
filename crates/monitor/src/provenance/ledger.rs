//! What a session has heard and seen, as an index of atoms. Deciding looks up, and never searches.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use model::{Call, Source, Trust};
use serde::{Deserialize, Serialize};

use super::acts::Act;
use super::asked::Asked;
use super::bits::Bits;
use super::catalogue::Trusted;
use super::facts::{self, Facts, Scan, Seen, Standing};
use super::given::Given;
use super::hash::{Key, KeyHasher};
use super::norm::phrase;
use super::own_words;
use super::rivals::Rivals;
use super::structure::Body;
use super::tie;
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
    rows: VecDeque<Kept>,
    /// What the user asked for in this turn, and in the one before.
    pub(super) turn: Turn,
    pub(super) before: Turn,
    operator: Asked,
    /// What texts from outside ask for.
    foreign: Asked,
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
    /// A user has spoken.
    pub(super) has_user: bool,
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
    /// Words of sources that the user pointed at.
    #[serde(default)]
    pub(super) sources: HashSet<Key>,
    /// Acts that a source asks for which the user handed on.
    lent: Asked,
    lender: Option<u32>,
}

/// A row that may yet turn out to be meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    origin: u32,
    facts: Facts,
    standing: Standing,
    args: Vec<Key>,
    arg_words: Vec<Key>,
    #[serde(default)]
    tool_words: Vec<Key>,
    /// The only row of its output.
    alone: bool,
    /// A text from outside chose what was read.
    lured: bool,
}

/// A change of a ledger: small, and the same when it is applied again to the state before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delta(Change);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Change {
    Nothing,
    Turn,
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
                self.before = std::mem::take(&mut self.turn);
                self.used.clear();
                self.heard.push_back(String::new());
                if self.heard.len() > TURNS_HEARD_MAX {
                    self.heard.pop_front();
                }
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
        self.turn.sources.extend(&said.sources);
        said.entries.iter().for_each(|(key, bits)| self.note(*key, *bits, 0));
        // What was seen before may be what is meant now.
        let rows = std::mem::take(&mut self.rows);
        rows.iter().for_each(|row| self.settle(row, 0));
        self.rows = rows;
    }

    fn see(&mut self, seen: &Seen) {
        // A weak sign of orders in what nobody outside wrote (a report of the host's, a build's advice) marks its own
        // phrases, and makes no session one that has read something from outside.
        let untrusted = seen.trust == Standing::Untrusted;
        self.untrusted |= untrusted;
        if untrusted || !seen.flagged.is_empty() {
            self.foreign.add(&seen.demands);
        }
        self.full |= seen.cut;
        self.used.extend(seen.used.iter().take(GIVEN_MAX));
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
                alone: seen.rows.len() == 1,
                lured,
            };
            self.settle(&kept, best);
            self.keep(kept);
        }
    }

    fn keep(&mut self, mut row: Kept) {
        row.facts.ordered.clear();
        self.rows.push_back(row);
        if self.rows.len() > ROWS_KEPT_MAX {
            self.rows.pop_front();
        }
    }

    /// Gives the atoms of a row the flags that it has earned.
    fn settle(&mut self, row: &Kept, best: usize) {
        let call = tie::call(self, (&row.args, &row.tool_words), &row.arg_words);
        let tie = tie::row(self, &row.facts, call, row.alone, best);
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
        if is_pointed_at && self.turn.cues.tasks {
            self.turn.lent.add(&row.facts.asked);
            self.turn.lender = Some(row.origin);
        } else if row.standing == Standing::Untrusted {
            self.foreign.add(&row.facts.asked);
        }
    }

    fn note(&mut self, key: Key, bits: Bits, origin: u32) {
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
    fn origin(&mut self, name: &str) -> u32 {
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
        let now = !self.turn.asked.is_empty() || self.turn.cues.tasks;
        let turn = if now { &self.turn } else { &self.before };
        (&turn.lent, self.name_of(turn.lender.unwrap_or_default()))
    }

    /// What other texts ask for.
    pub(super) fn foreign(&self) -> &Asked {
        &self.foreign
    }
}
