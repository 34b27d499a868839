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
