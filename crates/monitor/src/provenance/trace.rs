//! Looks up what a call names, and judges whether it may decide what it decides.

use model::{Call, Flow, Intent, Role};

use super::acts::{Act, name_words, verb};
use super::atoms::{self, Kind};
use super::bits::Bits;
use super::delegation::Slots;
use super::facts::shorten;
use super::hash::Key;
use super::label::things;
use super::ledger::Ledger;
use super::norm::{fold, hashed, phrase, prefixes, word_key, words};
use super::user::is_telling;
use super::values::{Named, values};
use super::verdict::{Label, Sink, Traced, act_objection, sink_objection};

/// Values that are looked up in one call; a call with more is not understood, and held. A question to a model has a
/// conversation of 200 messages and the definitions of 50 tools in it.
pub const VALUES_PER_CALL_MAX: usize = 1024;
/// So many words in a row from a text that speaks to the assistant are its words.
const VERBATIM_WORDS: usize = 5;
/// A flag, a date or a limit has no more words than this.
const CONTROL_WORDS_MAX: usize = 24;

/// Acts by which a secret becomes one, or gets to somebody.
const SETTING: u32 =
    verb::UPDATE | verb::CREATE | verb::ADD | verb::SHARE | verb::SEND | verb::PUBLISH;
/// Words in the names of parameters for secrets that stay what they are once they are set.
const KEPT: &[&str] = &["password", "passwd", "passphrase", "pin", "secret", "key"];

/// What becomes of a machine that stands nowhere, in a session that has read what others wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unseen {
    Passes,
    Held,
}

impl Ledger {
    /// Where each value of `call` came from, and what speaks against it. `intent` is what a reader of the user's words says.
    #[must_use]
    pub fn trace(&self, call: &Call, flow: &Flow, act: &Act, intent: Intent) -> Traced {
        let mut traced = Traced::default();
        let values = values(call, flow, |_| true);
        let acts = Act::is_done(flow);
        let denied = self.asked().denied() & act.verbs != 0;
        let by_tables = act.is_asked_for(self.asked(), |word| self.spoke(word));
        // INVARIANT (HostDecidesTaint): for credentials and access every reader must agree.
        let asked_for = !denied
            && match intent {
                Intent::Asked => by_tables || !act.is_delicate(),
                Intent::Unsure | Intent::Unread | Intent::NotAsked => by_tables,
            };
        if acts && denied && self.untrusted {
            traced.objections.push(act_objection(call.tool().as_str()));
        }
        if acts && self.untrusted && !asked_for && !denied {
            self.weigh_act(call, (flow, act), intent, &mut traced);
        }
        for value in values.iter().take(VALUES_PER_CALL_MAX) {
            let Some(role) = value.role else { continue };
            for (label, atom, holds) in self.judge(value, role, acts, flow, act) {
                let atom = if role == Role::Secret { "…".to_owned() } else { shorten(&atom) };
                let sink = Sink { param: value.param.to_owned(), atom, label };
                if let Label::Delegated(source) = &sink.label {
                    traced.delegated = Some(source.clone());
                }
                if holds {
                    traced.objections.push(sink_objection(role, &sink));
                }
                traced.sinks.push(sink);
            }
        }
        if acts && self.untrusted {
            self.hold_wider(call, &values, &mut traced);
            self.compare(&values, &mut traced);
        }
        // Padding must not push the value that matters over the edge.
        let padded = self.untrusted && traced.sinks.len() > VALUES_PER_CALL_MAX;
        if values.len() > VALUES_PER_CALL_MAX || padded {
            let sink = Sink {
                param: "…".to_owned(),
                atom: "too many values".to_owned(),
                label: Label::Unseen,
            };
            traced.objections.push(sink_objection(Role::Target, &sink));
        }
        // What nothing brings back passes other rules by the tables' word alone: a reader may err.
        traced.asked_for = asked_for
            && by_tables
            && flow.destructive
            && traced.objections.is_empty()
            && traced.delegated.is_none()
            && self.is_just_so(call, flow, act, &traced.sinks);
        traced
    }

