//! Domains of tools, as settings, manifests and users name them.

use serde::de::{Deserialize, Deserializer, Error};

use crate::EffectKind;
use crate::ipc::ActionName;

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

            /// Tools of agents in it that are no action of ours.
            const fn others(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($tool),*]),+ }
            }
        }
    };
}

// Actions are not listed: the domain of an action is that of its kind.
domains! {
    /// What agents remember.
    Memory "memory" ["memory_replace" "memory_insert"],
    /// Files of the workspace.
    Workspace "workspace" [
        "list_files" "read_file" "write_file" "edit_file" "find_files" "grep_files"
    ],
    /// Pages and searches.
    Web "web" ["http_request" "http_connect"],
    /// Commands.
    Shell "shell" [],
    /// Lists of things to do, and scheduled jobs.
    Tasks "tasks" ["task_list" "task_add" "task_close"],
    /// What an agent can see and propose about itself.
    Introspection "introspection" [
        "prompt_read" "prompt_propose" "tools_read" "tools_propose" "current_time"
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

    /// The host's own tools in it.
    pub fn tools(self) -> impl Iterator<Item = &'static str> {
        let actions = ActionName::ALL.iter().filter(move |it| it.kind().domain() == Some(self));
        actions.map(|it| it.as_str()).chain(self.others().iter().copied())
    }

    /// The domain that has a tool of this name.
    #[must_use]
    pub fn of_tool(tool: &str) -> Option<Self> {
        match ActionName::parse(tool) {
            Some(name) => name.kind().domain(),
            None => Self::ALL.iter().copied().find(|it| it.others().contains(&tool)),
        }
    }

    /// The domain to which an effect belongs.
    #[must_use]
    pub fn of_effect(effect: EffectKind) -> Option<Self> {
        effect.domain()
    }

    /// Their names, for people.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(", ")
    }
}

/// The most of a wrong name that is repeated.
const SHOWN_CHARS_MAX: usize = 100;

impl<'de> Deserialize<'de> for Domain {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        Self::parse(&text).ok_or_else(|| {
            let shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
            let (shown, names) = (shown.escape_debug(), Self::names());
            D::Error::custom(format!("`{shown}` is no domain of tools; there are {names}"))
        })
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
