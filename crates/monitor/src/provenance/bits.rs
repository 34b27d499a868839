//! What is known of an atom, as flags that are only ever added.

use serde::{Deserialize, Serialize};

/// Flags of an entry of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Bits(pub(super) u32);

impl Bits {
    /// The user said it, to have something done with it.
    pub(super) const USER: Self = Self(1);
    /// The operator said it, or the operator's catalogue lists it.
    pub(super) const OPERATOR: Self = Self(1 << 1);
    /// The user asked about it or forbade it: no permission.
    pub(super) const DOUBTED: Self = Self(1 << 2);
    /// A word of the user's, whatever it means.
    pub(super) const SPOKEN: Self = Self(1 << 3);
    /// A word of the user's that tells one thing from another.
    pub(super) const TELLING: Self = Self(1 << 4);
    /// Stands in a typed field of a trusted tool, or in the echo of an act.
    pub(super) const TRUSTED: Self = Self(1 << 5);
    /// Stands in a listing that has no prose in it.
    pub(super) const DIRECTORY: Self = Self(1 << 6);
    /// Stands in a typed field of a row that others can write.
    pub(super) const LISTED: Self = Self(1 << 7);
    /// Such a row has to do with what the user said.
    pub(super) const RELATED: Self = Self(1 << 8);
    /// Such a row is the one that the user named.
    pub(super) const DESIGNATED: Self = Self(1 << 9);
    /// Stands in prose.
    pub(super) const MENTIONED: Self = Self(1 << 10);
    /// Stands in the prose of the source that the user named.
    pub(super) const HANDED_ON: Self = Self(1 << 11);
    /// Stands in an order that nobody asked for.
    pub(super) const ORDERED: Self = Self(1 << 12);
    /// Stands where somebody speaks to the assistant.
    pub(super) const FLAGGED: Self = Self(1 << 13);
    /// Has to do with what the user said, and stands in prose.
    pub(super) const NEARBY: Self = Self(1 << 14);

    /// Came back from a call that a text from outside told the assistant to make.
    pub(super) const LURED: Self = Self(1 << 15);

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn is_vouched_for(self) -> bool {
        self.has(Self::USER) || self.has(Self::OPERATOR)
    }

    /// Does the user's own system list it, in a place that has to do with the task?
    pub(super) const fn is_listed_well(self) -> bool {
        self.0 & (Self::TRUSTED.0 | Self::DIRECTORY.0 | Self::RELATED.0 | Self::DESIGNATED.0) != 0
    }
}
