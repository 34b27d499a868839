//! An agent's manifest: the front matter of its `IDENTITY.md`.

use std::collections::BTreeMap;

use model::{AgentId, Profile, UserId};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_saphyr::Spanned;

use super::front::{self, Cut};
use super::guardrail::Guardrail;
use super::instructions::InstructionFiles;
use super::models::Task;
use super::parts::{Effort, Grant, Operations, Sandbox, SubAgent};
use super::scalar::{Label, Set, UserName};
use super::security;
use super::server::McpServer;
use super::{FileError, yaml};
use crate::access::Domain;
use crate::access::tool::{folded, host_domain};

/// An agent's manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The agent, by its folder.
    pub agent: AgentId,
    /// What to call it; see [`Manifest::display_name`].
    pub name: Option<String>,
    /// What it does; see [`Manifest::about`].
    pub description: Option<String>,
    /// A picture for lists.
    pub icon: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// First sentences to choose from.
    pub starters: Vec<String>,
    /// The domains of tools that it may use.
    pub tools: ToolFilter,
    /// The servers of others that it may use; whichever the host has, if nothing is said and no
    /// domains are listed.
    pub mcp: Option<Vec<McpServer>>,
    /// The model.
    pub model: Option<String>,
    /// How hard the model thinks.
    pub effort: Option<Effort>,
    /// Who may use it.
    pub access: Access,
    /// What its processes may touch.
    pub sandbox: Sandbox,
    /// Its sub-agents.
    pub agents: BTreeMap<String, SubAgent>,
    /// Keys that it gets: none but these, if this is there at all.
    pub grants: Option<BTreeMap<String, Grant>>,
    /// What may be done with tools that do several things, by name of the tool, its last part, or
    /// its domain, in small letters.
    pub operations: BTreeMap<String, Operations>,
    /// How careful its sessions are at least. It makes none less careful than the host's settings do.
    pub security_profile: Option<Profile>,
    /// A scope of the host's settings that holds for it, too.
    pub capability_scope: Option<String>,
    /// Files of its workspace that stand among its instructions.
    pub instructions: Vec<String>,
    /// What a model judges before it is delivered.
    pub guardrail: Guardrail,
    /// The rest of the file: the agent's instructions.
    pub body: String,
}

/// The domains of tools that an agent may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolFilter {
    /// All that the host has on.
    #[default]
    All,
    /// Only these.
    Allow(Vec<Domain>),
    /// All but these.
    Deny(Vec<Domain>),
}

/// Who may use an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Whoever may use agents.
    #[default]
    Public,
    /// Nobody but the host.
    Private,
    /// These users.
    Users(Vec<UserId>),
}

impl Manifest {
    /// Reads the `IDENTITY.md` of `agent`. A file without front matter is a manifest that says
    /// nothing.
    ///
    /// # Errors
    /// If anything in the front matter is not understood: then there is no such agent.
    pub fn parse(agent: &AgentId, text: &str) -> Result<Self, FileError> {
        let Cut { yaml, body } = front::cut(text, KEYS)?;
        let raw = yaml.map(|it| yaml::read::<Raw>(it, FRONT_LINE)).transpose()?.unwrap_or_default();
        raw.finish(agent, body)
    }

    /// The manifest of an agent that has none: it says nothing.
    #[must_use]
    pub fn silent(agent: &AgentId) -> Self {
        Raw::default().open(agent, "")
    }

    /// What to call the agent: its name, or that of its folder with a capital.
    #[must_use]
    pub fn display_name(&self) -> String {
        let folder = || {
            let mut letters = self.agent.as_str().chars();
            letters.next().map(|it| it.to_ascii_uppercase()).into_iter().chain(letters).collect()
        };
        self.name.clone().unwrap_or_else(folder)
    }

