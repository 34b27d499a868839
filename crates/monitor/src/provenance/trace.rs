//! Looks up what a call names, and judges whether it may decide what it decides.

use std::borrow::Cow;

use model::{Call, Flow, Reach, Role};
use serde_json::Value;

use super::acts::{Act, object};
use super::atoms::{self, Kind};
use super::bits::Bits;
use super::facts::shorten;
use super::hash::Key;
use super::ledger::Ledger;
use super::norm::{PHRASE_WORDS_MAX, fold, phrase, prefixes, word_key, words};
use super::verdict::{Label, Sink, Traced, act_objection, sink_objection};

/// Values that are looked up in one call; a call with more is not understood, and held.
pub const VALUES_PER_CALL_MAX: usize = 512;
/// So many words in a row from a text that speaks to the assistant are its words.
const VERBATIM_WORDS: usize = 5;
/// A flag, a date or a limit has no more words than this.
const CONTROL_WORDS_MAX: usize = 24;
/// How deep arguments are followed.
const DEPTH_MAX: usize = 12;

impl Ledger {
    /// Where each value of `call` came from, and what speaks against it.
    #[must_use]
    pub fn trace(&self, call: &Call, flow: &Flow, act: &Act) -> Traced {
        let mut traced = Traced::default();
        let mut values = Vec::new();
        for (param, value) in call.args() {
            let role = flow.roles.get(param).copied();
            gather(param, role, value, &mut values, 0);
        }
        let acts = flow.reach != Reach::Read || flow.destructive;
        if acts && self.untrusted {
            self.weigh_act(call, act, &mut traced);
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
        if values.len() > VALUES_PER_CALL_MAX {
            let sink = Sink {
                param: "…".to_owned(),
                atom: "too many values".to_owned(),
                label: Label::Unseen,
            };
            traced.objections.push(sink_objection(Role::Target, &sink));
        }
        traced
    }

    fn weigh_act(&self, call: &Call, act: &Act, traced: &mut Traced) {
        if act.is_asked_for(&self.asked()) {
            return;
        }
        let (lent, lender) = self.lent();
        let mut both = self.asked();
        both.add(lent);
        if lent.verbs != 0 && act.is_asked_for(&both) {
            traced.delegated = Some(lender.to_owned());
            return;
        }
        traced.objections.push(act_objection(call.tool().as_str()));
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
            Role::Destination => self.destination(&value.text, acts, act),
            Role::Target if acts => self.target(&value.text),
            Role::Content if acts => self.content(&value.text, flow),
            Role::Secret => vec![self.secret(&value.text)],
            Role::Control if acts => {
                let long = value.text.split_whitespace().count() > CONTROL_WORDS_MAX;
                if long {
                    vec![(Label::Unseen, value.text.to_string(), self.untrusted)]
                } else {
                    Vec::new()
                }
            }
            Role::Target | Role::Content | Role::Control => Vec::new(),
        }
    }

