//! A cage for processes, made by the kernel, and an audit of what holds.

pub mod audit;
pub mod cage;
pub mod oci;
pub mod probe;
pub mod runner;
pub mod seatbelt;
pub mod skill;
