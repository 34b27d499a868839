//! Text in, findings out. No I/O, no sessions, no decisions.

mod fold;
mod instructions;
pub mod net;

pub use fold::is_invisible;
pub use instructions::{Category, Finding, Verdict, instructions, score, verdict};
