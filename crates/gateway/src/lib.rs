//! Doors for other people's programs. What comes in is framed, becomes a call, and goes to the monitor;
//! what is allowed is carried out by the crates that stand on permits.
//!
//! Nothing here decides what is allowed.

pub mod proxy;
