//! The kinds of effect: the actions of the policy. One row for each, and everything that depends on the kind alone
//! derives from it. Closed on purpose: a row that lacks a column does not compile.

use crate::domain::Domain;
use crate::group::Group;

/// What a kind means for calls that come later in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// Nothing by itself: its arguments may say more.
    None,
    /// Something leaves.
    Egress,
    /// The session may do more afterwards than before.
    ScopeChange,
}

/// As what it stands in the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// A call of a tool.
    ToolCall,
    /// A change of the memory.
    MemoryChange,
    /// A change of what an agent is.
    ControlPlaneChange,
    /// A file that is read.
    FileRead,
    /// A file that is written.
    FileWrite,
    /// A message.
    Message,
}

/// Does it only look, at things of the user's own?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Looks,
    Acts,
}

/// Is a tool called at all? Messages and the agent's own thinking are no tools.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Call,
    NoCall,
}

/// What becomes of it in a session that is full of outside content, unless the operator says otherwise: it stops where
/// a misled agent could do most harm, by acting in the user's name, changing itself for good, acting later or
/// elsewhere, running commands. Writing memory and files passes, because what is written there carries its label.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Budget {
    Stops,
    Passes,
}

struct Row {
    name: &'static str,
    about: &'static str,
    domain: &'static [Domain],
    groups: &'static [Group],
    risk: Risk,
    does: Does,
    form: Form,
    budget: Budget,
    recorded: Recorded,
    said: &'static [&'static str],
}

macro_rules! kinds {
    ($(
        $variant:ident $name:ident $about:literal:
            domain [$($domain:ident)?], groups [$($group:ident)*], risk $risk:ident, $does:ident, $form:ident,
            budget $budget:ident, record $recorded:ident, said [$($said:literal)*];
    )+) => {
        /// The kinds of effect: the actions of the policy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EffectKind {
            $(#[doc = $about] $variant,)+
        }

        impl EffectKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$variant => &Row {
                        name: stringify!($name),
                        about: $about,
                        domain: &[$(Domain::$domain)?],
                        groups: &[$(Group::$group),*],
                        risk: Risk::$risk,
                        does: Does::$does,
                        form: Form::$form,
                        budget: Budget::$budget,
                        recorded: Recorded::$recorded,
                        said: &[$($said),*],
                    },)+
                }
            }

            /// The kind with exactly this name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name { $(stringify!($name) => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

