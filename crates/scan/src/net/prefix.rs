//! Ranges of addresses that an operator may open, and those that nobody may.
//!
//! INVARIANT (NeverMetadata): no prefix shares an address with a row of the table that is for credentials of clouds, for the
//! link, for no host or for many, nor with one whose addresses hold others.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::embedded::embedded;
use super::ranges::{self, RangeKind, agree, ranges};
use crate::net::Rule;

/// The shortest prefix of IPv4 that can be opened, in bits.
pub const V4_PREFIX_BITS_MIN: u32 = 16;
/// The shortest prefix of IPv6 that can be opened, in bits.
pub const V6_PREFIX_BITS_MIN: u32 = 48;

/// A range of addresses that may be opened, as `10.1.0.0/16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    base: IpAddr,
    bits: u32,
}

/// Why a range cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrefixError {
    /// It is no range.
    #[error(
        "`{0}` is no range of addresses: write an address, or one with a prefix as `10.1.2.0/24`"
    )]
    NotARange(String),
    /// Bits behind the prefix are set, so that two readers could take it for two ranges.
    #[error(
        "`{written}` has bits behind its prefix: write `{meant}`, or the one address that is meant"
    )]
    BitsBehind {
        /// As it was written.
        written: String,
        /// The range that holds it.
        meant: Prefix,
    },
    /// It is wider than can be meant.
    #[error("`{prefix}` is too wide: a range has at least {bits_min} bits before its end")]
    TooWide {
        /// The range.
        prefix: Prefix,
        /// The shortest prefix.
        bits_min: u32,
    },
    /// Of this machine, and not one address.
    #[error(
        "`{0}` is of this machine: name each address by itself, as `127.0.0.1/32` or `::1/128`"
    )]
    Loopback(Prefix),
    /// It holds addresses that hold others.
    #[error("`{0}` has IPv4 addresses inside IPv6 ones: name the IPv4 address itself")]
    Embedding(Prefix),
    /// It holds addresses that are never opened.
    #[error(
        "`{prefix}` can never be opened: it reaches {row} ({about}); name the addresses that are needed"
    )]
    Never {
        /// The range.
        prefix: Prefix,
        /// The row of the table.
        row: String,
        /// What that is.
        about: &'static str,
    },
}

impl Prefix {
    /// Reads a range, or one address.
    ///
    /// # Errors
    /// If it is none, or none that can be opened.
    pub fn parse(text: &str) -> Result<Self, PrefixError> {
        let wrong = || PrefixError::NotARange(text.chars().take(SHOWN_CHARS_MAX).collect());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let base: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = all_bits(base);
        let bits = match bits {
            None => most,
            Some(bits) => number(bits).filter(|it| *it <= most).ok_or_else(wrong)?,
        };
        let prefix = Self { base: masked(base, bits), bits };
        if prefix.base != base {
            return Err(PrefixError::BitsBehind { written: text.to_owned(), meant: prefix });
        }
        prefix.check()?;
        Ok(prefix)
    }

    /// One address.
    ///
    /// # Errors
    /// If it can never be opened.
    pub fn exactly(address: IpAddr) -> Result<Self, PrefixError> {
        let prefix = Self { base: address, bits: all_bits(address) };
        prefix.check()?;
        Ok(prefix)
    }

    /// Is the address in it? One that holds another address never is, however it is written.
    #[must_use]
    pub fn holds(&self, address: IpAddr) -> bool {
        let hides_another = matches!(address, IpAddr::V6(it) if embedded(it).is_some());
        !hides_another && agree(self.base, address, self.bits)
    }

    fn check(&self) -> Result<(), PrefixError> {
        let is_one = self.bits == all_bits(self.base);
        if is_one && self.base.is_loopback() {
            return Ok(());
        }
        let bits_min = match self.base {
            IpAddr::V4(_) => V4_PREFIX_BITS_MIN,
            IpAddr::V6(_) => V6_PREFIX_BITS_MIN,
        };
        if self.bits < bits_min {
            return Err(PrefixError::TooWide { prefix: *self, bits_min });
        }
        if matches!(self.base, IpAddr::V6(it) if is_one && embedded(it).is_some()) {
            return Err(PrefixError::Embedding(*self));
        }
        let of_base = ranges::row(self.base).filter(|it| it.is_the_rest());
        let others = ranges().filter(|it| !it.is_the_rest() && it.overlaps(self.base, self.bits));
        match of_base.into_iter().chain(others).find(|it| !may_be_opened(it.rule, it.kind)) {
            None => Ok(()),
            Some(row) if matches!(row.rule, Rule::V4Loopback | Rule::V6Loopback) => {
                Err(PrefixError::Loopback(*self))
            }
            Some(row) if EMBEDDING.contains(&row.rule) => Err(PrefixError::Embedding(*self)),
            Some(row) => {
                let (row, about) = (row.to_string(), row.about);
                Err(PrefixError::Never { prefix: *self, row, about })
            }
        }
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

/// How much of a wrong text is shown, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Rows whose addresses hold IPv4 addresses.
const EMBEDDING: &[Rule] = &[
    Rule::V6Mapped,
    Rule::V6Compatible,
    Rule::V6Translated,
    Rule::V6Nat64,
    Rule::V6Nat64Local,
    Rule::V6Teredo,
    Rule::V66to4,
];

/// Rows of inner networks. What is public may stand beside them: a name can have addresses of both kinds.
const OF_INNER_NETWORKS: &[Rule] =
    &[Rule::V4Private, Rule::V4Shared, Rule::V4Benchmark, Rule::V6UniqueLocal];

fn may_be_opened(rule: Rule, kind: RangeKind) -> bool {
    let is_public = kind == RangeKind::Global && !EMBEDDING.contains(&rule);
    is_public || OF_INNER_NETWORKS.contains(&rule)
}

const fn all_bits(address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(_) => Ipv4Addr::BITS,
        IpAddr::V6(_) => Ipv6Addr::BITS,
    }
}

/// A number in its one spelling.
fn number(text: &str) -> Option<u32> {
    let is_plain =
        text.bytes().all(|it| it.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

fn masked(address: IpAddr, bits: u32) -> IpAddr {
    match address {
        IpAddr::V4(it) => {
            let mask = u32::MAX.checked_shl(Ipv4Addr::BITS.saturating_sub(bits)).unwrap_or(0);
            Ipv4Addr::from_bits(it.to_bits() & mask).into()
        }
        IpAddr::V6(it) => {
            let mask = u128::MAX.checked_shl(Ipv6Addr::BITS.saturating_sub(bits)).unwrap_or(0);
            Ipv6Addr::from_bits(it.to_bits() & mask).into()
        }
    }
}
