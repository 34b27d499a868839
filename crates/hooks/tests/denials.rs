//! What `lazaret-hook` says without a daemon is what this crate would say.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use hooks::{Host, Reply, answer, dialect};
use std::collections::BTreeMap;
use std::path::Path;

type Denials = BTreeMap<(String, String), (u8, bool, String)>;

/// Reads the table of `lazaret-hook`: `HOST EVENT EXIT note|quiet JSON|-`.
fn table() -> Denials {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hook/src/denials.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let mut table = Denials::new();
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(5, ' ').collect();
        let [host, event, exit, note, json] = words[..] else { panic!("{line}") };
        assert!(["note", "quiet"].contains(&note), "{line}");
        let json = if json == "-" { String::new() } else { json.to_owned() };
        let row = (exit.parse().unwrap(), note == "note", json);
        let before = table.insert((host.to_owned(), event.to_owned()), row);
        assert!(before.is_none(), "twice: {line}");
    }
    table
}

#[test]
fn every_denial_without_a_daemon_is_what_this_crate_says() {
    let mut table = table();
    let reason = "a \"reason\"\n with $text, \\ and é";
    let quoted = serde_json::Value::from(reason).to_string();
    for host in Host::ALL {
        for event in dialect(host).events() {
            let key = (host.to_string(), event.to_owned());
            let (exit, note, json) =
                table.remove(&key).unwrap_or_else(|| panic!("not in the table: {key:?}"));
            let expected = answer(host, event, None, &Reply::Deny { reason: reason.to_owned() });
            assert_eq!(exit, expected.exit, "{key:?}");
            let stdout = json.replace("$text", &quoted);
            assert_eq!(stdout, String::from_utf8(expected.stdout).unwrap(), "{key:?}");
            assert_eq!(note, !expected.stderr.is_empty(), "{key:?}");
        }
        let unknown = answer(host, "NoSuchEvent", None, &Reply::Deny { reason: reason.to_owned() });
        assert_eq!((unknown.exit, unknown.stdout.as_slice()), (2, &b""[..]));
        assert!(!unknown.stderr.is_empty());
    }
    assert!(table.is_empty(), "unknown here: {:?}", table.keys());
}
