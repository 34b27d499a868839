//! Commands: `config.yaml`, the part under `shell`.

use model::AgentId;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::Label;
use super::users::Agents;

/// Rungs of confinement that can be required.
const RUNGS: &[&str] = &["namespaces", "landlock", "seccomp", "seatbelt", "limits", "cgroup"];

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
