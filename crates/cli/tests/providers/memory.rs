//! Memory in a file of its own.

use serde_json::json;

use crate::providers::support::{agent, good, home};

#[test]
fn memory_in_a_file_is_found_shown_and_kept_apart_from_the_store() {
    let home = home("providers:\n  memory: file\n");
    let home = home.path();
    let write = json!({"action": "memory_write", "scope": "a/b", "content": "tea at five", "type": "knowledge"});
    let id = agent(home, "s", &[write])[0]["id"].as_str().unwrap().to_owned();
    let found =
        agent(home, "t", &[json!({"action": "memory_query", "scope": "a", "query": "five"})]);
    assert_eq!(found[0]["results"][0]["id"], id.as_str(), "{found:?}");
    let shown = good(home, &["taint", "show", "--memory", &id]);
    assert_eq!(shown[0]["content"], "tea at five");
    let cleared = good(home, &["taint", "clear", "--memory", &id, "--reason", "mine", "--yes"]);
    assert_eq!(cleared[0]["name"], id.as_str());
    assert!(home.join("memory/memory.jsonl").exists());
}
