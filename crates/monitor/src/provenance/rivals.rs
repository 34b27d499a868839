//! Addresses and accounts that could take each other's place: two of one person, two accounts in what the user pointed at.
//! Where only content from outside names them, a person chooses.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::atoms::{Atom, Kind};
use super::given::is_bank_account;
use super::hash::{Key, key};

/// Groups that are kept, and values of one: more would not be shown.
const GROUPS_MAX: usize = 4096;
const VALUES_MAX: usize = 16;
/// The space of groups among the keys.
const GROUP: u8 = b'r';
/// Whose account it is, an account does not say.
const ACCOUNTS: &str = "account";

/// A value that another one of its group could take the place of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Rival {
    group: Key,
    value: Key,
    /// It counts only where the user pointed at what it stands in.
    is_account: bool,
}

impl Rival {
    /// The group of an address is the name of a person in it: `dana.whitfield@…`. One word is an office, or anybody.
    pub(super) fn of(atom: &Atom) -> Option<Self> {
        match atom.kind {
            Kind::Email => {
                let (who, _) = atom.text.split_once('@')?;
                let mut words = who.split(['.', '_', '-', '+']).filter(|it| it.len() > 1);
                let (first, last) = (words.next()?, words.next()?);
                let group = key(GROUP, &format!("{first} {last}"));
                Some(Self { group, value: atom.key, is_account: false })
            }
            Kind::Account if is_bank_account(&atom.text) => {
                Some(Self { group: key(GROUP, ACCOUNTS), value: atom.key, is_account: true })
            }
            Kind::Account | Kind::Url | Kind::Path => None,
        }
    }
}

/// What stands beside what, and where.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Rivals {
    groups: HashMap<Key, BTreeMap<Key, u32>>,
    /// Some were left out: any other may have rivals.
    is_full: bool,
}

impl Rivals {
    /// Notes a value of a row; `is_pointed_at` if the user named the row or the place that it came from.
    pub(super) fn note(&mut self, rival: Rival, origin: u32, is_pointed_at: bool) {
        if rival.is_account && !is_pointed_at {
            return;
        }
        if self.groups.len() >= GROUPS_MAX && !self.groups.contains_key(&rival.group) {
            self.is_full = true;
            return;
        }
        let values = self.groups.entry(rival.group).or_default();
        if values.len() < VALUES_MAX {
            values.entry(rival.value).or_insert(origin);
        }
    }

    /// Where another one of the same group stands.
    pub(super) fn beside(&self, atom: &Atom) -> Option<u32> {
        let rival = Rival::of(atom)?;
        let Some(values) = self.groups.get(&rival.group) else {
            return self.is_full.then_some(0);
        };
        values.iter().find(|(value, _)| **value != rival.value).map(|(_, origin)| *origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::atoms::atoms;

    fn atom(text: &str) -> Atom {
        atoms(text).remove(0)
    }

    fn rival(text: &str) -> Option<Rival> {
        Rival::of(&atom(text))
    }

    #[test]
    fn addresses_of_one_person_are_rivals() {
        let mut rivals = Rivals::default();
        let (one, other) = (atom("dana.whitfield@corp.example"), atom("dana_whitfield@x.example"));
        rivals.note(Rival::of(&one).unwrap(), 1, false);
        assert_eq!(rivals.beside(&one), None, "there is no other");
        rivals.note(Rival::of(&other).unwrap(), 2, false);
        assert_eq!((rivals.beside(&one), rivals.beside(&other)), (Some(2), Some(1)));
        // An initial and an office are nobody's name.
        assert_eq!(rival("d.whitfield@corp.example"), None);
        assert_eq!(rival("office@corp.example"), None);
        assert!(rival("al.bo@corp.example").is_some());
        assert_eq!(rivals.beside(&atom("dan.whitfield@corp.example")), None);
    }

    #[test]
    fn accounts_count_where_the_user_pointed_at_them() {
        let (one, other) =
            (atom("DE89 3704 0044 0532 0130 00"), atom("GB29 NWBK 6016 1331 9268 19"));
        let mut rivals = Rivals::default();
        rivals.note(Rival::of(&one).unwrap(), 1, false);
        rivals.note(Rival::of(&other).unwrap(), 2, true);
        assert_eq!(rivals.beside(&one), Some(2));
        assert_eq!(rivals.beside(&other), None, "nobody pointed at the first");
        assert_eq!(rival("+49 152 5550 9988"), None);
    }

    #[test]
    fn what_there_is_no_room_for_may_have_rivals() {
        let mut rivals = Rivals::default();
        for number in 0..GROUPS_MAX {
            rivals.note(rival(&format!("aa{number}.bb@x.example")).unwrap(), 1, false);
        }
        let late = atom("dana.whitfield@corp.example");
        assert_eq!(rivals.beside(&late), None, "everything had room");
        rivals.note(Rival::of(&late).unwrap(), 1, false);
        assert_eq!(rivals.beside(&late), Some(0));
        assert_eq!(rivals.beside(&atom("aa1.bb@x.example")), None);
        for number in 0..=VALUES_MAX {
            rivals.note(rival(&format!("aa1.bb@x{number}.example")).unwrap(), 1, false);
        }
        let group = rivals.groups.get(&key(GROUP, "aa1 bb"));
        assert_eq!(group.map(BTreeMap::len), Some(VALUES_MAX));
    }
}
