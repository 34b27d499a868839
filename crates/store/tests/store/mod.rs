//! The store, tried as it is used and as it is attacked.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod approvals;
mod bond;
mod common;
mod concurrency;
mod crash;
mod labels;
mod opening;
mod state;
