//! Sessions with scripted clients, servers and gates.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; `clippy.toml` covers only `#[test]` functions"
)]

mod approvals;
mod asking;
mod limits;
mod pipes;
mod random;
mod script;
mod shown;
mod transcripts;
