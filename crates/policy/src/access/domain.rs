//! Domains of tools, as settings, manifests and users name them.

use model::EffectKind;

macro_rules! domains {
    ($($(#[doc = $about:literal])+ $variant:ident $name:literal [$($tool:literal)*],)+) => {
        /// A domain of tools.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Domain { $($(#[doc = $about])+ $variant),+ }

        impl Domain {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The host's own tools in it.
            #[must_use]
            pub const fn tools(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($tool),*]),+ }
            }
        }
    };
}

domains! {
    /// What agents remember.
    Memory "memory" [
        "memory_read" "memory_write" "memory_replace" "memory_insert" "memory_list" "memory_query"
        "memory_delete"
    ],
    /// Files of the workspace.
    Workspace "workspace" [
        "list_files" "read_file" "write_file" "edit_file" "find_files" "grep_files"
        "file_read" "file_write" "file_edit" "file_list" "file_search"
    ],
    /// Pages and searches.
    Web "web" [
        "web_search" "web_fetch" "browser_launch" "browser_navigate" "browser_snapshot"
        "browser_click" "browser_type" "browser_screenshot" "browser_close" "http_request"
        "http_connect"
    ],
    /// Commands.
    Shell "shell" ["shell_exec"],
    /// Lists of things to do, and scheduled jobs.
    Tasks "tasks" [
        "task_list" "task_add" "task_close" "scheduler_list_cron" "scheduler_add_cron"
        "scheduler_remove_cron" "scheduler_run_at"
    ],
    /// What an agent can see and propose about itself.
    Introspection "introspection" [
        "prompt_read" "prompt_propose" "tools_read" "tools_propose" "current_time" "skill_read"
        "skill_list" "skill_propose" "audit_query"
    ],
    /// Other models.
    Models "models" ["model_query"],
    /// Notes within a session.
    Scratchpad "scratchpad" ["scratch_read" "scratch_write" "scratch_list"],
    /// Other agents.
    A2a "a2a" ["a2a_list" "a2a_discover" "a2a_call"],
}

impl Domain {
    /// The domain with exactly this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.as_str() == name)
    }

    /// The domain that has a tool of this name.
    #[must_use]
    pub fn of_tool(tool: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|it| it.tools().contains(&tool))
    }

    /// The domain to which an effect belongs, whatever the tool is called. Calls of other people's
    /// tools belong to none, nor does what is no call of a tool.
    #[must_use]
    pub fn of_effect(effect: EffectKind) -> Option<Self> {
        use EffectKind as Kind;
        match effect {
            Kind::MemoryWrite
            | Kind::MemoryQuery
            | Kind::MemoryRead
            | Kind::MemoryDelete
            | Kind::MemoryList => Some(Self::Memory),
            Kind::FileRead | Kind::FileWrite => Some(Self::Workspace),
            Kind::WebFetch
            | Kind::WebSearch
            | Kind::BrowserLaunch
            | Kind::BrowserNavigate
            | Kind::BrowserSnapshot
            | Kind::BrowserClick
            | Kind::BrowserType
            | Kind::BrowserScreenshot
            | Kind::BrowserClose => Some(Self::Web),
            Kind::ShellExec => Some(Self::Shell),
            Kind::SchedulerList | Kind::SchedulerAdd | Kind::SchedulerRemove => Some(Self::Tasks),
            Kind::SkillPropose
            | Kind::SkillRead
            | Kind::SkillList
            | Kind::SkillInstall
            | Kind::AuditQuery
            | Kind::ControlPlaneChange => Some(Self::Introspection),
            Kind::AgentDelegate => Some(Self::A2a),
            Kind::LlmCall
            | Kind::OauthCall
            | Kind::ToolRead
            | Kind::ToolWrite
            | Kind::ToolSend
            | Kind::ToolDestroy
            | Kind::MessageIn
            | Kind::MessageOut
            | Kind::ToolsList
            | Kind::ResourceRead
            | Kind::PromptGet
            | Kind::Sampling
            | Kind::Elicitation
            | Kind::Notification => None,
        }
    }

    pub(crate) fn names() -> String {
        Self::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_no_tool_is_in_two_domains() {
        for domain in Domain::ALL {
            assert_eq!(Domain::parse(domain.as_str()), Some(*domain));
            for tool in domain.tools() {
                assert_eq!(Domain::of_tool(tool), Some(*domain), "{tool}");
            }
        }
    }
}
