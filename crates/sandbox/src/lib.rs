//! A cage for processes, made by the kernel, and an audit of what holds.

#[cfg(target_os = "linux")]
pub mod cage;
#[cfg(target_os = "linux")]
pub mod runner;
