//! Risk across calls: chains, correlation, the sentinel, children and restarts.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test helpers, not only `#[test]` functions"
)]

mod chains;
mod classes;
mod family;
mod sentinel;
mod support;
