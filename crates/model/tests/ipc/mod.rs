//! Messages from agents, as the rest of Lazaret sees them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; the `-in-tests` settings cover only `#[test]` functions"
)]

mod answers;
mod corpus;
mod names;
mod properties;
mod schemas;
mod support;
