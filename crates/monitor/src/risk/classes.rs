//! What a call means for the risk of later ones: a small set.

use serde::{Deserialize, Serialize};

/// A set of classes of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Classes(u8);

impl Classes {
    /// Nothing of note.
    pub const NONE: Self = Self(0);
    /// Reads a file that is nobody else's business: shell history, account lists, `.env`.
    pub const SENSITIVE_READ: Self = Self(1);
    /// Reads or prints a credential.
    pub const CREDENTIAL_READ: Self = Self(1 << 1);
    /// Something can leave the user's own systems.
    pub const EGRESS: Self = Self(1 << 2);
    /// Gains or gives rights.
    pub const SCOPE_CHANGE: Self = Self(1 << 3);
    /// Sends what it reads itself, in one call: `curl -d @/etc/shadow …`.
    pub const SENDS_ITS_READ: Self = Self(1 << 4);

    /// Either kind of read.
    pub const READS: Self = Self::SENSITIVE_READ.union(Self::CREDENTIAL_READ);

    /// Everything in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Is all of `other` in it?
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Is any of `other` in it?
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl std::ops::BitOrAssign for Classes {
    fn bitor_assign(&mut self, other: Self) {
        *self = self.union(other);
    }
}
