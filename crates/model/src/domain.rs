//! Domains of tools, as settings, manifests and users name them.

use serde::de::{Deserialize, Deserializer, Error};

use crate::EffectKind;
use crate::ipc::ActionName;

macro_rules! domains {
    ($($(#[doc = $about:literal])+ $variant:ident $name:literal [$($other:literal $([$($same:ident)*])?),*],)+) => {
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

            /// Names by which others call tools in it, and the actions that do the same here.
            #[must_use]
            pub const fn others(self) -> &'static [(&'static str, &'static [ActionName])] {
                match self { $(Self::$variant => &[$(($other, &[$($(ActionName::$same),*)?])),*]),+ }
            }
        }
    };
}

// Actions are not listed: the domain of an action is that of its kind. What is listed are names that other programs have
// for such tools. None of them is a tool here. They count for what closes: whoever has one looks as if it belonged to the
// domain, and where one is denied, so are the actions that do the same.
domains! {
    /// What agents remember.
    Memory "memory" ["memory_insert" [MemoryWrite], "memory_replace" [MemoryWrite MemoryDelete]],
    /// Files of the workspace.
    Workspace "workspace" [
        "list_files" [FileList], "find_files" [FileList], "grep_files" [FileSearch],
        "read_file" [FileRead], "write_file" [FileWrite], "edit_file" [FileEdit]
    ],
    /// Pages and searches. The names are those of the proxy, whose requests are calls.
    Web "web" ["http_request", "http_connect"],
    /// Commands.
    Shell "shell" [],
    /// Lists of things to do, and scheduled jobs.
    Tasks "tasks" [],
    /// What an agent can see and propose about itself. What it proposes is a skill; its tools are the operator's.
    Introspection "introspection" ["prompt_propose" [SkillPropose], "tools_propose"],
    /// Other models.
    Models "models" [],
    /// Notes within a session.
    Scratchpad "scratchpad" [],
    /// Other agents.
    A2a "a2a" ["a2a_list", "a2a_discover", "a2a_call"],
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
        actions.map(|it| it.as_str())
    }

    /// The domain that has a tool of this name, here or elsewhere.
    #[must_use]
    pub fn of_tool(tool: &str) -> Option<Self> {
        let is_other = |it: &Self| it.others().iter().any(|(name, _)| *name == tool);
        match ActionName::parse(tool) {
            Some(name) => name.kind().domain(),
            None => Self::ALL.iter().copied().find(is_other),
        }
    }

    /// The actions that do what others call by this name.
    #[must_use]
    pub fn same_as(tool: &str) -> &'static [ActionName] {
        let mut all = Self::ALL.iter().flat_map(|it| it.others());
        all.find(|(name, _)| *name == tool).map_or(&[], |(_, same)| *same)
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
            assert!(domain.tools().next().is_some(), "{}: nobody has such a tool", domain.as_str());
        }
    }

    #[test]
    fn names_of_others_are_no_tools_and_stand_for_actions_of_their_domain() {
        for domain in Domain::ALL {
            for (name, same) in domain.others() {
                assert_eq!(ActionName::parse(name), None, "{name}");
                assert_eq!(Domain::of_tool(name), Some(*domain), "{name}");
                assert!(same.iter().all(|it| it.kind().domain() == Some(*domain)), "{name}");
            }
        }
        assert_eq!(Domain::same_as("grep_files"), [ActionName::FileSearch]);
        assert_eq!(Domain::same_as("file_search"), []);
    }
}
