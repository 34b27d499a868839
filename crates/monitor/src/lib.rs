//! The reference monitor: every call passes through it, and there is no other way.
//!
//! Read `pipeline.rs` first: it is the whole path of one call.

mod actions;
mod admission;
pub mod approvals;
mod asked;
mod carriers;
mod change;
mod command;
pub mod confirm;
mod credentials;
mod family;
mod found;
mod guards;
mod inspected;
mod lines;
mod monitor;
mod output;
mod permit;
pub mod pipeline;
mod preview;
mod proposed;
pub mod provenance;
mod question;
mod record;
mod refusal;
pub mod risk;
mod ruling;
mod scrubber;
mod session;
mod sessions;
mod settle;
mod state;
pub mod taint;
pub mod target;
mod tools;
mod understood;
mod verdict;

pub use admission::Admission;
pub use approvals::Approvals;
pub use asked::Asked;
pub use credentials::{CREDENTIAL_SCOPE, SERVICES};
pub use found::Found;
pub use guards::TAINT_BLOCKED;
pub use monitor::{Approver, Heard, Monitor, OpenError, Opening, Setup, Understanding};
pub use output::{OUTPUT_BYTES_MAX, Output, Status};
pub use permit::{Granted, Permit};
pub use pipeline::{Begun, Delivered, Executor};
pub use proposed::Proposed;
pub use question::{Grounds, Reason, Shown, ShownArg, ShownValue};
pub use refusal::Refusal;
pub use ruling::Ruling;
pub use scrubber::{HeldSecret, Scrubber};
pub use state::{Labels, Opened, State, StateError, Summary};
pub use tools::ToolsError;
pub use verdict::Verdict;
