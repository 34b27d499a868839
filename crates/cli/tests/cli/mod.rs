//! The real program: what it prints, and how it exits.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod journal;
mod support;
mod tour;
