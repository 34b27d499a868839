//! Where an address on the web leads to: judged from its text and from addresses, without asking anybody.
//!
//! INVARIANT (GlobalOnly): what passes here is a name or a global unicast address. A name passes only as
//! far as its text goes: whoever dials it vets every address that it resolves to with [`vet_all`].
//!
//! There are two exceptions, both by the operator's word: [`Target::dangerously_on_this_machine`], for the search engine, and
//! [`Target::within`], for the hosts of the inner network that the settings open.
//!
//! INVARIANT (OneReading): a text that two readers could take for two hosts is refused, not guessed at.

mod alphabets;
mod coded;
mod domains;
mod embedded;
mod encoded;
mod exfiltration;
pub mod fuzzing;
mod inner;
mod lists;
mod names;
mod prefix;
mod ranges;
mod rule;
mod signed;
mod spelling;
mod target;
mod wildcard;
mod words;

pub use domains::{DomainError, Domains};
pub use exfiltration::{Suspicion, exfiltration};
pub use inner::{INNER_HOSTS_MAX, Inner, InnerError, InnerHost, PREFIXES_PER_HOST_MAX};
pub use lists::{CARRIERS, TUNNELS, blocked, is_carrier, is_tunnel};
pub use names::{is_metadata, leads_inside};
pub use prefix::{Prefix, PrefixError, V4_PREFIX_BITS_MIN, V6_PREFIX_BITS_MIN};
pub use ranges::{Range, RangeKind, ranges, vet, vet_all};
pub use rule::Rule;
pub use spelling::{address, seen_host};
pub use target::{Host, Scheme, Target, URL_BYTES_MAX};

/// Why an address is out of reach.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refused {
    /// The row of the table or the rule of spelling, `net-…`: one of [`RULES`] or of [`ranges`].
    pub rule: Rule,
    /// In one sentence, with the address where there is one.
    pub reason: String,
}

impl Refused {
    pub(crate) fn new(rule: Rule, reason: impl Into<String>) -> Self {
        Self { rule, reason: reason.into() }
    }
}

/// Every rule that is not a row of the table of ranges, and what it is about.
#[rustfmt::skip]
pub const RULES: &[(Rule, &str)] = &[
    (Rule::NotAUrl, "not a URL, or not a whole one"),
    (Rule::TooLong, "longer than a URL may be"),
    (Rule::Scheme, "neither http nor https"),
    (Rule::Spelling, "two readers could take it for two hosts"),
    (Rule::Userinfo, "a user name or a password before the host"),
    (Rule::NoHost, "no host"),
    (Rule::Port, "port 0, or none that there is"),
    (Rule::Downgrade, "a redirect from https to http"),
    (Rule::ExoticAddress, "a public address in an unusual spelling"),
    (Rule::Name, "a host that is no name"),
    (Rule::NameMetadata, "names of the places where clouds keep credentials"),
    (Rule::NameSingle, "a name without a domain"),
    (Rule::NameInside, "domains of inner networks"),
    (Rule::NameLeadsInside, "public names that are made to lead inside"),
    (Rule::NoAddress, "a name without addresses"),
    (Rule::BadAddress, "an answer that is no address"),
    (Rule::NoLookup, "a name that could not be looked up"),
    (Rule::BlockedDomain, "services that show anybody what was sent to them"),
    (Rule::NotAllowed, "not on the list of what is allowed"),
    (Rule::BadList, "a list of what is allowed that cannot be read"),
    (Rule::ExfilHost, "pastes, drops and hooks that anybody can read"),
    (Rule::ExfilTunnel, "tunnels to somebody's own machine"),
    (Rule::ExfilQuery, "encoded data in the query"),
    (Rule::ExfilPath, "encoded data in the path"),
    (Rule::ExfilDns, "encoded data in the name"),
    (Rule::ExfilLong, "far more text than an address needs"),
];