    /// The sub-agent of this name, which may be absent where there is one sub-agent.
    #[must_use]
    pub fn sub_agent(&self, name: Option<&str>) -> Option<(&str, &SubAgent)> {
        let found = match name {
            Some(name) => self.agents.get_key_value(name),
            None if self.agents.len() == 1 => self.agents.first_key_value(),
            None => None,
        };
        found.map(|(name, it)| (name.as_str(), it))
    }

    /// May a sub-agent be given this model? It is the agent's own, that of a sub-agent, or the one for small work.
    #[must_use]
    pub fn has_model(&self, model: &str) -> bool {
        let own = self.model.as_deref().unwrap_or(Task::Default.as_str());
        let subs = self.agents.values().filter_map(|it| it.model.as_deref());
        subs.chain([own, Task::Fast.as_str()]).any(|it| it == model)
    }

    /// What the agent does: its description, or the first paragraph of its instructions.
    #[must_use]
    pub fn about(&self) -> Option<&str> {
        let plain = |it: &&str| !it.is_empty() && !it.starts_with('#');
        let paragraph = || self.body.split("\n\n").map(str::trim).find(plain);
        self.description.as_deref().or_else(paragraph)
    }
}

/// The line on which front matter begins, behind its fence.
const FRONT_LINE: usize = 2;

const KEYS: &[&str] = &[
    "name",
    "description",
    "icon",
    "tags",
    "starters",
    "tools",
    "mcp",
    "model",
    "effort",
    "access",
    "users",
    "sandbox",
    "agents",
    "credentials",
    "toolOperations",
    "securityProfile",
    "capabilityScope",
    "instructions",
    "guardrail",
];

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Raw {
    name: Option<Label>,
    description: Option<Label>,
    icon: Option<Label>,
    #[serde(default)]
    tags: Vec<Label>,
    #[serde(default)]
    starters: Vec<Label>,
    #[serde(default)]
    tools: ToolFilter,
    mcp: Option<Vec<Spanned<McpServer>>>,
    model: Option<Label>,
    effort: Option<Effort>,
    access: Option<Level>,
    users: Option<Spanned<Set<UserName>>>,
    #[serde(default)]
    sandbox: Sandbox,
    #[serde(default)]
    agents: BTreeMap<String, Spanned<SubAgent>>,
    credentials: Option<Credentials>,
    #[serde(default)]
    tool_operations: BTreeMap<String, Spanned<Operations>>,
    #[serde(default, deserialize_with = "security::profile")]
    security_profile: Option<Profile>,
    capability_scope: Option<Label>,
    #[serde(default)]
    instructions: InstructionFiles,
    #[serde(default)]
    guardrail: Guardrail,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Public,
    Private,
    Users,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    grants: BTreeMap<String, Grant>,
}

impl Raw {
    fn finish(mut self, agent: &AgentId, body: &str) -> Result<Manifest, FileError> {
        let access = access(self.access, self.users.take())?;
        check_servers(agent, self.mcp.as_deref().unwrap_or_default())?;
        check_sub_agents(&self.tools, &self.agents)?;
        let operations = operations(std::mem::take(&mut self.tool_operations))?;
        Ok(Manifest { access, operations, ..self.open(agent, body) })
    }

    /// Without what is checked across fields.
    fn open(self, agent: &AgentId, body: &str) -> Manifest {
        let text = |it: Option<Label>| it.map(|it| it.0);
        let texts = |it: Vec<Label>| it.into_iter().map(|it| it.0).collect();
        Manifest {
            agent: agent.clone(),
            name: text(self.name),
            description: text(self.description),
            icon: text(self.icon),
            tags: texts(self.tags),
            starters: texts(self.starters),
            tools: self.tools,
            mcp: self.mcp.map(|it| it.into_iter().map(|it| it.value).collect()),
            model: text(self.model),
            effort: self.effort,
            access: Access::Public,
            sandbox: self.sandbox,
            agents: self.agents.into_iter().map(|(name, it)| (name, it.value)).collect(),
            grants: self.credentials.map(|it| it.grants),
            operations: BTreeMap::new(),
            security_profile: self.security_profile,
            capability_scope: text(self.capability_scope),
            instructions: self.instructions.0,
            guardrail: self.guardrail,
            body: body.to_owned(),
        }
    }
}

