//! Where agents live: the door by which their messages come in, what carries the messages out, and
//! who is admitted at all.
//!
//! Nothing here decides what is allowed: that is the monitor's. A message goes through
//! [`ipc::Door::answer`], is judged there, and reaches [`HostExecutor`] as a permit or not at all.
//! What a person says comes by another door, [`control`].

mod admission;
pub mod control;
mod executor;
pub mod ipc;
pub mod plugins;
mod providers;
mod reach;
pub mod scheduler;
pub mod skills;
mod web;
pub mod workspace;

pub use admission::{AdmissionError, admission, providers, settings};
pub use executor::{AUDIT_RESULTS_DEFAULT, HostExecutor};
pub use providers::{NotBuilt, Providers, is_built};
pub use reach::reach;
pub use web::{WebError, web};
