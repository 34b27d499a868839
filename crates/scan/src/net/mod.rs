//! Where an address on the web leads to: judged from its text and from addresses, without asking anybody.
//!
//! INVARIANT (GlobalOnly): what passes here is a name or a global unicast address. A name passes only as
//! far as its text goes: whoever dials it vets every address that it resolves to with [`vet_all`].
//!
//! INVARIANT (OneReading): a text that two readers could take for two hosts is refused, not guessed at.

mod domains;
mod embedded;
mod names;
mod ranges;
mod target;

pub use domains::{DomainError, Domains};
pub use ranges::{vet, vet_all};
pub use target::{Host, Scheme, Target, URL_BYTES_MAX};

/// Why an address is out of reach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// The row of the table or the rule of spelling, `net-…`.
    pub rule: &'static str,
    /// In one sentence, with the address where there is one.
    pub reason: String,
}

impl Refused {
    pub(crate) fn new(rule: &'static str, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into() }
    }
}