/// An error at something that was read.
fn wrong<T>(at: &Spanned<T>, what: String) -> FileError {
    FileError::at(yaml::line(at, FRONT_LINE), what)
}

fn access(
    level: Option<Level>,
    users: Option<Spanned<Set<UserName>>>,
) -> Result<Access, FileError> {
    match (level, users) {
        (Some(Level::Users), users) => {
            let users = users.map(|it| it.value).unwrap_or_default();
            Ok(Access::Users(users.0.into_iter().map(|it| it.0).collect()))
        }
        (None | Some(Level::Public | Level::Private), Some(users)) if !users.value.0.is_empty() => {
            let what = "`users` restricts nothing unless there is `access: users`";
            Err(wrong(&users, what.to_owned()))
        }
        (Some(Level::Private), _) => Ok(Access::Private),
        (None | Some(Level::Public), _) => Ok(Access::Public),
    }
}

/// No server twice, and none that calls itself like one of the host's own.
fn check_servers(agent: &AgentId, servers: &[Spanned<McpServer>]) -> Result<(), FileError> {
    let mut seen = Vec::new();
    for entry in servers {
        let server = &entry.value.server;
        let name = server.to_ascii_lowercase();
        if host_domain(agent.as_str(), &name).is_some() || Domain::parse(&name).is_some() {
            let what = format!("`mcp`: the name `{server}` belongs to the host's own tools");
            return Err(wrong(entry, what));
        }
        if seen.contains(&name) {
            return Err(wrong(entry, format!("`mcp`: the server `{server}` is there twice")));
        }
        seen.push(name);
    }
    Ok(())
}

/// A sub-agent cannot have what its agent has not.
fn check_sub_agents(
    tools: &ToolFilter,
    agents: &BTreeMap<String, Spanned<SubAgent>>,
) -> Result<(), FileError> {
    for (name, sub) in agents {
        let lacks = |it: &&Domain| match tools {
            ToolFilter::All => false,
            ToolFilter::Allow(allowed) => !allowed.contains(it),
            ToolFilter::Deny(denied) => denied.contains(it),
        };
        if let Some(domain) = sub.value.tools.iter().flatten().find(lacks) {
            let (name, domain) = (name.escape_debug(), domain.as_str());
            let what = format!("`agents.{name}` has {domain}, which the agent itself has not");
            return Err(wrong(sub, what));
        }
    }
    Ok(())
}

/// Patterns in small letters; two that then are one are refused.
fn operations(
    raw: BTreeMap<String, Spanned<Operations>>,
) -> Result<BTreeMap<String, Operations>, FileError> {
    let mut found = BTreeMap::new();
    for (pattern, rule) in raw {
        let name = folded(&pattern);
        let shown = pattern.escape_debug();
        if name.is_empty() || name.contains(['*', '?', ' ']) {
            let what = format!("`toolOperations`: `{shown}` must name a tool or a domain");
            return Err(wrong(&rule, what));
        }
        if found.contains_key(&name) {
            return Err(wrong(&rule, format!("`toolOperations`: `{shown}` is there twice")));
        }
        found.insert(name, rule.value);
    }
    Ok(found)
}

impl<'de> Deserialize<'de> for ToolFilter {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Raw {
            allow: Option<Set<Domain>>,
            deny: Option<Set<Domain>>,
        }
        let raw = Raw::deserialize(input)?;
        match (raw.allow, raw.deny) {
            (Some(allow), None) => Ok(Self::Allow(allow.0)),
            (None, Some(deny)) => Ok(Self::Deny(deny.0)),
            (Some(_), Some(_)) => {
                Err(D::Error::custom("tools have either `allow` or `deny`, not both"))
            }
            (None, None) => Err(D::Error::custom("tools need `allow` or `deny`")),
        }
    }
}
