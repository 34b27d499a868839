//! Text in, findings out. No I/O, no sessions, no decisions.

pub mod boundary;
mod fold;
mod instructions;
pub mod net;
pub mod page;

pub use fold::{is_invisible, look_alike};
pub use instructions::{Category, Finding, Verdict, instructions, score, verdict};
