//! Commands: `config.yaml`, the part under `shell`.

use model::AgentId;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::Label;
use super::users::Agents;

/// Rungs of confinement that can be required.
const RUNGS: &[&str] = &["namespaces", "landlock", "seccomp", "seatbelt", "limits", "cgroup"];

/// The most commands that can be blocked.
const BLOCKED_MAX: usize = 256;
/// The longest of them, in bytes.
const BLOCKED_BYTES_MAX: usize = 200;

/// How commands of agents are confined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Shell {
    /// Rungs without which no command runs, beside those that are always required.
    #[serde(default, deserialize_with = "rungs")]
    pub required: Vec<String>,
    /// Commands run with what is left where a rung that is always required cannot be had.
    #[serde(default)]
    pub allow_weaker: bool,
    /// The agents whose commands have a way to the network, which is our proxy. None if nothing is said.
    #[serde(default)]
    pub network: Option<Agents>,
    /// Commands that no agent runs, beside those that never run: a name, or the words that a command begins with.
    #[serde(default, deserialize_with = "blocked")]
    pub blocked: Vec<String>,
}

impl Shell {
    /// Do commands of `agent` have a way to the network?
    #[must_use]
    pub fn has_network(&self, agent: &AgentId) -> bool {
        match &self.network {
            None => false,
            Some(Agents::All) => true,
            Some(Agents::Only(agents)) => agents.contains(agent),
        }
    }
}

/// Words as a command begins with them. What a shell would take for more than a word blocks nothing, and is refused.
fn blocked<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    const KEY: &str = "`shell.blocked`";
    let all: Vec<Label> = Vec::deserialize(input)?;
    if all.len() > BLOCKED_MAX {
        return Err(D::Error::custom(format!("{KEY} has at most {BLOCKED_MAX} commands")));
    }
    let plain = |it: char| it.is_alphanumeric() || " -_./:=@+,".contains(it);
    let is_plain = |it: &str| it.len() <= BLOCKED_BYTES_MAX && it.chars().all(plain);
    let all: Vec<String> = all.into_iter().map(|it| it.0).collect();
    match all.iter().find(|it| !is_plain(it) || it.trim_start().starts_with(['-', '/'])) {
        None => Ok(all),
        Some(bad) => {
            let bad = bad.chars().take(BLOCKED_BYTES_MAX).collect::<String>();
            let how = "name a command, without its folder, and the words that follow it";
            Err(D::Error::custom(format!("{KEY}: `{}`: {how}", bad.escape_debug())))
        }
    }
}

pub(super) fn rungs<'de, D: Deserializer<'de>>(input: D) -> Result<Vec<String>, D::Error> {
    let names: Vec<Label> = Vec::deserialize(input)?;
    let names: Vec<String> = names.into_iter().map(|it| it.0).collect();
    match names.iter().find(|it| !RUNGS.contains(&it.as_str())) {
        None => Ok(names),
        Some(wrong) => {
            let there = RUNGS.join(", ");
            Err(D::Error::custom(format!("`{wrong}` cannot be required; there are {there}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Global;
    use super::AgentId;

    fn required(text: &str) -> Result<Vec<String>, String> {
        let read = Global::parse(&format!("shell:\n  {text}\n"));
        read.map(|it| it.shell().required.clone()).map_err(|it| it.to_string())
    }

    #[test]
    fn rungs_are_required_by_name_and_nothing_else_can_be_said() {
        assert_eq!(required("required: [namespaces, cgroup]").unwrap(), ["namespaces", "cgroup"]);
        assert_eq!(required("required: []").unwrap(), [""; 0]);
        for wrong in [
            "required: [chroot]",
            "required: namespaces",
            "network: true",
            "network: main",
            "network: [main, \"a b\"]",
            "program: sh",
            "allowWeaker: maybe",
        ] {
            assert!(required(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_weaker_cage_is_taken_only_where_that_is_said() {
        let weaker = |text: &str| Global::parse(text).unwrap().shell().allow_weaker;
        assert!(!weaker("shell: {required: []}") && weaker("shell: {allowWeaker: true}"));
    }

    #[test]
    fn only_agents_that_are_named_have_a_way_to_the_network() {
        let [main, other] = ["main", "other"].map(|it| AgentId::parse(it).unwrap());
        for (text, expected) in [
            ("required: []", [false, false]),
            ("network: []", [false, false]),
            ("network: [main]", [true, false]),
            ("network: \"*\"", [true, true]),
        ] {
            let read = Global::parse(&format!("shell:\n  {text}\n")).unwrap();
            let has = [&main, &other].map(|it| read.shell().has_network(it));
            assert_eq!(has, expected, "{text}");
        }
    }
}
