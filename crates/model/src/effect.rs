//! What a call would do to the world. Closed on purpose: a new effect must break every `match`.

use std::sync::Arc;

use crate::call::Call;
use crate::flow::{Flow, Reach};
use crate::ipc::{Action, ActionName};

/// What a call would do, with everything that the doing needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// One of the host's own actions.
    Action(Box<Action>),
    /// A tool of somebody else.
    Tool(ToolCall),
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
            Self::Action(action) => action.name().into(),
            Self::Tool(tool) => EffectKind::of_tool(&tool.flow),
        }
    }
}

macro_rules! kinds {
    ($($variant:ident $name:ident $about:literal,)+) => {
        /// The kinds of effect: the actions of the policy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EffectKind {
            $(#[doc = $about] $variant,)+
        }

        impl EffectKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name in policies and records.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($name)),+ }
            }

            /// What it does, in a few words.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Self::$variant => $about),+ }
            }

            /// The kind with exactly this name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name { $(stringify!($name) => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

kinds! {
    LlmCall llm_call "ask a language model",
    MemoryWrite memory_write "remember something",
    MemoryQuery memory_query "search the memory",
    MemoryRead memory_read "read one memory entry",
    MemoryDelete memory_delete "forget one memory entry",
    MemoryList memory_list "list memory entries",
    WebFetch web_fetch "fetch a page",
    WebSearch web_search "search the web",
    BrowserLaunch browser_launch "start a browser",
    BrowserNavigate browser_navigate "go to a page",
    BrowserSnapshot browser_snapshot "describe the page as text",
    BrowserClick browser_click "click on an element",
    BrowserType browser_type "type text into an element",
    BrowserScreenshot browser_screenshot "take a picture of the page",
    BrowserClose browser_close "end a browser's session",
    SkillPropose skill_propose "propose a skill, new or changed",
    SkillRead skill_read "read a skill",
    SkillList skill_list "list the skills",
    SkillInstall skill_install "install a skill",
    OauthCall oauth_call "call a service in the user's name",
    SchedulerList scheduler_list "look at scheduled jobs",
    SchedulerAdd scheduler_add_cron "schedule a job",
    SchedulerRemove scheduler_remove_cron "remove a scheduled job",
    AuditQuery audit_query "search the evidence",
    ToolRead tool_read "call a tool that only looks",
    ToolWrite tool_write "call a tool that changes something",
    ToolSend tool_send "call a tool that sends something",
    ToolDestroy tool_destroy "call a tool whose effect cannot be undone",
    ShellExec shell_exec "run a command",
    FileRead file_read "read a file",
    FileWrite file_write "write a file",
    ControlPlaneChange control_plane_change "change settings, identity or tools of an agent",
    AgentDelegate agent_delegate "let another agent do something",
    MessageIn message_in "take in a message for the agent",
    MessageOut message_out "let a message of the agent out",
    ToolsList tools_list "show the agent a list of tools",
    ResourceRead resource_read "read a resource of a tool server",
    PromptGet prompt_get "take a prompt from a tool server",
    Sampling sampling "let a tool server ask the model",
    Elicitation elicitation "let a tool server ask the person",
    Notification notification "take in a notice of a tool server",
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
        match name {
            ActionName::LlmCall => Self::LlmCall,
            ActionName::MemoryWrite => Self::MemoryWrite,
            ActionName::MemoryQuery => Self::MemoryQuery,
            ActionName::MemoryRead => Self::MemoryRead,
            ActionName::MemoryDelete => Self::MemoryDelete,
            ActionName::MemoryList => Self::MemoryList,
            ActionName::WebFetch => Self::WebFetch,
            ActionName::WebSearch => Self::WebSearch,
            ActionName::BrowserLaunch => Self::BrowserLaunch,
            ActionName::BrowserNavigate => Self::BrowserNavigate,
            ActionName::BrowserSnapshot => Self::BrowserSnapshot,
            ActionName::BrowserClick => Self::BrowserClick,
            ActionName::BrowserType => Self::BrowserType,
            ActionName::BrowserScreenshot => Self::BrowserScreenshot,
            ActionName::BrowserClose => Self::BrowserClose,
            ActionName::SkillPropose => Self::SkillPropose,
            ActionName::SkillRead => Self::SkillRead,
            ActionName::SkillList => Self::SkillList,
            ActionName::OauthCall => Self::OauthCall,
            ActionName::SchedulerListCron
            | ActionName::SchedulerGetHeartbeat
            | ActionName::SchedulerListTriggers => Self::SchedulerList,
            ActionName::SchedulerAddCron | ActionName::SchedulerRunAt => Self::SchedulerAdd,
            ActionName::SchedulerRemoveCron => Self::SchedulerRemove,
            ActionName::AuditQuery => Self::AuditQuery,
            ActionName::FileRead | ActionName::FileList | ActionName::FileSearch => Self::FileRead,
            ActionName::FileWrite | ActionName::FileEdit => Self::FileWrite,
            ActionName::ShellExec => Self::ShellExec,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_back() {
        for kind in EffectKind::ALL {
            assert_eq!(EffectKind::parse(kind.as_str()), Some(*kind));
        }
    }

    #[test]
    fn nothing_known_is_the_worst_kind() {
        assert_eq!(EffectKind::of_tool(&Flow::unknown()), EffectKind::ToolDestroy);
    }
}
