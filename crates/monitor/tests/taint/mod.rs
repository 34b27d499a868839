//! Taint and confirmation against `corpus/taint`: what the seeds ask for, and attacks that fail.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test helpers; the `in-tests` settings cover only `#[test]` functions"
)]

mod confirmation;
mod corpus;
mod laundering;
mod properties;
mod required;
mod sequences;
mod world;
