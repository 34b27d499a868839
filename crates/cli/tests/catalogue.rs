//! `lazaret catalogue propose`: from lists of tools and traces to a catalogue that the gate reads.

#![expect(clippy::disallowed_methods, reason = "files that a test writes for a command to read")]

use std::fs;

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;

#[test]
fn a_list_of_tools_becomes_a_catalogue() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("tools.json");
    let tools = json!([
        {"name": "order_get", "description": "One order."},
        {"name": "ManageVisits", "description": "List, create, update and delete visits."},
        {"name": "send_email", "description": "Sends mail.", "inputSchema": {"type": "object", "properties": {"to": {"type": "string"}}}},
    ]);
    for list in [tools.clone(), json!({"tools": tools}), json!({"result": {"tools": tools}})] {
        fs::write(&file, list.to_string()).unwrap();
        let run = lazaret(home.path(), &["catalogue", "propose", file.to_str().unwrap()]).run();
        let catalogue: Value = serde_json::from_str(&run.out).unwrap();
        let effect = |name: &str| catalogue["tools"][name]["effect"].as_str().unwrap().to_owned();
        assert_eq!(effect("order_get"), "read");
        assert_eq!(effect("ManageVisits"), "write");
        assert_eq!(effect("send_email"), "send");
        assert_eq!(catalogue["tools"]["send_email"]["args"]["to"], "destination");
        // What it wrote is read again, and comes first.
        let proposed = home.path().join("catalog.json");
        let corrected = run.out.replace("\"read\"", "\"write\"");
        fs::write(&proposed, corrected).unwrap();
        let words = [
            "catalogue",
            "propose",
            "--catalog",
            proposed.to_str().unwrap(),
            file.to_str().unwrap(),
        ];
        let again = lazaret(home.path(), &words).run();
        let again: Value = serde_json::from_str(&again.out).unwrap();
        assert_eq!(again["tools"]["order_get"]["effect"], "write");
    }
}

#[test]
fn what_has_no_tools_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("tools.json");
    for text in ["{}", "[]", "{\"tools\":{}}", "no json", "[{\"name\":\"\"}]", ""] {
        fs::write(&file, text).unwrap();
        let run = lazaret(home.path(), &["catalogue", "propose", file.to_str().unwrap()]).run();
        assert_eq!(run.code, 2, "{text}: {}", run.err);
        assert!(!run.err.is_empty() && run.out.is_empty(), "{text}");
    }
}
