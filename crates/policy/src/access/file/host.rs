//! The host of agents: `config.yaml`, the part under `host`.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::Flag;
use super::shell::rungs;

/// How the workers of agents are confined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct HostSettings {
    /// Rungs without which no worker runs, beside those that are always required.
    #[serde(deserialize_with = "rungs")]
    pub required: Vec<String>,
    allow_unconfined: Never,
}

/// A switch that cannot be turned on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Never;

impl<'de> Deserialize<'de> for Never {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        match Flag::deserialize(input)?.0 {
            false => Ok(Self),
            true => Err(D::Error::custom(
                "`allowUnconfined: true` is not in this version: no agent runs without a cage; leave it out",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::access::Global;

    #[test]
    fn more_can_be_required_of_a_worker_and_never_less() {
        let read = |text: &str| Global::parse(&format!("host: {text}\n"));
        let said = read("{required: [cgroup, limits], allowUnconfined: false}").unwrap();
        assert_eq!(said.host().required, ["cgroup", "limits"]);
        assert!(read("{}").unwrap().host().required.is_empty());
        let refused = read("{allowUnconfined: true}").unwrap_err().to_string();
        assert!(refused.contains("no agent runs without a cage"), "{refused}");
        for wrong in ["{required: [chroot]}", "{allowUnconfined: maybe}", "{require: []}"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
