//! Models as their users meet them: streams of real APIs, broken ones, chains, and scripts.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "test helpers; the `-in-tests` settings cover only `#[test]` functions"
)]

mod bodies;
mod chains;
mod guardrail;
mod holdback;
mod mock;
mod streams;
mod support;
