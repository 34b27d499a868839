//! Wires coding agents to Lazaret, and takes it back byte for byte.
//!
//! [`find`] says which agents are here, [`plan`] what would change, [`Plan::apply`] changes it, [`wiring`] says
//! whether it still holds, and [`uninstall`] takes it back. Every path is given in [`Surroundings`]; no process is
//! started, and nothing is looked up on a network.
//!
//! INVARIANT (TakenBack): before a file is changed, its bytes and the hash of what it becomes are durable in
//! `setup/` of the state directory. Whatever happens after that, [`uninstall`] knows what to put back.

mod apply;
mod clean;
mod command;
mod diff;
mod disk;
mod draft;
mod find;
mod hookfile;
mod hosts;
mod json;
mod managed;
mod manifest;
mod mcp;
mod past_gateway;
mod plan;
mod remote;
mod secret;
mod shellword;
mod surroundings;
mod toml;
mod trust;
mod unguarded;
mod uninstall;
mod wiring;

pub use apply::{Applied, ApplyError};
pub use command::CanCage;
pub use disk::{DiskError, FILE_BYTES_MAX};
pub use draft::PlanError;
pub use find::{Evidence, Found, GatewayLine, McpServer, Reached, find, gateway_lines};
pub use hooks::Host;
pub use manifest::{ManifestError, is_wired};
pub use past_gateway::{PastGateway, past_gateway};
pub use plan::{Change, Note, Options, Plan, plan};
pub use surroundings::{Surroundings, VARIABLES};
pub use trust::codex_trust_hash;
pub use unguarded::{Unguarded, unguarded};
pub use uninstall::{Outcome, UninstallError, Uninstalled, uninstall};
pub use wiring::{Wiring, changed, wiring};
