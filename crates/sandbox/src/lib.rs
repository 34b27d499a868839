//! A cage for processes, made by the kernel, and an audit of what holds.

pub mod audit;
pub mod probe;
pub mod seatbelt;
