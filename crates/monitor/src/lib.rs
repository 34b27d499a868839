//! The reference monitor.

pub mod confirm;
mod permit;
pub mod provenance;
mod state;
pub mod taint;

pub use permit::Permit;
pub use state::{Opened, State, StateError, Summary};
