//! The journal, tried as it is used and as it is attacked.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod common;
mod concurrency;
mod crash;
mod entries;
mod export;
mod faults;
mod forged;
mod history;
mod hostile;
mod index;
mod murphy;
mod passing;
mod races;
mod records;
mod recovery;
mod retention;
mod tree;
