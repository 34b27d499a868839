//! Vaults as people and crashes leave them.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::wildcard_enum_match_arm,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod crash;
mod faults;
mod keeper;
mod testkit;

use vault::{Name, Secret};
use zeroize::Zeroizing;

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(Zeroizing::new(text.to_owned())).unwrap()
}
