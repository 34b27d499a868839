//! The reference monitor.

mod permit;
pub mod provenance;
pub mod risk;
mod state;

pub use permit::Permit;
pub use state::{Opened, State, StateError, Summary};
