//! What doors of the host do that no tool of the agent is: what tool servers list, tell and ask, and what people change.
//!
//! INVARIANT (EverythingIsAnEffect): each is judged as a call is, by its own kind.

use crate::effect::ToolCall;
use crate::kind::EffectKind;
use crate::source::Source;

/// What a door does.
#[derive(Clone, Debug, PartialEq)]
pub struct HostDeed {
    /// What it is.
    pub kind: HostKind,
    /// Who is behind it, as the host knows; nobody but the agent itself without one.
    pub by: Option<Source>,
    /// The same as a call: who it is about, and with what.
    pub call: ToolCall,
}

macro_rules! host_kinds {
    ($($(#[doc = $about:literal])+ $variant:ident => $effect:ident,)+) => {
        /// A deed of a door.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum HostKind { $($(#[doc = $about])+ $variant),+ }

        impl HostKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its kind, by which policy knows it.
            #[must_use]
            pub const fn effect(self) -> EffectKind {
                match self { $(Self::$variant => EffectKind::$effect),+ }
            }
        }
    };
}

host_kinds! {
    /// The gateway shows the agent a server's list of tools.
    ToolsList => ToolsList,
    /// The gateway reads a resource of a server.
    ResourceRead => ResourceRead,
    /// The gateway takes a prompt from a server.
    PromptGet => PromptGet,
    /// A server asks the client's model.
    Sampling => Sampling,
    /// A server asks the person.
    Elicitation => Elicitation,
    /// A server asks which folders are open.
    RootsList => RootsList,
    /// A server tells the client something that nobody asked for.
    Notification => Notification,
    /// A person installs a skill.
    SkillInstall => SkillInstall,
    /// A person changes settings that guard.
    ControlPlaneChange => ControlPlaneChange,
}

impl HostKind {
    /// Is it the agent's own call, of what a server offers beside tools?
    #[must_use]
    pub const fn is_read_of_server(self) -> bool {
        match self {
            Self::ResourceRead | Self::PromptGet => true,
            Self::ToolsList
            | Self::Sampling
            | Self::Elicitation
            | Self::RootsList
            | Self::Notification
            | Self::SkillInstall
            | Self::ControlPlaneChange => false,
        }
    }

    /// Does it bring words of a server before the model or the person?
    #[must_use]
    pub const fn speaks(self) -> bool {
        match self {
            Self::Sampling | Self::Elicitation | Self::Notification => true,
            Self::ToolsList
            | Self::ResourceRead
            | Self::PromptGet
            | Self::RootsList
            | Self::SkillInstall
            | Self::ControlPlaneChange => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ipc::ActionName;

    use super::*;

    /// Who makes an effect of a kind.
    enum Made {
        Action,
        Tool,
        Message,
        Door(HostKind),
    }

    /// A kind that nobody makes would be a rule that never counts. A new one has to be put here, with who makes it; that each
    /// of these doors does is shown in `cli/tests/mcp_effects.rs`.
    fn made(kind: EffectKind) -> Made {
        use EffectKind as K;
        match kind {
            K::MessageIn => Made::Message,
            K::ToolRead | K::ToolWrite | K::ToolSend | K::ToolDestroy => Made::Tool,
            K::ToolsList => Made::Door(HostKind::ToolsList),
            K::ResourceRead => Made::Door(HostKind::ResourceRead),
            K::PromptGet => Made::Door(HostKind::PromptGet),
            K::Sampling => Made::Door(HostKind::Sampling),
            K::Elicitation => Made::Door(HostKind::Elicitation),
            K::RootsList => Made::Door(HostKind::RootsList),
            K::Notification => Made::Door(HostKind::Notification),
            K::SkillInstall => Made::Door(HostKind::SkillInstall),
            K::ControlPlaneChange => Made::Door(HostKind::ControlPlaneChange),
            K::LlmCall
            | K::MemoryWrite
            | K::MemoryQuery
            | K::MemoryRead
            | K::MemoryDelete
            | K::MemoryList
            | K::WebFetch
            | K::WebSearch
            | K::BrowserLaunch
            | K::BrowserNavigate
            | K::BrowserSnapshot
            | K::BrowserClick
            | K::BrowserType
            | K::BrowserScreenshot
            | K::BrowserClose
            | K::SkillPropose
            | K::SkillRead
            | K::SkillList
            | K::OauthCall
            | K::SchedulerList
            | K::SchedulerAdd
            | K::SchedulerRemove
            | K::AuditQuery
            | K::ShellExec
            | K::FileRead
            | K::FileWrite
            | K::AgentDelegate
            | K::AgentCollect
            | K::ModelQuery
            | K::TaskList
            | K::TaskWrite
            | K::ScratchRead
            | K::ScratchWrite
            | K::Introspect
            | K::MessageOut => Made::Action,
        }
    }

    #[test]
    fn every_kind_has_somebody_who_makes_it() {
        for kind in EffectKind::ALL {
            match made(*kind) {
                Made::Action => {
                    let is_made = ActionName::ALL.iter().any(|it| it.kind() == *kind);
                    assert!(is_made, "{}: no action is of this kind", kind.as_str());
                }
                Made::Door(door) => assert_eq!(door.effect(), *kind),
                Made::Tool | Made::Message => {}
            }
        }
        for door in HostKind::ALL {
            assert!(matches!(made(door.effect()), Made::Door(it) if it == *door), "{door:?}");
        }
    }
}
