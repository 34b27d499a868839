//! The door for messages of agents, as an agent sees it: real frames, a real gate, a real journal, a
//! real store.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test helpers; the `-in-tests` settings cover only `#[test]` functions"
)]

mod admission;
mod answers;
mod audit;
mod authority;
mod control;
mod corpus;
mod crash;
mod files;
mod frames;
mod memory;
mod models;
mod notes;
mod plugins;
mod providers;
mod services;
mod support;
