//! Where content came from, as the host knows it.

use std::fmt;

use crate::Taint;

/// The door by which content entered a session. The host sets it; no message can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The session's own user, typing.
    User,
    /// The operator: system prompt, agent manifest.
    System,
    /// What the agent itself wrote. Never clean credit: it may repeat anything.
    Agent,
    /// A page, a search result.
    Web,
    /// What a tool gave back.
    Tool,
    /// A message that somebody sent to the user.
    Email,
    /// A memory row, read back.
    Memory,
    /// A file of the workspace.
    File,
    /// Somebody else on a shared channel.
    Channel,
    /// Text of a skill.
    Skill,
}

/// A text that names no source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no source; there are {names}", names = Source::ALL.map(Source::as_str).join(", "))]
pub struct UnknownSource(pub String);

impl Source {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::User,
        Self::System,
        Self::Agent,
        Self::Web,
        Self::Tool,
        Self::Email,
        Self::Memory,
        Self::File,
        Self::Channel,
        Self::Skill,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::System => "system",
            Self::Agent => "agent",
            Self::Web => "web",
            Self::Tool => "tool",
            Self::Email => "email",
            Self::Memory => "memory",
            Self::File => "file",
            Self::Channel => "channel",
            Self::Skill => "skill",
        }
    }

    /// The source with exactly this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn parse(text: &str) -> Result<Self, UnknownSource> {
        let found = Self::ALL.into_iter().find(|it| it.as_str() == text);
        found.ok_or_else(|| UnknownSource(text.escape_debug().to_string()))
    }

    /// Does a person or the operator of this session vouch for it?
    #[must_use]
    pub const fn is_vouched_for(self) -> bool {
        match self {
            Self::User | Self::System => true,
            Self::Agent
            | Self::Web
            | Self::Tool
            | Self::Email
            | Self::Memory
            | Self::File
            | Self::Channel
            | Self::Skill => false,
        }
    }

    /// The flags that content of this source carries when nothing better is known of it.
    #[must_use]
    pub const fn taint(self) -> Taint {
        match self {
            Self::User | Self::System | Self::Agent => Taint::NONE,
            Self::Web => Taint::UNTRUSTED.union(Taint::WEB_DERIVED),
            Self::Tool => Taint::UNTRUSTED.union(Taint::TOOL_OUTPUT),
            Self::Email | Self::Channel | Self::File => Taint::UNTRUSTED,
            Self::Memory => Taint::CROSS_SESSION,
            Self::Skill => Taint::UNTRUSTED.union(Taint::SKILL_OUTPUT),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_read_back_and_only_people_are_clean() {
        for source in Source::ALL {
            assert_eq!(Source::parse(source.as_str()), Ok(source));
            if source.is_vouched_for() {
                assert_eq!(source.taint(), Taint::NONE);
            }
        }
        assert!(Source::parse("USER").is_err());
    }
}
