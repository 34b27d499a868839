//! Where one thing came from, by what the index knows of it.

use model::Role;

use super::atoms::{self, Atom, Kind};
use super::bits::Bits;
use super::delegation::Slots;
use super::hash::Key;
use super::ledger::Ledger;
use super::norm::{fold, phrase, word_key, words};
use super::user::is_telling;
use super::verdict::Label;

impl Ledger {
    /// Where one thing came from. Of several that could be meant, and that only content from outside names, none is chosen.
    pub(super) fn label(&self, thing: &Thing, role: Role, acts: bool) -> Label {
        let label = self.label_alone(thing, role, acts);
        // A field of the user's own system says whose account it is.
        let by_field = label == Label::Listed && thing.kind != Some(Kind::Account);
        let by_others = by_field || matches!(label, Label::Delegated(_));
        let rival = || thing.atom.as_ref().and_then(|it| self.rivals.beside(it));
        match (acts && by_others).then(rival).flatten() {
            Some(origin) => Label::Several(self.name_of(origin).to_owned()),
            None => label,
        }
    }

    /// The best of what is true of it, unless something worse is.
    fn label_alone(&self, thing: &Thing, role: Role, acts: bool) -> Label {
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
        let is_of_each = self.may_fill(thing.key, Slots::EACH);
        let of_the_set = is_of_each && (bits.has(Bits::RELATED) || bits.has(Bits::DESIGNATED));
        if bits.has(Bits::FLAGGED) && !of_the_set {
            return Label::Flagged(place());
        }
        let handed_on = bits.has(Bits::HANDED_ON) && self.is_handed_on(thing, role, acts);
        if bits.has(Bits::ORDERED) && !handed_on && !of_the_set {
            return Label::Ordered(place());
        }
        // `clause 7`: a short number is no word that tells anything, and is the user's all the same.
        let is_number = !thing.text.is_empty() && thing.text.bytes().all(|it| it.is_ascii_digit());
        let is_short = thing.text.len() <= SHORT_DIGITS_MAX && role == Role::Target;
        if is_number && is_short && self.spoke(&thing.text) {
            return Label::User;
        }
        if bits.has(Bits::TRUSTED) {
            return Label::ListedTrusted;
        }
        // A long name that is listed, and that prose without a bearing on the task brings up.
        let brought_up = bits.has(Bits::MENTIONED) && !bits.has(Bits::NEARBY) && thing.words >= 2;
        if brought_up && !of_the_set && !bits.has(Bits::DESIGNATED) && thing.kind.is_none() {
            return Label::Ordered(place());
        }
        // Where the user gave an address, another one is not meant because it stands nearby.
        let is_theirs = bits.has(Bits::DESIGNATED) || bits.has(Bits::DIRECTORY);
        let is_other =
            thing.kind == Some(Kind::Email) && !cues.leaves_open(thing.kind) && !is_of_each;
        if bits.is_listed_well() && !(is_other && !is_theirs && role == Role::Destination) {
            return Label::Listed;
        }
        if handed_on || (role == Role::Target && bits.has(Bits::NEARBY)) {
            return Label::Delegated(place());
        }
        if bits.has(Bits::LISTED) {
            let open = cues.leaves_open(thing.kind) && !cues.gave_name;
            return if open { Label::Listed } else { Label::ListedElsewhere(place()) };
        }
        if !acts && self.is_followed(thing, bits) {
            return Label::Delegated(place());
        }
        if bits.has(Bits::MENTIONED) || self.full {
            return Label::Mentioned(place());
        }
        if self.is_composed(&thing.text) {
            return Label::Composed;
        }
        if thing.words >= 2 && self.is_pieced_together(&thing.text) {
            return Label::Mentioned(place());
        }
        Label::Unseen
    }

    /// Does every word of a name stand in prose, if not side by side?
    fn is_pieced_together(&self, text: &str) -> bool {
        let folded = fold(text);
        let mut telling = words(&folded).filter(|it| is_telling(it)).peekable();
        telling.peek().is_some()
            && telling.all(|it| {
                let bits = self.bits(word_key(&it));
                let prose = bits.has(Bits::MENTIONED) && !bits.has(Bits::NEARBY);
                !bits.has(Bits::SPOKEN) && (bits.has(Bits::FLAGGED) || prose)
            })
    }

