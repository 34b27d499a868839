//! What a call would do to the world. Closed on purpose: a new effect must break every `match`.

use std::sync::Arc;

use crate::call::Call;
use crate::flow::{Flow, Reach};
use crate::host_deed::HostDeed;
use crate::ipc::{Action, ActionName};
use crate::kind::EffectKind;
use crate::source::Source;

/// What a call would do, with everything that the doing needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// One of the host's own actions.
    Action(Box<Action>),
    /// A tool of somebody else.
    Tool(ToolCall),
    /// A message to the agent is taken in.
    Message(Message),
    /// Something that a door of the host does, and no tool of the agent.
    Host(HostDeed),
}

/// A message of the conversation that reaches the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whose words they are, as the host knows it.
    pub source: Source,
    /// The words.
    pub text: Arc<str>,
}

impl Message {
    /// A message, if whoever speaks takes part in the conversation. Pages, files, mails and what tools give back are
    /// content: nobody speaks to the agent by them.
    #[must_use]
    pub fn of(source: Source, text: &str) -> Option<Self> {
        match source {
            Source::User | Source::System | Source::Channel => {
                Some(Self { source, text: text.into() })
            }
            Source::Agent
            | Source::Web
            | Source::Tool
            | Source::Email
            | Source::Memory
            | Source::File
            | Source::Skill => None,
        }
    }
}

/// A call of a tool and what is known of the tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The call.
    pub call: Call,
    /// The tool's flow type.
    pub flow: Arc<Flow>,
}

impl Effect {
    /// Its kind, by which policy knows it.
    #[must_use]
    pub fn kind(&self) -> EffectKind {
        match self {
            Self::Action(action) => action.name().kind(),
            Self::Tool(tool) => EffectKind::of_tool(&tool.flow),
            Self::Message(_) => EffectKind::MessageIn,
            Self::Host(deed) => deed.kind.effect(),
        }
    }
}

impl EffectKind {
    /// The kind of a tool's call, by what the tool does.
    #[must_use]
    pub fn of_tool(flow: &Flow) -> Self {
        match (flow.destructive, flow.reach) {
            (true, Reach::Write | Reach::Send) => Self::ToolDestroy,
            (_, Reach::Send) => Self::ToolSend,
            (false, Reach::Write) => Self::ToolWrite,
            // A tool that is said to read and to destroy is not believed the first.
            (true, Reach::Read) => Self::ToolDestroy,
            (false, Reach::Read) if flow.egress => Self::ToolSend,
            (false, Reach::Read) => Self::ToolRead,
        }
    }
}

impl From<ActionName> for EffectKind {
    fn from(name: ActionName) -> Self {
        name.kind()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_known_is_the_worst_kind() {
        assert_eq!(EffectKind::of_tool(&Flow::unknown()), EffectKind::ToolDestroy);
    }
}
