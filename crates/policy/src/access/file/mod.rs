//! The files that people write: settings, manifests, users. Read strictly: whatever is not
//! understood refuses the whole file, with the line, and nothing is ever assumed in its place.

mod answers;
mod browser;
mod channels;
mod delegation;
mod egress;
mod error;
mod front;
mod global;
mod guardrail;
mod history;
mod hooks;
mod host;
mod instructions;
mod intent;
mod manifest;
mod models;
mod parts;
mod providers;
mod sandbox;
mod sanitize;
mod scalar;
mod scheduler;
mod scopes;
mod security;
mod serve;
mod server;
mod services;
mod shell;
mod tools;
mod users;
mod yaml;

pub use answers::AnswerSettings;
pub use browser::Browser;
pub use channels::{ATTACHMENT_BYTES_MAX, ChannelSettings, Channels, PEER_BYTES_MAX, Peers};
pub use delegation::DelegationSettings;
pub use egress::{Egress, Search, SearchEngine, flagged};
pub use error::FileError;
pub use global::{Global, Notifications, Sections};
pub use guardrail::Guardrail;
pub use history::HistorySettings;
pub use hooks::HookSettings;
pub use host::HostSettings;
pub use intent::Readers;
pub use manifest::{Access, Manifest, ToolFilter};
pub use models::{Api, Endpoint, ModelRef, Models, Price, Task, runs_models};
pub use parts::{
    Approval, Effort, Grant, Mount, MountMode, Network, Operations, Sandbox, SubAgent,
};
pub use sandbox::{SandboxProfile, is_higher};
pub use sanitize::SanitizeSettings;
pub use scheduler::{HeartbeatSettings, HoursSettings, JOBS_PER_USER_MAX, SchedulerSettings};
pub use security::{
    ACTION_BYTES_MAX, ACTIONS_MAX, ALWAYS_SENSITIVE, FileSettings, PATTERNS_MAX, RECOVER_TURNS_MIN,
    RISK_TURNS_MAX, RiskSettings, Security, TaintBudget, is_known_action, sensitive_actions,
};
pub use serve::{
    Cidr, LogLevel, Logging, Networks, POLICY_VERSION_MAX, Prices, Privacy, RateLimits,
    ServeSettings, ServeTls,
};
pub use server::{McpServer, Transport};
pub use services::{Refresh, Service};
pub use shell::Shell;
pub use tools::{GlobalTool, Peer};
pub use users::{Agents, BUDGET_MAX, Budget, KnownTools, Limits, Unit, User, Users};
pub use yaml::FILE_BYTES_MAX;
