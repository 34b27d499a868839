//! The nouns that every part of Lazaret shares, each parsed once into a form that cannot be wrong.
//!
//! No I/O, no clock, no async. [`ipc`] alone knows JSON: what is read there is a noun afterwards.

pub mod ipc;
mod name;
mod taint;

pub use name::{AgentId, Kind, NAME_BYTES_MAX, NameError, SessionId};
pub use taint::{Taint, UnknownFlag};
