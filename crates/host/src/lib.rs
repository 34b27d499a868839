//! Where agents live: the door by which their messages come in, what carries the messages out, and
//! who is admitted at all.
//!
//! Nothing here decides what is allowed: that is the monitor's. A message goes through
//! [`ipc::Door::answer`], is judged there, and reaches [`HostExecutor`] as a permit or not at all.
//! What a person says comes by another door, [`control`].

mod admission;
mod agent_session;
pub mod agents;
mod aside;
mod belongings;
mod browsing;
pub mod channels;
mod commands;
pub mod control;
pub mod doors;
mod executor;
mod extraction;
pub mod fetched;
mod gate;
mod guarded;
mod guardrail;
mod intent;
pub mod ipc;
mod keys;
mod manifests;
pub mod models;
mod named;
mod named_exchange;
pub mod notices;
pub mod observe;
mod passage;
mod plugin_tools;
pub mod plugins;
mod providers;
mod proxying;
mod reach;
pub mod remote_server;
mod sanitize;
pub mod scheduler;
mod search_key;
mod secret_for;
mod services;
mod settings;
pub mod skills;
pub mod standing;
mod starter;
mod state_folder;
mod surroundings;
pub mod tool_servers;
pub mod trust;
pub mod trust_question;
mod web;
pub mod worker;
pub mod workspace;

pub use admission::{
    AdmissionError, admission, admission_from, admission_of_program, providers, settings, users,
};
pub use agent_session::{AgentSession, SessionOptions, record_refused};
pub use aside::set_aside;
pub use belongings::{Belongings, Gone, Put};
pub use browsing::{BrowserError, browsers};
pub use commands::{ShellError, shell};
pub use executor::{AUDIT_RESULTS_DEFAULT, FILE_BYTES_MAX, HostExecutor, Shell, WorkspaceFiles};
pub use gate::{Gate, GateError, NotAsRequired};
pub use guarded::guarded;
pub use intent::reader;
pub use keys::{KeysError, keeper};
pub use manifests::{agents, manifest, manifest_path};
pub use named::{NamedError, NamedWay, OpenedBy};
pub use named_exchange::{web_answer, web_error};
pub use passage::{Passage, outside};
pub use providers::{NotBuilt, Providers, is_built};
pub use proxying::{ProxyAccount, ProxyDoor, ProxyRequest, Proxying};
pub use reach::reach;
pub use sanitize::plans;
pub use search_key::EngineKey;
pub use services::{Services, ServicesError};
pub use starter::Starter;
pub use state_folder::StateFolder;
pub use surroundings::{lacking, required, surroundings};
pub use web::{WebError, web};
