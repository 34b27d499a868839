//! Taint: where content has been. Flags are only ever added.

use std::fmt;

/// A set of taint flags, with the bits of the evidence format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Taint(u32);

/// A text that names no flag.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no taint flag; there are {names}", names = Taint::names().join(", "))]
pub struct UnknownFlag(pub String);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal,)+) => {
        impl Taint {
            $($(#[$doc])* pub const $name: Self = Self(1 << $bit);)+

            /// Sorted by name, which is the order in records.
            const FLAGS: &[(&str, Self)] = &[$((stringify!($name), Self::$name)),+];
        }
    };
}

flags! {
    /// Of another session.
    CROSS_SESSION = 4,
    /// Looks like an attempt to give orders.
    INJECTION_SUSPECT = 1,
    /// Came through a proxy.
    PROXY_DERIVED = 2,
    /// May hold a secret.
    SECRET_RISK = 3,
    /// Written by a skill.
    SKILL_OUTPUT = 6,
    /// Written by a tool.
    TOOL_OUTPUT = 5,
    /// Not vouched for by anybody.
    UNTRUSTED = 0,
    /// Came from the web.
    WEB_DERIVED = 7,
}

impl Taint {
    /// No taint.
    pub const NONE: Self = Self(0);

    /// Everything in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Is all of `other` in it?
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set with these bits; none if one of them is no flag.
    #[must_use]
    pub fn from_bits(bits: u32) -> Option<Self> {
        let known = Self::FLAGS.iter().fold(0, |sum, (_, flag)| sum | flag.0);
        (bits & !known == 0).then_some(Self(bits))
    }

    /// The flag with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn parse(name: &str) -> Result<Self, UnknownFlag> {
        let flag = Self::FLAGS.iter().find(|(it, _)| *it == name);
        flag.map(|(_, flag)| *flag).ok_or_else(|| UnknownFlag(name.to_owned()))
    }

    /// The names of the flags that are set, sorted.
    pub fn iter_names(self) -> impl Iterator<Item = &'static str> {
        Self::FLAGS.iter().filter(move |(_, flag)| self.contains(*flag)).map(|(name, _)| *name)
    }

    /// The names of all flags, sorted.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        Self::FLAGS.iter().map(|(name, _)| *name).collect()
    }
}

impl fmt::Display for Taint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.iter_names().collect::<Vec<_>>().join("|"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_listed_sorted_and_read_back() {
        assert!(Taint::names().is_sorted());
        assert_eq!(Taint::names().len(), 8);
        let all = Taint::names()
            .iter()
            .fold(Taint::NONE, |sum, name| sum.union(Taint::parse(name).unwrap()));
        assert_eq!(all.bits(), 255);
        assert_eq!(Taint::from_bits(255), Some(all));
        assert_eq!(Taint::from_bits(256), None);
        assert_eq!(Taint::UNTRUSTED.union(Taint::WEB_DERIVED).to_string(), "UNTRUSTED|WEB_DERIVED");
        assert!(Taint::parse("untrusted").is_err());
    }
}