    /// The machines that a command speaks to, as `param` says: one that only a text from outside names is not chosen by
    /// the user. One that stands nowhere is the agent's own knowledge, unless it is to be held: registries and mirrors
    /// would be asked about all day.
    pub(crate) fn trace_hosts<'a>(
        &self,
        (param, unseen): (&str, Unseen),
        hosts: impl Iterator<Item = &'a str>,
        traced: &mut Traced,
    ) {
        for host in hosts.take(VALUES_PER_CALL_MAX) {
            for (label, atom, holds) in self.destination(host, true) {
                let counts = unseen == Unseen::Held || !matches!(label, Label::Unseen);
                let sink = Sink { param: param.to_owned(), atom: shorten(&atom), label };
                if holds && counts {
                    traced.objections.push(sink_objection(Role::Destination, &sink));
                    traced.asked_for = false;
                }
                traced.sinks.push(sink);
            }
        }
    }

    /// The labels of one value, and whether each stops the call.
    fn judge(
        &self,
        value: &Named<'_>,
        role: Role,
        acts: bool,
        flow: &Flow,
        act: &Act,
    ) -> Vec<(Label, String, bool)> {
        match role {
            Role::Destination => self.destination(&value.text, acts),
            // A command line says what is done, whatever its parameter is called.
            Role::Target | Role::Control
                if acts && act.verbs & verb::RUN != 0 && value.text.contains(' ') =>
            {
                self.content(&value.text, flow, act)
            }
            Role::Target if acts => self.target(&value.text),
            Role::Content if acts => self.content(&value.text, flow, act),
            Role::Secret => vec![self.secret(value, act)],
            Role::Control if acts => self.control(&value.text),
            Role::Target | Role::Content | Role::Control => Vec::new(),
        }
    }

    fn destination(&self, text: &str, acts: bool) -> Vec<(Label, String, bool)> {
        let things = things(text);
        things
            .into_iter()
            .map(|thing| {
                let label = self.label(&thing, Role::Destination, acts);
                let held = match label {
                    Label::User
                    | Label::Operator
                    | Label::ListedTrusted
                    | Label::Listed
                    | Label::Composed
                    | Label::Delegated(_) => false,
                    // A plain word that stands nowhere is the agent's own: `origin`, `default`.
                    Label::Unseen => {
                        self.untrusted && !(thing.kind.is_none() && is_plain_word(&thing.text))
                    }
                    Label::ListedElsewhere(_)
                    | Label::Mentioned(_)
                    | Label::Ordered(_)
                    | Label::Flagged(_)
                    | Label::Instead
                    | Label::Several(_)
                    | Label::Wider
                    | Label::Doubted => true,
                };
                (label, thing.text, held)
            })
            .collect()
    }

    fn target(&self, text: &str) -> Vec<(Label, String, bool)> {
        things(text)
            .into_iter()
            .map(|thing| {
                let label = self.label(&thing, Role::Target, true);
                let held = match label {
                    Label::Flagged(_)
                    | Label::Ordered(_)
                    | Label::Doubted
                    | Label::Several(_)
                    | Label::Wider
                    | Label::Instead => true,
                    // A typed atom that only prose names; a plain word in prose is no id.
                    Label::Mentioned(_) => true,
                    Label::User
                    | Label::Operator
                    | Label::ListedTrusted
                    | Label::Listed
                    | Label::Composed
                    | Label::Delegated(_)
                    | Label::ListedElsewhere(_)
                    | Label::Unseen => false,
                };
                (label, thing.text, held)
            })
            .collect()
    }

    /// Text that is sent on: what it quotes from where somebody speaks to the assistant stops it.
    fn content(&self, text: &str, flow: &Flow, act: &Act) -> Vec<(Label, String, bool)> {
        let mut found = Vec::new();
        let atoms = atoms::atoms(text);
        if atoms.len() >= atoms::ATOMS_PER_TEXT_MAX {
            found.push((Label::Unseen, "too many values".to_owned(), self.untrusted));
        }
        for atom in atoms {
            let bits = self.bits(atom.key);
            let host = atom.host.map(|it| self.bits(it)).unwrap_or_default();
            if bits.is_vouched_for() || host.is_vouched_for() || atom.kind == Kind::Path {
                continue;
            }
            let place = self.place(atom.key).to_owned();
            let known = bits.is_listed_well() || bits.has(Bits::HANDED_ON);
            let handed = |slots| self.may_fill(atom.key, slots);
            if bits.has(Bits::FLAGGED) || bits.has(Bits::LURED) {
                found.push((Label::Flagged(place), atom.text, true));
            } else if flow.egress && bits.has(Bits::ORDERED) && !handed(Slots::TASKS) {
                found.push((Label::Ordered(place), atom.text, true));
            } else if flow.egress && bits.has(Bits::MENTIONED) && !known && !handed(Slots::EACH) {
                found.push((Label::Mentioned(place), atom.text, true));
            }
        }
        if act.verbs & verb::RUN != 0 {
            found.extend(self.command(text));
        }
        if let Some((key, words)) = self.verbatim(text) {
            found.push((Label::Flagged(self.place(key).to_owned()), words, true));
        }
        found
    }

    /// Pieces of a command that a text from outside names: a branch, a package, an option with a value.
    fn command(&self, text: &str) -> Vec<(Label, String, bool)> {
        let mut found = Vec::new();
        for piece in text.split_whitespace() {
            let folded = fold(piece);
            // A plain word is a name that every command has.
            let telling = words(&folded).any(|it| is_telling(&it))
                && !folded.chars().all(char::is_alphabetic);
            let Some(key) = phrase(piece).filter(|_| telling) else { continue };
            let bits = self.bits(key);
            if bits.is_vouched_for() || bits.has(Bits::SPOKEN) {
                continue;
            }
            let place = || self.place(key).to_owned();
            let by_the_book = || self.may_fill(key, Slots::TASKS.with(Slots::WAY));
            if bits.has(Bits::FLAGGED) {
                found.push((Label::Flagged(place()), piece.to_owned(), true));
            } else if bits.has(Bits::ORDERED) && !(bits.has(Bits::HANDED_ON) && by_the_book()) {
                found.push((Label::Ordered(place()), piece.to_owned(), true));
            }
        }
        found
    }

    /// A run of words from a marked part: five in a row, or all of a shorter value.
    fn verbatim(&self, text: &str) -> Option<(Key, String)> {
        if !self.marked {
            return None;
        }
        let folded = fold(text);
        let all = hashed(&folded);
        let length = all.len().min(VERBATIM_WORDS);
        if length < 2 {
            return None;
        }
        for start in 0..=all.len().saturating_sub(length) {
            let mut hit = None;
            prefixes(all.get(start..).unwrap_or_default(), length, length, |key| {
                let bits = self.bits(key);
                // Orders in prose count where they are long enough not to be a name.
                let order = length >= VERBATIM_WORDS
                    && bits.has(Bits::ORDERED)
                    && !bits.has(Bits::HANDED_ON);
                let marked = bits.has(Bits::FLAGGED) || order;
                hit = (marked && !bits.is_vouched_for()).then_some(key);
            });
            if let Some(key) = hit {
                let shown: Vec<_> = words(&folded).skip(start).take(length).collect();
                return Some((key, shown.join(" ")));
            }
        }
        None
    }

    /// A choice: prose is none, and one word that a text speaks to the assistant for is not the user's.
    fn control(&self, text: &str) -> Vec<(Label, String, bool)> {
        if text.split_whitespace().count() > CONTROL_WORDS_MAX {
            return vec![(Label::Unseen, text.to_owned(), self.untrusted)];
        }
        let folded = fold(text);
        let word = folded.len() > 1 && folded.chars().all(char::is_alphabetic);
        let bits = if word { self.bits(word_key(&folded)) } else { Bits::default() };
        let order = bits.has(Bits::ORDERED) && !bits.has(Bits::HANDED_ON);
        if (bits.has(Bits::FLAGGED) || order) && !bits.has(Bits::SPOKEN) && !bits.is_vouched_for() {
            return vec![(
                Label::Flagged(self.place(word_key(&folded)).to_owned()),
                text.to_owned(),
                true,
            )];
        }
        Vec::new()
    }

    /// A code or token that a tool of the user gave back may go back to a service; a password that is set, and what is sent
    /// to somebody, must be the user's.
    fn secret(&self, value: &Named<'_>, act: &Act) -> (Label, String, bool) {
        let text = &value.text;
        let sets = act.verbs & SETTING != 0;
        let is_kept = name_words(value.param).iter().any(|it| KEPT.contains(&it.as_str()));
        let mut keys: Vec<Key> = atoms::atoms(text).into_iter().map(|it| it.key).collect();
        keys.extend(phrase(text));
        let bits = keys.iter().fold(Bits::default(), |all, it| all.with(self.bits(*it)));
        if bits.is_vouched_for() {
            return (Label::User, String::new(), false);
        }
        let ordered = bits.has(Bits::FLAGGED) || bits.has(Bits::ORDERED);
        let listed = bits.is_listed_well() || bits.has(Bits::LISTED);
        let goes_back = if sets { listed && !is_kept } else { bits != Bits::default() };
        if goes_back && !ordered {
            return (Label::Listed, String::new(), false);
        }
        let place = keys.first().map(|it| self.place(*it).to_owned()).unwrap_or_default();
        let label = match bits.has(Bits::FLAGGED) {
            true => Label::Flagged(place),
            false if bits == Bits::default() => Label::Unseen,
            false => Label::Mentioned(place),
        };
        (label, String::new(), true)
    }
}

/// A name that needs no address: `origin`, `billing-api`.
fn is_plain_word(text: &str) -> bool {
    let is_word = text.len() <= 12 && text.bytes().all(|it| it.is_ascii_lowercase());
    let joined = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    let is_joined = text.contains('-') && text.len() <= PLAIN_BYTES_MAX && text.bytes().all(joined);
    is_word || is_joined
}

/// The longest name of several words.
const PLAIN_BYTES_MAX: usize = 32;

#[cfg(test)]
mod tests;