    /// Did the user hand on where it goes? Either the tasks as a whole, or just that, and left it open.
    fn is_handed_on(&self, thing: &Thing, role: Role, acts: bool) -> bool {
        let bits = self.bits(thing.key);
        let has_tasks = self.may_fill(thing.key, Slots::TASKS);
        if !acts {
            // A link in what the user named, unless it is an order that carries data.
            let carries = bits.has(Bits::ORDERED) && thing.text.contains('?');
            return (has_tasks || self.may_fill(thing.key, Slots::LINK)) && !carries;
        }
        // What an order in it names is handed on with the tasks, as the account of a bill, or where the
        // user goes by what somebody says.
        let ordered = bits.has(Bits::ORDERED) && !self.may_fill(thing.key, Slots::WAY);
        let is_pointed_at = self.is_pointed_at(thing);
        let open = is_pointed_at || role == Role::Target;
        has_tasks || (open && !ordered) || (is_pointed_at && thing.kind == Some(Kind::Account))
    }

    /// Did the user leave open what it is, and say that it stands where it stands?
    fn is_pointed_at(&self, thing: &Thing) -> bool {
        let is_open = self.cues().leaves_open(thing.kind);
        let slot = match thing.kind {
            // A link is to be followed; where to publish is an address.
            Some(Kind::Email | Kind::Url) => Slots::ADDRESS,
            Some(Kind::Account) => Slots::ACCOUNT,
            Some(Kind::Path) => return is_open,
            None => Slots::SOMEBODY,
        };
        let is_each = thing.kind.is_none() && self.may_fill(thing.key, Slots::EACH);
        (is_open || is_each) && self.may_fill(thing.key, slot.with(Slots::ANYTHING))
    }

    /// Is it a page that the user sent the agent to look for?
    fn is_followed(&self, thing: &Thing, bits: Bits) -> bool {
        let plain = !thing.text.contains('?') && !bits.has(Bits::ORDERED);
        let folded = fold(&thing.text);
        let named = || words(&folded).any(|it| self.bits(word_key(&it)).has(Bits::TELLING));
        let linked = || !self.cues().gave_url && self.may_fill(thing.key, Slots::LINK);
        let is_sent = self.delegates(Slots::LINK) && bits.has(Bits::MENTIONED) && plain;
        is_sent && (named() || linked())
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

/// Digits of a number that is a place in something: longer ones are ids and accounts.
const SHORT_DIGITS_MAX: usize = 4;

/// A thing that is looked up.
pub(super) struct Thing {
    pub(super) kind: Option<Kind>,
    pub(super) key: Key,
    host: Option<Key>,
    words: usize,
    pub(super) text: String,
    atom: Option<Atom>,
}

/// What a value names: the atoms in it, or, if there are none, the phrase as a whole.
pub(super) fn things(text: &str) -> Vec<Thing> {
    let atoms = atoms::atoms(text);
    if !atoms.is_empty() {
        let thing = |it: Atom| Thing {
            kind: Some(it.kind),
            key: it.key,
            host: it.host,
            words: 1,
            text: it.text.clone(),
            atom: Some(it),
        };
        let addresses = atoms.iter().any(|it| matches!(it.kind, Kind::Email | Kind::Account));
        let mut found: Vec<Thing> = atoms.into_iter().map(thing).collect();
        if addresses {
            found.extend(beside_addresses(text));
        }
        return found;
    }
    named(text).into_iter().collect()
}

/// What stands in a list of addresses and is none: a name between its commas, or what a mail program
/// might take for an address. A name beside an address is only how somebody is called.
fn beside_addresses(text: &str) -> Vec<Thing> {
    let has_atom = |it: &str| !atoms::atoms(it).is_empty();
    let mut found = Vec::new();
    for part in text.split([',', ';', '\n', '\r', '|']).filter(|it| it.len() < text.len()) {
        if !has_atom(part) {
            found.extend(named(part));
        }
    }
    let odd = text.split_whitespace().filter(|it| it.contains('@') && !has_atom(it));
    found.extend(odd.filter_map(named));
    found
}

/// The phrase as a whole.
fn named(text: &str) -> Option<Thing> {
    let key = phrase(text)?;
    // The host of an atom has a dot. `eve@intranet` is an address all the same; `@eve` is a name.
    let address = text.split_whitespace().any(|it| it.contains('@') && !it.starts_with('@'));
    let kind = address.then_some(Kind::Email);
    let words = words(&fold(text)).count();
    Some(Thing { kind, key, host: None, words, text: text.to_owned(), atom: None })
}
