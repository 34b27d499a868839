//! Where an address on the web leads to: judged from its text and from addresses, without asking anybody.
//!
//! INVARIANT (GlobalOnly): what passes here is a name or a global unicast address. A name passes only as
//! far as its text goes: whoever dials it vets every address that it resolves to with [`vet_all`].
//!
//! The one exception has an ugly name: [`Target::dangerously_on_this_machine`], for what the operator writes.
//!
//! INVARIANT (OneReading): a text that two readers could take for two hosts is refused, not guessed at.

mod alphabets;
mod coded;
mod domains;
mod embedded;
mod encoded;
mod exfiltration;
pub mod fuzzing;
mod lists;
mod names;
mod ranges;
mod signed;
mod spelling;
mod target;
mod wildcard;
mod words;

pub use domains::{DomainError, Domains};
pub use exfiltration::{Suspicion, exfiltration};
pub use lists::{CARRIERS, TUNNELS, blocked, is_carrier, is_tunnel};
pub use names::{is_metadata, leads_inside};
pub use ranges::{Range, RangeKind, ranges, vet, vet_all};
pub use spelling::{address, seen_host};
pub use target::{Host, Scheme, Target, URL_BYTES_MAX};

/// Why an address is out of reach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// The row of the table or the rule of spelling, `net-…`: one of [`RULES`] or of [`ranges`].
    pub rule: &'static str,
    /// In one sentence, with the address where there is one.
    pub reason: String,
}

impl Refused {
    pub(crate) fn new(rule: &'static str, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into() }
    }
}

/// Every rule that is not a row of the table of ranges, and what it is about.
#[rustfmt::skip]
pub const RULES: &[(&str, &str)] = &[
    ("net-not-a-url", "not a URL, or not a whole one"),
    ("net-too-long", "longer than a URL may be"),
    ("net-scheme", "neither http nor https"),
    ("net-spelling", "two readers could take it for two hosts"),
    ("net-userinfo", "a user name or a password before the host"),
    ("net-no-host", "no host"),
    ("net-port", "port 0, or none that there is"),
    ("net-downgrade", "a redirect from https to http"),
    ("net-exotic-address", "a public address in an unusual spelling"),
    ("net-name", "a host that is no name"),
    ("net-name-metadata", "names of the places where clouds keep credentials"),
    ("net-name-single", "a name without a domain"),
    ("net-name-inside", "domains of inner networks"),
    ("net-name-leads-inside", "public names that are made to lead inside"),
    ("net-no-address", "a name without addresses"),
    ("net-bad-address", "an answer that is no address"),
    ("net-no-lookup", "a name that could not be looked up"),
    ("net-blocked-domain", "services that show anybody what was sent to them"),
    ("net-not-allowed", "not on the list of what is allowed"),
    ("net-bad-list", "a list of what is allowed that cannot be read"),
    ("net-exfil-host", "pastes, drops and hooks that anybody can read"),
    ("net-exfil-tunnel", "tunnels to somebody's own machine"),
    ("net-exfil-query", "encoded data in the query"),
    ("net-exfil-path", "encoded data in the path"),
    ("net-exfil-dns", "encoded data in the name"),
    ("net-exfil-long", "far more text than an address needs"),
];
