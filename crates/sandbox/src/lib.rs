//! A cage for processes, made by the kernel, and an audit of what holds.

pub mod audit;
pub mod cage;
mod detached;
pub mod oci;
mod piped;
pub mod probe;
pub mod runner;
pub mod seatbelt;
pub mod skill;

pub use detached::detached;
pub use piped::{Piped, Pipes, Said};
