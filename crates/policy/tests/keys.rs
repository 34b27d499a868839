//! Which keys an agent's tools get, held against the vectors of others.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::collections::BTreeSet;

use model::AgentId;
use policy::access::{Domain, KeyMode, Manifest, Origin};
use serde_json::Value;

const ROWS: &str = include_str!("../../../corpus/credentials/credentials.json");

/// JSON is YAML.
fn manifest(credentials: &Value) -> Option<Manifest> {
    let front = if credentials.is_null() {
        "name: x".to_owned()
    } else {
        format!("credentials: {credentials}")
    };
    let agent = AgentId::parse("main").unwrap();
    Manifest::parse(&agent, &format!("---\n{front}\n---\nbody\n")).ok()
}

#[test]
fn the_vectors_hold() {
    let rows: Vec<Value> = serde_json::from_str(ROWS).unwrap();
    for row in &rows {
        let input = &row["input"];
        let manifest = manifest(&input["credentials"]);
        let Some(domain) = input["domain"].as_str() else {
            // Without a domain there is nothing to ask for; a domain that there is not refuses the file.
            assert_eq!(manifest.is_none(), row["name"] == "unknown tool domain in grant", "{row}");
            continue;
        };
        let manifest = manifest.unwrap();
        let domain = Domain::parse(domain).unwrap();
        let env: Vec<&str> =
            input["env"].as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let keys = manifest.keys(env.iter().copied(), domain, Origin::Local);
        let expected = &row["expected"];
        if let Some(expected) = expected.as_object() {
            let expected: BTreeSet<&str> = expected.keys().map(String::as_str).collect();
            assert_eq!(keys.keys, expected, "{row}");
        } else if expected == "no WIRE_ACCOUNT_NUMBER" {
            assert!(!keys.keys.contains("WIRE_ACCOUNT_NUMBER"), "{row}");
        } else {
            // Everything at this machine, nothing over the network.
            assert_eq!((keys.mode, keys.keys.len()), (KeyMode::Legacy, env.len()), "{row}");
            let remote = manifest.keys(env.iter().copied(), domain, Origin::Remote);
            assert_eq!((remote.mode, remote.keys.len()), (KeyMode::Strict, 0), "{row}");
        }
        if row["name"] == "approval grant before approval" {
            assert!(keys.withheld.contains("sensitive"), "{row}");
        }
    }
    assert_eq!(rows.len(), 14);
}
