//! The bytes of the format depend on how serde_json reads and prints. Cargo unifies features, so
//! any dependency of any crate could switch one on; then these fail before an id changes.
//! `preserve_order` may be on or off: `key_order.rs`.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use serde_json::Value;

fn printed(text: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap().to_string()
}

#[test]
fn float_roundtrip_is_off() {
    // The parser that does not round correctly is part of the format.
    assert_eq!(printed("999999999999999.9"), "1000000000000000.0");
}

#[test]
fn arbitrary_precision_is_off() {
    assert_eq!(printed("-0"), "-0.0");
    assert_eq!(printed("100000000000000000000"), "1e+20");
    assert_eq!(printed("1.50"), "1.5");
}

#[test]
fn doubles_are_printed_as_since_1_0_147() {
    assert_eq!(printed("1e16"), "1e+16");
    assert_eq!(printed("1e-7"), "1e-7");
    assert_eq!(printed("1e2"), "100.0");
}

#[test]
fn nesting_ends_at_127() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(serde_json::from_str::<Value>(&nested(127)).is_ok());
    assert!(serde_json::from_str::<Value>(&nested(128)).is_err());
}
