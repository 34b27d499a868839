//! The hosts whose hooks are spoken.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A coding agent that runs hooks. In files it stands by its [name](Self::as_str).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Host {
    /// Claude Code.
    Claude,
    /// OpenAI's Codex CLI.
    Codex,
    /// Cursor.
    Cursor,
    /// Google's Gemini CLI.
    Gemini,
    /// GitHub's Copilot CLI.
    Copilot,
    /// OpenCode, through a plugin of ours.
    OpenCode,
}

impl Host {
    /// Every host, in the order of the documentation.
    pub const ALL: [Host; 6] =
        [Self::Claude, Self::Codex, Self::Cursor, Self::Gemini, Self::Copilot, Self::OpenCode];

    /// Reads the name by which `lazaret-hook` is told its host.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// Returns the name by which `lazaret-hook` is told its host.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Copilot => "copilot",
            Self::OpenCode => "opencode",
        }
    }

    /// Returns the name by which people know it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::OpenCode => "OpenCode",
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_host_has_one_name_everywhere() {
        for host in Host::ALL {
            assert_eq!(Host::parse(host.as_str()), Some(host));
            assert_eq!(host.to_string(), host.as_str());
            let written = serde_json::to_value(host).unwrap();
            assert_eq!(written, host.as_str());
            assert_eq!(serde_json::from_value::<Host>(written).unwrap(), host);
        }
        assert_eq!(Host::parse("Claude"), None);
    }
}
