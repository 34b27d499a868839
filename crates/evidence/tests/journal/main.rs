//! The journal, tried as it is used and as it is attacked.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod common;
mod concurrency;
mod crash;
mod cut_back;
mod entries;
mod export;
mod faults;
mod forged;
mod history;
mod hostile;
mod murphy;
mod passing;
mod power;
mod races;
mod records;
mod recovery;
mod retention;
mod retired_history;
mod search;
mod spelling;
mod tree;