// A line for what it is; a line for what the policy and the risk of a session take it for; a line for what becomes of
// it among outside content, in the evidence, and by which words people call it beside those of its name.
kinds! {
    LlmCall llm_call "ask a language model":
        domain [], groups [Outward], risk None, Looks, NoCall,
        budget Passes, record ToolCall, said [];
    MemoryWrite memory_write "remember something":
        domain [Memory], groups [Changing], risk None, Acts, Call,
        budget Passes, record MemoryChange, said [];
    MemoryQuery memory_query "search the memory":
        domain [Memory], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    MemoryRead memory_read "read one memory entry":
        domain [Memory], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    MemoryDelete memory_delete "forget one memory entry":
        domain [Memory], groups [Changing], risk None, Acts, Call,
        budget Passes, record MemoryChange, said [];
    MemoryList memory_list "list memory entries":
        domain [Memory], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    WebFetch web_fetch "fetch a page":
        domain [Web], groups [Outward Web], risk Egress, Acts, Call,
        budget Passes, record ToolCall, said [];
    WebSearch web_search "search the web":
        domain [Web], groups [Outward Web], risk Egress, Acts, Call,
        budget Passes, record ToolCall, said [];
    BrowserLaunch browser_launch "start a browser":
        domain [Web], groups [Web], risk None, Acts, Call,
        budget Passes, record ToolCall, said [];
    BrowserNavigate browser_navigate "go to a page":
        domain [Web], groups [Sensitive Outward Web], risk Egress, Acts, Call,
        budget Stops, record ToolCall, said ["link" "open" "page" "site" "url" "visit" "website"];
    BrowserSnapshot browser_snapshot "describe the page as text":
        domain [Web], groups [Web], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    BrowserClick browser_click "click on an element":
        domain [Web], groups [Changing Outward Web], risk Egress, Acts, Call,
        budget Stops, record ToolCall, said ["button" "link" "page"];
    BrowserType browser_type "type text into an element":
        domain [Web], groups [Sensitive Changing Outward Web], risk Egress, Acts, Call,
        budget Stops, record ToolCall, said ["field" "fill" "form" "text"];
    BrowserScreenshot browser_screenshot "take a picture of the page":
        domain [Web], groups [Web], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    BrowserClose browser_close "end a browser's session":
        domain [Web], groups [Web], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    SkillPropose skill_propose "propose a skill, new or changed":
        domain [Introspection], groups [Sensitive Changing], risk None, Acts, Call,
        budget Stops, record ControlPlaneChange, said ["proposal"];
    SkillRead skill_read "read a skill":
        domain [Introspection], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    SkillList skill_list "list the skills":
        domain [Introspection], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    SkillInstall skill_install "install a skill":
        domain [Introspection], groups [Sensitive ControlPlane Changing], risk ScopeChange, Acts, Call,
        budget Stops, record ControlPlaneChange, said [];
    OauthCall oauth_call "call a service in the user's name":
        domain [], groups [Sensitive Changing Outward], risk Egress, Acts, Call,
        budget Stops, record ToolCall, said ["api" "email" "mail" "make" "message" "post" "reply" "request" "send"];
    SchedulerList scheduler_list "look at scheduled jobs":
        domain [Tasks], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    SchedulerAdd scheduler_add_cron "schedule a job":
        domain [Tasks], groups [Sensitive Changing], risk None, Acts, Call,
        budget Stops, record ToolCall, said ["job" "reminder" "schedule" "task"];
    SchedulerRemove scheduler_remove_cron "remove a scheduled job":
        domain [Tasks], groups [Changing], risk None, Acts, Call,
        budget Passes, record ToolCall, said [];
    AuditQuery audit_query "search the evidence":
        domain [Introspection], groups [], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    ToolRead tool_read "call a tool that only looks":
        domain [], groups [Tools Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    ToolWrite tool_write "call a tool that changes something":
        domain [], groups [Changing Tools], risk None, Acts, Call,
        budget Passes, record ToolCall, said [];
    ToolSend tool_send "call a tool that sends something":
        domain [], groups [Changing Outward Tools], risk Egress, Acts, Call,
        budget Passes, record ToolCall, said ["email" "mail" "message"];
    ToolDestroy tool_destroy "call a tool whose effect cannot be undone":
        domain [], groups [Changing Outward Tools], risk None, Acts, Call,
        budget Passes, record ToolCall, said ["delete" "remove"];
    ShellExec shell_exec "run a command":
        domain [Shell], groups [Sensitive Changing Outward], risk None, Acts, Call,
        budget Stops, record ToolCall, said ["command" "execute" "run" "script"];
    FileRead file_read "read a file":
        domain [Workspace], groups [Looking], risk None, Looks, Call,
        budget Passes, record FileRead, said [];
    FileWrite file_write "write a file":
        domain [Workspace], groups [Changing], risk None, Acts, Call,
        budget Passes, record FileWrite, said [];
    ControlPlaneChange control_plane_change "change settings, identity or tools of an agent":
        domain [Introspection], groups [Sensitive ControlPlane Changing], risk ScopeChange, Acts, Call,
        budget Stops, record ControlPlaneChange, said ["apply" "config" "configuration" "setting" "settings"];
    AgentDelegate agent_delegate "let another agent do something":
        domain [A2a], groups [Sensitive Changing Outward], risk None, Acts, Call,
        budget Stops, record ToolCall, said ["task"];
    AgentCollect agent_collect "take what a sub-agent came to":
        domain [A2a], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    ModelQuery model_query "ask a language model one question, without tools":
        domain [Models], groups [Outward], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    TaskList task_list "look at things to do":
        domain [Tasks], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    TaskWrite task_write "change the things to do":
        domain [Tasks], groups [Changing], risk None, Acts, Call,
        budget Passes, record MemoryChange, said [];
    ScratchRead scratch_read "read notes of a session":
        domain [Scratchpad], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    ScratchWrite scratch_write "write notes of a session":
        domain [Scratchpad], groups [Changing], risk None, Acts, Call,
        budget Passes, record MemoryChange, said [];
    Introspect introspect "look at what the agent is":
        domain [Introspection], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    MessageIn message_in "take in a message for the agent":
        domain [], groups [Incoming], risk None, Looks, NoCall,
        budget Passes, record Message, said [];
    MessageOut message_out "let a message of the agent out":
        domain [], groups [Outward], risk None, Looks, NoCall,
        budget Passes, record Message, said [];
    ToolsList tools_list "show the agent a list of tools":
        domain [], groups [Looking], risk None, Looks, NoCall,
        budget Passes, record ToolCall, said [];
    ResourceRead resource_read "read a resource of a tool server":
        domain [], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    PromptGet prompt_get "take a prompt from a tool server":
        domain [], groups [Looking], risk None, Looks, Call,
        budget Passes, record ToolCall, said [];
    Sampling sampling "let a tool server ask the model":
        domain [], groups [Incoming], risk Egress, Acts, NoCall,
        budget Passes, record ToolCall, said [];
    Elicitation elicitation "let a tool server ask the person":
        domain [], groups [Incoming], risk None, Looks, NoCall,
        budget Passes, record ToolCall, said [];
    Notification notification "take in a notice of a tool server":
        domain [], groups [Incoming], risk None, Looks, NoCall,
        budget Passes, record ToolCall, said [];
    RootsList roots_list "tell a tool server which folders are open":
        domain [], groups [Looking], risk None, Looks, NoCall,
        budget Passes, record ToolCall, said [];
}

impl EffectKind {
    /// The name in policies and records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.row().name
    }

    /// What it does, in a few words.
    #[must_use]
    pub const fn about(self) -> &'static str {
        self.row().about
    }

    /// The domain to which it belongs, whatever the tool is called. Calls of other people's tools belong to none, nor
    /// does what is no call of a tool.
    #[must_use]
    pub fn domain(self) -> Option<Domain> {
        self.row().domain.first().copied()
    }

    /// The groups that hold it.
    #[must_use]
    pub const fn groups(self) -> &'static [Group] {
        self.row().groups
    }

    /// What it means for calls that come later.
    #[must_use]
    pub const fn risk(self) -> Risk {
        self.row().risk
    }

    /// Does it only look, at things of the user's own?
    #[must_use]
    pub fn only_looks(self) -> bool {
        self.row().does == Does::Looks
    }

    /// Is a tool called at all? Messages and the agent's own thinking are no tools.
    #[must_use]
    pub fn is_call(self) -> bool {
        self.row().form == Form::Call
    }

    /// Can much content from outside stop it, by default?
    #[must_use]
    pub fn is_budgeted(self) -> bool {
        self.row().budget == Budget::Stops
    }

    /// As what it stands in the evidence.
    #[must_use]
    pub const fn recorded(self) -> Recorded {
        self.row().recorded
    }

    /// The words by which people call it, beside those of its name.
    #[must_use]
    pub const fn said(self) -> &'static [&'static str] {
        self.row().said
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
    fn what_the_table_says_of_a_kind_agrees_with_itself() {
        for kind in EffectKind::ALL {
            let is_in = |group| kind.groups().contains(&group);
            let name = kind.as_str();
            assert!(
                !(is_in(Group::Looking) && is_in(Group::Changing)),
                "{name}: looks and changes"
            );
            assert!(!is_in(Group::Looking) || kind.only_looks(), "{name}: looks, and acts");
            assert!(!(is_in(Group::Changing) && kind.only_looks()), "{name}: changes, and looks");
            assert!(
                !is_in(Group::Sensitive) || kind.is_budgeted(),
                "{name}: sensitive, and passes"
            );
            assert!(!is_in(Group::ControlPlane) || kind.risk() == Risk::ScopeChange, "{name}");
            assert_eq!(is_in(Group::Web), kind.domain() == Some(Domain::Web), "{name}");
            assert!(kind.is_call() || kind.domain().is_none(), "{name}: no call has no domain");
        }
    }
}
