//! A cage for processes, made by the kernel, and an audit of what holds.

pub mod audit;
#[cfg(target_os = "linux")]
pub mod cage;
pub mod oci;
pub mod probe;
#[cfg(target_os = "linux")]
pub mod runner;
pub mod seatbelt;
#[cfg(target_os = "linux")]
pub mod skill;
