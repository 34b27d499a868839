//! The five layers of access: the host's settings, the agent's manifest, the sandbox of remote
//! sessions, the user, the operation. A call passes if all five let it pass; a lower layer can only
//! restrict what a higher one left. The scopes of an agent are asked beside them, see `scopes`.

mod file;
mod glob;
mod keys;
mod layer;
mod scopes;
mod tool;

pub use file::{
    ACTION_BYTES_MAX, ACTIONS_MAX, ALWAYS_SENSITIVE, ATTACHMENT_BYTES_MAX, Access, Agents,
    AnswerSettings, Api, Approval, BUDGET_MAX, Browser, Budget, ChannelSettings, Channels, Cidr,
    DelegationSettings, Effort, Egress, Endpoint, FILE_BYTES_MAX, FileError, FileSettings, Global,
    GlobalTool, Grant, Guardrail, HeartbeatSettings, HistorySettings, HookSettings, HostSettings,
    HoursSettings, JOBS_PER_USER_MAX, KnownTools, Limits, LogLevel, Logging, Manifest, McpServer,
    ModelRef, Models, Mount, MountMode, Network, Networks, Notifications, Operations, PATTERNS_MAX,
    PEER_BYTES_MAX, POLICY_VERSION_MAX, Peer, Peers, Price, Prices, Privacy, RECOVER_TURNS_MIN,
    RISK_TURNS_MAX, RateLimits, Readers, Refresh, RiskSettings, Sandbox, SandboxProfile,
    SanitizeSettings, SchedulerSettings, Search, SearchEngine, Sections, Security, ServeSettings,
    ServeTls, Service, Shell, SubAgent, TaintBudget, Task, ToolFilter, Transport, Unit, User,
    Users, flagged, is_higher, is_known_action, runs_models, sensitive_actions,
};
pub use glob::{Glob, GlobError, PATTERN_BYTES_MAX};
pub use keys::{KeyGrant, KeyMode, Keys};
pub use model::Domain;
pub use scopes::{Registry, Scope, ScopeError, Scopes};
pub use tool::Tool;

use model::Objection;
use serde_json::{Map, Value};

/// What the layers look at.
#[derive(Clone, Copy, Debug)]
pub struct Layers<'a> {
    /// The host's settings.
    pub global: &'a Global,
    /// The agent's manifest.
    pub manifest: &'a Manifest,
    /// The user, from the users file.
    pub user: &'a User,
}

/// A call, as far as the layers care.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The tool.
    pub tool: &'a Tool<'a>,
    /// Its arguments.
    pub args: &'a Map<String, Value>,
    /// Where the session comes from.
    pub origin: Origin,
    /// The sub-agent that calls, if one does. It has at most what its agent has.
    pub sub_agent: Option<&'a str>,
}

/// Where a session comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The person sits at this machine.
    Local,
    /// It came over the network.
    Remote,
}

/// A layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The host's settings.
    Global,
    /// The agent's manifest.
    Agent,
    /// The sandbox policy of remote sessions.
    Sandbox,
    /// The user.
    User,
    /// The operation.
    Operation,
}

/// Proof that all five layers and the scopes let a call pass.
#[derive(Debug)]
pub struct Passed(());

impl Layer {
    /// All of them, from the top.
    pub const ALL: &[Self] =
        &[Self::Global, Self::Agent, Self::Sandbox, Self::User, Self::Operation];

    /// The id in records.
    #[must_use]
    pub const fn rule(self) -> &'static str {
        match self {
            Self::Global => "layer-global",
            Self::Agent => "layer-agent",
            Self::Sandbox => "layer-sandbox",
            Self::User => "layer-user",
            Self::Operation => "layer-operation",
        }
    }

    /// What this layer has against a call.
    ///
    /// # Errors
    /// If it has something.
    pub fn check(self, layers: &Layers<'_>, request: &Request<'_>) -> Result<(), Objection> {
        if !request.tool.is_call() {
            return match self {
                Self::User => layer::user(layers.user, layers.manifest, request),
                Self::Global | Self::Agent | Self::Sandbox | Self::Operation => Ok(()),
            };
        }
        match self {
            Self::Global => layer::global(layers.global, request),
            Self::Agent => layer::agent(layers.manifest, request),
            Self::Sandbox => layer::sandbox(layers.manifest, request),
            Self::User => layer::user(layers.user, layers.manifest, request),
            Self::Operation => layer::operation(layers.manifest, request),
        }
    }
}

/// Do all five layers let the call pass, and the scopes?
///
/// # Errors
/// With what the topmost layer that objects has against it, or else a scope.
pub fn decide(layers: &Layers<'_>, request: &Request<'_>) -> Result<Passed, Objection> {
    Layer::ALL.iter().try_for_each(|it| it.check(layers, request))?;
    in_scope(layers, request)?;
    Ok(Passed(()))
}

/// Do the scopes of the agent hold the tool, whatever is to be done with it?
///
/// # Errors
/// With what the first that does not has against it.
pub fn in_scope(layers: &Layers<'_>, request: &Request<'_>) -> Result<(), Objection> {
    scopes::check(layers, request)
}
