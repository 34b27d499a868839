//! Which keys an agent's tools get: the grants of its manifest, by domain of tools.
//!
//! A manifest with `credentials.grants`, also with none in it, is strict: nothing else is given. One without is
//! of the old kind: at this machine its tools get all keys, over the network none.

use std::collections::BTreeSet;

use super::{Approval, Domain, Manifest, Origin};

/// How a manifest gives keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyMode {
    /// Only what is granted.
    Strict,
    /// All of them: the manifest says nothing of keys.
    Legacy,
}

/// What a manifest says of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyGrant<'a> {
    /// This grant gives it.
    Granted(&'a str),
    /// This grant gives it, and a person is asked each time.
    NeedsApproval(&'a str),
    /// Everything is given.
    Legacy,
    /// It is not given.
    NotGranted,
}

/// The keys that tools of a domain get, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys<'a> {
    /// How.
    pub mode: KeyMode,
    /// The keys.
    pub keys: BTreeSet<&'a str>,
    /// The grants that gave them.
    pub grants: BTreeSet<&'a str>,
    /// Grants that were left out because nobody was asked.
    pub withheld: BTreeSet<&'a str>,
}

impl KeyMode {
    /// The word in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Legacy => "legacy",
        }
    }
}

impl Manifest {
    /// How it gives keys to a session that comes from `origin`.
    #[must_use]
    pub fn key_mode(&self, origin: Origin) -> KeyMode {
        match (&self.grants, origin) {
            (None, Origin::Local) => KeyMode::Legacy,
            (Some(_), _) | (None, Origin::Remote) => KeyMode::Strict,
        }
    }

    /// What it says of one key for tools of a domain.
    #[must_use]
    pub fn key(&self, key: &str, domain: Domain, origin: Origin) -> KeyGrant<'_> {
        if self.key_mode(origin) == KeyMode::Legacy {
            return KeyGrant::Legacy;
        }
        let fits = self.grants.iter().flatten().filter(|(_, grant)| {
            grant.tools.contains(&domain) && grant.keys.iter().any(|it| it == key)
        });
        let mut found = KeyGrant::NotGranted;
        for (name, grant) in fits {
            match grant.approval {
                Approval::Auto => return KeyGrant::Granted(name),
                Approval::Required => found = KeyGrant::NeedsApproval(name),
            }
        }
        found
    }

    /// Every key that a grant names for tools of a domain. Where all keys are given without a grant, none is named.
    #[must_use]
    pub fn granted_to(&self, domain: Domain, origin: Origin) -> Vec<(&str, KeyGrant<'_>)> {
        let fits = self.grants.iter().flatten().filter(|(_, grant)| grant.tools.contains(&domain));
        let keys: BTreeSet<&str> =
            fits.flat_map(|(_, grant)| grant.keys.iter().map(String::as_str)).collect();
        keys.into_iter().map(|key| (key, self.key(key, domain, origin))).collect()
    }

    /// The keys out of `available` that tools of a domain get without a person being asked.
    pub fn keys<'a>(
        &'a self,
        available: impl IntoIterator<Item = &'a str>,
        domain: Domain,
        origin: Origin,
    ) -> Keys<'a> {
        let mut found = Keys {
            mode: self.key_mode(origin),
            keys: BTreeSet::new(),
            grants: BTreeSet::new(),
            withheld: BTreeSet::new(),
        };
        for key in available {
            match self.key(key, domain, origin) {
                KeyGrant::Granted(grant) => {
                    found.keys.insert(key);
                    found.grants.insert(grant);
                }
                KeyGrant::Legacy => {
                    found.keys.insert(key);
                }
                KeyGrant::NeedsApproval(grant) => {
                    found.withheld.insert(grant);
                }
                KeyGrant::NotGranted => {}
            }
        }
        found
    }
}
