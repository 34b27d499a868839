//! The parts of a manifest.

use std::collections::BTreeSet;

use scan::net::Domains;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{Label, Number, Set, some_flag, text};
use crate::access::Domain;
use crate::access::layer::is_plain;

/// How hard the model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Effort {
    Low,
    Medium,
    High,
    Max,
}

/// What the agent's processes may touch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Sandbox {
    /// Is the sandbox enforced even where the shell is allowed?
    #[serde(default, deserialize_with = "some_flag")]
    pub enforce: Option<bool>,
    /// The shell in remote sessions; `false` closes it whatever else is said.
    #[serde(default, deserialize_with = "some_flag")]
    pub shell: Option<bool>,
    /// The network of its processes.
    pub network: Option<Network>,
    /// Folders that it sees.
    #[serde(default)]
    pub mounts: Vec<Mount>,
    /// The hosts that it may reach; all public ones if nothing is said.
    #[serde(default, deserialize_with = "hosts")]
    pub allowed_domains: Option<Vec<String>>,
    /// Never these, whatever is allowed.
    #[serde(default, deserialize_with = "hosts")]
    pub blocked_domains: Option<Vec<String>>,
}

/// The network of an agent's processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// That of the machine.
    Host,
    /// None.
    None,
}

/// A folder that an agent's processes see.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mount {
    /// Where it is.
    #[serde(deserialize_with = "path")]
    pub path: String,
    /// Read only, unless it says otherwise.
    #[serde(default)]
    pub mode: MountMode,
}

/// What may be done in a mounted folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MountMode {
    /// Reading.
    #[default]
    Ro,
    /// Reading and writing.
    Rw,
}

/// A sub-agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAgent {
    /// Its model.
    pub model: Option<String>,
    /// How many turns it has.
    pub max_turns: Option<u32>,
    /// The domains that it may use; those of its agent if nothing is said.
    pub tools: Option<Vec<Domain>>,
}

impl<'de> Deserialize<'de> for SubAgent {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        struct Raw {
            model: Option<Label>,
            #[serde(default, deserialize_with = "turns")]
            max_turns: Option<u32>,
            tools: Option<Set<Domain>>,
        }
        let raw = Raw::deserialize(input)?;
        let (model, tools) = (raw.model.map(|it| it.0), raw.tools.map(|it| it.0));
        Ok(Self { model, max_turns: raw.max_turns, tools })
    }
}

/// The most turns of a sub-agent.
const TURNS_MAX: u32 = 10_000;

fn turns<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u32>, D::Error> {
    let turns = Number::deserialize(input)?.0;
    let whole = (1..=TURNS_MAX).find(|it| f64::from(*it) == turns);
    let wrong = || D::Error::custom(format!("`maxTurns` is a whole number from 1 to {TURNS_MAX}"));
    whole.map(Some).ok_or_else(wrong)
}

/// Keys that some domains of tools get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Names of keys.
    pub keys: Vec<String>,
    /// The domains that get them.
    pub tools: Vec<Domain>,
    /// Whether a person is asked each time.
    pub approval: Approval,
}

/// Whether a person is asked before keys are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// No.
    #[default]
    Auto,
    /// Yes.
    Required,
}

impl<'de> Deserialize<'de> for Grant {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            keys: Set<KeyName>,
            tools: Set<Domain>,
            #[serde(default)]
            approval: Approval,
        }
        let raw = Raw::deserialize(input)?;
        let keys = raw.keys.0.into_iter().map(|it| it.0).collect();
        Ok(Self { keys, tools: raw.tools.0, approval: raw.approval })
    }
}

/// The name of a secret.
#[derive(Debug)]
pub(super) struct KeyName(pub(super) String);

impl<'de> Deserialize<'de> for KeyName {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| {
            let legal = |it: u8| it.is_ascii_alphanumeric() || it == b'_';
            let begins = it.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_');
            if begins && it.len() <= 128 && it.bytes().all(legal) {
                return Ok(Self(it.to_owned()));
            }
            Err(format!("`{}` is no name of a key: letters, digits and `_`", it.escape_debug()))
        })
    }
}

/// What may be done with a tool that does several things. Names in small letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operations {
    /// Only these.
    Allow(BTreeSet<String>),
    /// All but these.
    Deny(BTreeSet<String>),
}

impl<'de> Deserialize<'de> for Operations {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            allow: Option<Set<Operation>>,
            deny: Option<Set<Operation>>,
        }
        let raw = Raw::deserialize(input)?;
        let names = |it: Set<Operation>| it.0.into_iter().map(|it| it.0).collect();
        match (raw.allow, raw.deny) {
            (Some(allow), None) => Ok(Self::Allow(names(allow))),
            (None, Some(deny)) => Ok(Self::Deny(names(deny))),
            (Some(_), Some(_)) | (None, None) => {
                Err(D::Error::custom("operations have either `allow` or `deny`"))
            }
        }
    }
}

#[derive(Debug)]
struct Operation(String);

impl<'de> Deserialize<'de> for Operation {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| match is_plain(it) {
            true => Ok(Self(it.to_ascii_lowercase())),
            false => Err(format!("`{}` is no plain name of an operation", it.escape_debug())),
        })
    }
}

fn path<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    text(input, |it| {
        if it.trim().is_empty() || it.contains('\0') {
            return Err("a path cannot be empty".to_owned());
        }
        if it.split('/').any(|part| part == "..") {
            return Err("a path to mount has no `..`".to_owned());
        }
        Ok(it.to_owned())
    })
}

pub(super) fn hosts<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<String>>, D::Error> {
    Set::<HostPattern>::deserialize(input).map(|it| Some(it.0.into_iter().map(|it| it.0).collect()))
}

/// A host, or `*.` and the end of hosts.
#[derive(Debug)]
struct HostPattern(String);

impl<'de> Deserialize<'de> for HostPattern {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| match Domains::parse(&[it]) {
            Ok(_) => Ok(Self(it.to_ascii_lowercase())),
            Err(error) => Err(error.to_string().escape_debug().to_string()),
        })
    }
}
