//! What tests of several crates share. Only a dev-dependency: no part of the program.

#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what goes wrong here fails a test; tests start programs and write files"
)]

mod built;
mod compile_fail;
mod cpu;
pub mod crash;
pub mod documents;
pub mod frames;
pub mod model;
pub mod program;
#[cfg(feature = "tls")]
pub mod tls;

pub use compile_fail::must_not_compile;
pub use cpu::Stopwatch;
