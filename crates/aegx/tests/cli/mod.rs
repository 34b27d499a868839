//! The program as people and scripts use it: output, messages and exit codes.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

mod exchange;
pub(crate) mod support;
mod verifying;
mod writing;
