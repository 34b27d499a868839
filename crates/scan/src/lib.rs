//! Text in, findings out. No I/O, no sessions, no decisions.

pub mod boundary;
mod fold;
mod instructions;
pub mod net;
pub mod page;
pub mod shell;

pub use fold::is_invisible;
pub use instructions::{Category, Finding, Verdict, instructions, score, verdict};
