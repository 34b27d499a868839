//! Workspaces with real directories and real processes: what one session leaves, the next one finds.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod clear;
mod sessions;
mod support;
mod traces;
