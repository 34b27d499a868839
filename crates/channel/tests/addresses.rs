//! Addresses as upstream writes them: `corpus/ax/session_address_canonical.json`.

use channel::{Address, Ids, Scope};
use serde_json::Value;

fn ids(value: &Value) -> Ids {
    let part = |name: &str| value[name].as_str().map(str::to_owned);
    Ids {
        workspace: part("workspace"),
        channel: part("channel"),
        thread: part("thread"),
        peer: part("peer"),
    }
}

#[test]
fn addresses_print_as_upstream_prints_them() {
    let cases = include_str!("../../../corpus/ax/session_address_canonical.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 19);
    for case in cases {
        let input = &case["input"];
        let scope = match input["scope"].as_str().unwrap() {
            "dm" => Scope::Dm,
            "channel" => Scope::Channel,
            "thread" => Scope::Thread,
            "group" => Scope::Group,
            other => panic!("{other}"),
        };
        let provider = input["provider"].as_str().unwrap();
        let address = Address::new(provider, scope, ids(&input["identifiers"])).unwrap();
        assert_eq!(address.to_string(), case["expected"].as_str().unwrap(), "{}", case["name"]);
    }
}
