//! The providers that `config.yaml` chooses, as a person and an agent use them together.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod chosen;
mod full;
mod jobs;
mod memory;
mod models;
mod plugins;
mod search;
mod skill_add;
mod skills;
pub(crate) mod support;
