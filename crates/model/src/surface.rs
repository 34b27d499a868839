//! Surfaces: the names under which others describe what is guarded. Records carry them, so that whoever looks for one finds it.

use crate::EffectKind;
use crate::domain::Domain;
use crate::group::Group;
use crate::kind::{Recorded, Risk};

/// Where an effect touches what is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// What an agent is: settings, identity, tools, skills.
    ControlPlane,
    /// What outlives a session.
    DurableMemory,
    /// What is said.
    ConversationIo,
    /// Files.
    FileSystem,
    /// The network.
    NetworkIo,
}

impl Surface {
    /// The name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ControlPlane => "ControlPlane",
            Self::DurableMemory => "DurableMemory",
            Self::ConversationIo => "ConversationIO",
            Self::FileSystem => "FileSystem",
            Self::NetworkIo => "NetworkIO",
        }
    }
}

impl EffectKind {
    /// The surface that it touches; none for calls of which the kind alone does not say it.
    #[must_use]
    pub fn surface(self) -> Option<Surface> {
        match self.recorded() {
            Recorded::ControlPlaneChange => return Some(Surface::ControlPlane),
            Recorded::MemoryChange => return Some(Surface::DurableMemory),
            Recorded::Message => return Some(Surface::ConversationIo),
            Recorded::FileRead | Recorded::FileWrite => return Some(Surface::FileSystem),
            Recorded::ToolCall => {}
        }
        let leaves = self.is_call() && self.risk() == Risk::Egress;
        match self.domain() {
            Some(Domain::Memory | Domain::Scratchpad) => Some(Surface::DurableMemory),
            // What a command sends passes the proxy, which has records of its own.
            Some(Domain::Shell) => Some(Surface::FileSystem),
            Some(Domain::Models) => Some(Surface::NetworkIo),
            _ if self == Self::LlmCall || leaves => Some(Surface::NetworkIo),
            _ if self.groups().contains(&Group::Web) => Some(Surface::NetworkIo),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effects_are_found_by_the_surface_that_others_put_them_on() {
        for (name, surface) in [
            ("control_plane_change", "ControlPlane"),
            ("skill_install", "ControlPlane"),
            ("memory_write", "DurableMemory"),
            ("memory_query", "DurableMemory"),
            ("message_out", "ConversationIO"),
            ("file_read", "FileSystem"),
            ("shell_exec", "FileSystem"),
            ("web_fetch", "NetworkIO"),
            ("browser_snapshot", "NetworkIO"),
            ("oauth_call", "NetworkIO"),
            ("tool_send", "NetworkIO"),
            ("llm_call", "NetworkIO"),
        ] {
            let kind = EffectKind::parse(name).unwrap();
            assert_eq!(kind.surface().map(Surface::as_str), Some(surface), "{name}");
        }
        for name in ["tool_read", "sampling", "scheduler_add_cron", "agent_delegate"] {
            assert_eq!(EffectKind::parse(name).unwrap().surface(), None, "{name}");
        }
    }
}