    fn destination(&self, text: &str, acts: bool, act: &Act) -> Vec<(Label, String, bool)> {
        let things = things(text);
        things
            .into_iter()
            .map(|thing| {
                let label = self.label(&thing, acts, act);
                let held = match label {
                    Label::User
                    | Label::Operator
                    | Label::ListedTrusted
                    | Label::Listed
                    | Label::Composed
                    | Label::Delegated(_) => false,
                    Label::Unseen => self.untrusted,
                    Label::ListedElsewhere(_)
                    | Label::Mentioned(_)
                    | Label::Ordered(_)
                    | Label::Flagged(_)
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
                let label = self.label(&thing, true, &Act::default());
                let held = match label {
                    Label::Flagged(_) | Label::Ordered(_) | Label::Doubted => true,
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
    fn content(&self, text: &str, flow: &Flow) -> Vec<(Label, String, bool)> {
        let mut found = Vec::new();
        for atom in atoms::atoms(text) {
            let bits = self.bits(atom.key);
            let host = atom.host.map(|it| self.bits(it)).unwrap_or_default();
            if bits.is_vouched_for() || host.is_vouched_for() || atom.kind == Kind::Path {
                continue;
            }
            let place = self.place(atom.key).to_owned();
            if bits.has(Bits::FLAGGED) {
                found.push((Label::Flagged(place), atom.text, true));
            } else if flow.egress && bits.has(Bits::ORDERED) {
                found.push((Label::Ordered(place), atom.text, true));
            }
        }
        if let Some((key, words)) = self.verbatim(text) {
            found.push((Label::Flagged(self.place(key).to_owned()), words, true));
        }
        found
    }

    /// A run of words from a marked part: five in a row, or all of a shorter value.
    fn verbatim(&self, text: &str) -> Option<(Key, String)> {
        if !self.untrusted {
            return None;
        }
        let folded = fold(text);
        let all: Vec<Cow<'_, str>> = words(&folded).collect();
        let length = all.len().min(VERBATIM_WORDS);
        if length < 2 {
            return None;
        }
        for start in 0..=all.len().saturating_sub(length) {
            let window = all.get(start..).unwrap_or_default();
            let mut hit = None;
            prefixes(window, length, length, |key| {
                let bits = self.bits(key);
                hit = (bits.has(Bits::FLAGGED) && !bits.is_vouched_for()).then_some(key);
            });
            if let Some(key) = hit {
                let shown: Vec<&str> = window.iter().take(length).map(AsRef::as_ref).collect();
                return Some((key, shown.join(" ")));
            }
        }
        None
    }

    fn secret(&self, text: &str) -> (Label, String, bool) {
        let mut keys: Vec<Key> = atoms::atoms(text).into_iter().map(|it| it.key).collect();
        keys.extend(phrase(text));
        let bits = keys.iter().fold(Bits::default(), |all, it| all.with(self.bits(*it)));
        if bits.is_vouched_for() {
            return (Label::User, String::new(), false);
        }
        let place = keys.first().map(|it| self.place(*it).to_owned()).unwrap_or_default();
        let label = match bits.has(Bits::FLAGGED) {
            true => Label::Flagged(place),
            false if bits == Bits::default() => Label::Unseen,
            false => Label::Mentioned(place),
        };
        (label, String::new(), true)
    }

    /// Where one thing came from, the best of what is true of it, unless something worse is.
    fn label(&self, thing: &Thing, acts: bool, act: &Act) -> Label {
        let bits = self.bits(thing.key);
        let host = thing.host.map(|it| self.bits(it)).unwrap_or_default();
        let place = || self.place(thing.key).to_owned();
        let cues = self.cues();
        if bits.has(Bits::USER) {
            return Label::User;
        }
        if bits.has(Bits::OPERATOR) {
            return Label::Operator;
        }
        if bits.has(Bits::DOUBTED) {
            return Label::Doubted;
        }
        if host.is_vouched_for() && !bits.has(Bits::FLAGGED) {
            return if host.has(Bits::USER) { Label::User } else { Label::Operator };
        }
        // Every one of a set was asked for: to be named elsewhere as well takes nobody out of it.
        let of_the_set = cues.set && bits.is_listed_well();
        if bits.has(Bits::FLAGGED) && !of_the_set {
            return Label::Flagged(place());
        }
        if bits.has(Bits::TRUSTED) {
            return Label::ListedTrusted;
        }
        if bits.has(Bits::ORDERED)
            && !bits.has(Bits::HANDED_ON)
            && !of_the_set
            && !bits.has(Bits::DESIGNATED)
        {
            return Label::Ordered(place());
        }
        if bits.is_listed_well() {
            return Label::Listed;
        }
        if bits.has(Bits::HANDED_ON) && self.is_handed_on(thing, acts, act) {
            return Label::Delegated(place());
        }
        if !acts && bits.has(Bits::MENTIONED) && cues.link {
            return Label::Delegated(place());
        }
        if bits.has(Bits::LISTED) {
            return Label::ListedElsewhere(place());
        }
        if bits.has(Bits::MENTIONED) || bits.has(Bits::HANDED_ON) || self.full {
            return Label::Mentioned(place());
        }
        if self.is_composed(&thing.text) { Label::Composed } else { Label::Unseen }
    }

    /// Did the user hand on where it goes? Either the tasks as a whole, or just that, and left it open.
    fn is_handed_on(&self, thing: &Thing, acts: bool, act: &Act) -> bool {
        let cues = self.cues();
        if cues.tasks || !acts {
            return true;
        }
        let page = act.objects & object::PAGE != 0;
        cues.leaves_open(thing.kind) && (cues.contact || (page && cues.link))
    }

    /// Put together from the user's words and listed names: `www.alice-hobbies.com` for each of a list.
    fn is_composed(&self, text: &str) -> bool {
        let folded = fold(text);
        let mut telling = false;
        for word in words(&folded) {
            let bits = self.bits(word_key(&word));
            let listed = bits.is_listed_well() && !bits.has(Bits::FLAGGED);
            if !bits.has(Bits::SPOKEN) && !listed {
                return false;
            }
            telling |= bits.has(Bits::TELLING) || listed;
        }
        telling
    }
}

/// A value of an argument, with the parameter it belongs to.
struct Named<'a> {
    param: &'a str,
    role: Option<Role>,
    text: Cow<'a, str>,
}

fn gather<'a>(
    param: &'a str,
    role: Option<Role>,
    value: &'a Value,
    found: &mut Vec<Named<'a>>,
    depth: usize,
) {
    if found.len() > VALUES_PER_CALL_MAX {
        return;
    }
    let mut push = |text| found.push(Named { param, role, text });
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(text) => push(Cow::Borrowed(text.as_str())),
        Value::Number(number) => push(Cow::Owned(number.to_string())),
        Value::Array(_) | Value::Object(_) if depth >= DEPTH_MAX => {
            push(Cow::Owned(value.to_string()))
        }
        Value::Array(items) => {
            items.iter().for_each(|it| gather(param, role, it, found, depth.saturating_add(1)));
        }
        Value::Object(map) => {
            map.values().for_each(|it| gather(param, role, it, found, depth.saturating_add(1)));
        }
    }
}

/// A thing that is looked up.
struct Thing {
    kind: Option<Kind>,
    key: Key,
    host: Option<Key>,
    text: String,
}

/// What a value names: the atoms in it, or, if there are none, the phrase as a whole.
fn things(text: &str) -> Vec<Thing> {
    let atoms = atoms::atoms(text);
    if !atoms.is_empty() {
        let thing = |it: atoms::Atom| Thing {
            kind: Some(it.kind),
            key: it.key,
            host: it.host,
            text: it.text,
        };
        return atoms.into_iter().map(thing).collect();
    }
    let short = text.split_whitespace().count() <= PHRASE_WORDS_MAX.saturating_mul(2);
    let text_kept = if short { text.to_owned() } else { shorten(text) };
    phrase(text)
        .map(|key| Thing { kind: None, key, host: None, text: text_kept })
        .into_iter()
        .collect()
}
