//! What a call touches that is not like the rest of the world.

use std::fmt;

/// A class of things that rules single out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Settings, identity, tools, skills or policy of an agent or of the host.
    ControlPlane,
    /// A memory file that every later session reads: `MEMORY.md`, `AGENTS.md` and the like.
    DurableMemory,
    /// A file that holds secrets: keys, tokens, credentials.
    SecretFile,
    /// A file beside secrets: `known_hosts`, `.npmrc`.
    SensitiveFile,
    /// A host that serves to carry data off.
    BlockedDomain,
    /// A host that tunnels to somebody's machine.
    TunnelDomain,
    /// A host that is not on the list of allowed ones, where there is a list.
    UnlistedDomain,
    /// An address of the inner network or of this machine.
    PrivateAddress,
    /// More is sent than an outsider may send at once.
    Oversized,
    /// An address that looks as if it carried data off.
    Exfiltration,
    /// The agent's instructions: an answer that gives them away, or questions that press for them.
    SystemPrompt,
    /// A key, a token or a password in an answer.
    Secret,
}

impl Target {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::ControlPlane,
        Self::DurableMemory,
        Self::SecretFile,
        Self::SensitiveFile,
        Self::BlockedDomain,
        Self::TunnelDomain,
        Self::UnlistedDomain,
        Self::PrivateAddress,
        Self::Oversized,
        Self::Exfiltration,
        Self::SystemPrompt,
        Self::Secret,
    ];

    /// The name in policies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ControlPlane => "control_plane",
            Self::DurableMemory => "durable_memory",
            Self::SecretFile => "secret_file",
            Self::SensitiveFile => "sensitive_file",
            Self::BlockedDomain => "blocked_domain",
            Self::TunnelDomain => "tunnel_domain",
            Self::UnlistedDomain => "unlisted_domain",
            Self::PrivateAddress => "private_address",
            Self::Oversized => "oversized",
            Self::Exfiltration => "exfiltration",
            Self::SystemPrompt => "system_prompt",
            Self::Secret => "secret",
        }
    }

    /// The class with exactly this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == name)
    }

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// A set of classes: one call may touch several.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Targets(u16);

impl Targets {
    /// Nothing that rules single out.
    pub const NONE: Self = Self(0);

    /// With `target` added.
    #[must_use]
    pub const fn with(self, target: Target) -> Self {
        Self(self.0 | target.bit())
    }

    /// With `target` taken away.
    #[must_use]
    pub const fn without(self, target: Target) -> Self {
        Self(self.0 & !target.bit())
    }

    /// Everything in either.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Is `target` in it?
    #[must_use]
    pub const fn contains(self, target: Target) -> bool {
        self.0 & target.bit() != 0
    }

    /// The classes in it.
    pub fn iter(self) -> impl Iterator<Item = Target> {
        Target::ALL.iter().copied().filter(move |it| self.contains(*it))
    }

    pub(crate) fn bits(self) -> usize {
        usize::from(self.0)
    }
}

impl From<Target> for Targets {
    fn from(target: Target) -> Self {
        Self::NONE.with(target)
    }
}

impl FromIterator<Target> for Targets {
    fn from_iter<I: IntoIterator<Item = Target>>(targets: I) -> Self {
        targets.into_iter().fold(Self::NONE, Self::with)
    }
}

impl fmt::Debug for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_read_back_and_fill_the_bits() {
        for target in Target::ALL {
            assert_eq!(Target::parse(target.as_str()), Some(*target));
        }
        let all: Targets = Target::ALL.iter().copied().collect();
        assert_eq!(all.bits() + 1, 1 << Target::ALL.len());
    }
}
