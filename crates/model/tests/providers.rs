//! Recorded choices of providers, from the tests of the program that others wrote for the same seed.

use model::provider::resolve;
use serde_json::Value;

const CASES: &str = include_str!("../../../corpus/ax/provider_allowlist.json");

/// Recorded while a plugin had registered the name. Here nothing can be registered: the table is
/// what was compiled. The same choice without the plugin is in the list too, and is refused.
const REGISTERED_BY_A_PLUGIN: &[&str] = &["memory/redis"];

#[test]
fn recorded_choices_are_decided_alike() {
    let cases: Vec<Value> = serde_json::from_str(CASES).unwrap();
    let mut seen = [0, 0];
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        if REGISTERED_BY_A_PLUGIN.contains(&name) {
            continue;
        }
        let input = |key: &str| case["input"][key].as_str().unwrap();
        let found = resolve(input("kind"), input("name"));
        match case["expected"].as_str().unwrap() {
            "resolve" => assert!(found.is_ok(), "{name}: {found:?}"),
            "reject" => assert!(found.is_err(), "{name}: {found:?}"),
            other => panic!("{name}: {other}"),
        }
        seen[usize::from(found.is_ok())] += 1;
    }
    assert_eq!(seen, [18, 37], "cases that are refused and that resolve");
}

#[test]
fn the_seed_s_table_is_all_there() {
    for (kind, names) in [
        ("llm", "anthropic openai multi"),
        ("memory", "file sqlite memu"),
        ("scanner", "basic patterns promptfoo"),
        ("channel", "cli whatsapp telegram discord"),
        ("web", "none fetch search"),
        ("browser", "none container"),
        ("credentials", "env encrypted keychain"),
        ("skills", "readonly git"),
        ("audit", "file sqlite"),
        ("container", "docker apple subprocess"),
        ("scheduler", "none cron full"),
    ] {
        for name in names.split(' ') {
            assert_eq!(resolve(kind, name).unwrap().name(), name);
        }
    }
}
