//! The gate as a whole: the real path on a real journal and a real store, with faults, kills, restarts
//! and people.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod approvals;
mod carriers;
mod commands;
mod compaction;
mod concurrency;
mod confirmations;
mod crash;
mod family;
mod faults;
mod found;
mod guards;
mod known;
mod layers;
mod lost;
mod named;
mod others;
mod outputs;
mod path;
mod posture;
mod properties;
mod questions;
mod restart;
mod sanitized;
mod standing;
mod surroundings;
mod targets;
mod world;
