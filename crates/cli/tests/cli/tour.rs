//! A new user's tour, and what is told when something is wrong.

use std::path::Path;

use testkit::program::Run as _;

use crate::cli::support::{demo, evidence, lazaret, object, objects, refused};
use crate::program::{LAZARET, stateless};

#[test]
fn the_demo_needs_nothing_and_leaves_nothing() {
    let temporary = tempfile::tempdir().unwrap();
    let stdout = stateless(&["demo"]).env("TMPDIR", temporary.path()).run().good().out;
    assert!(stdout.contains("Verification: PASS") && !stdout.contains('\u{1b}'), "{stdout}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn the_demo_does_not_touch_a_directory_that_is_there() {
    let dir = tempfile::tempdir().unwrap();
    refused(&["demo", "--dir", dir.path().to_str().unwrap()], 3, &["does not exist yet"]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_look_around() {
    let (_dir, home) = demo();
    let stats = object(&evidence("stats", &home, &["--json"]));
    assert_eq!(stats["records"], 13);
    assert_eq!(stats["sessions"], 2);
    let (code, stdout, _) = lazaret(&evidence("stats", &home, &[]));
    assert!(code == 0 && stdout.contains("records      13"), "{stdout}");

    let tail = objects(&evidence("tail", &home, &["-n", "3", "--json"]));
    assert_eq!(tail.iter().map(|it| it["idx"].as_u64().unwrap()).collect::<Vec<_>>(), [10, 11, 12]);
    let (code, stdout, _) = lazaret(&evidence("tail", &home, &[]));
    assert!(code == 0 && stdout.lines().count() == 13, "{stdout}");

    let filters = [
        (&["--type", "ToolCall"][..], 4),
        (&["--session", "session-b", "--kind", "tool_send"], 3),
        (&["--taint", "UNTRUSTED,WEB_DERIVED"], 5),
        (&["--since", "1h"], 13),
        (&["--until", "1h"], 0),
        (&["--since", "2020-01-01T00:00:00Z", "--limit", "1"], 1),
        (&["--agent", "nobody"], 0),
    ];
    for (filter, count) in filters {
        let mut args = evidence("query", &home, filter);
        args.push("--json");
        assert_eq!(objects(&args).len(), count, "{filter:?}");
    }
    let (code, stdout, _) = lazaret(&evidence("query", &home, &["--type", "SessionMessage"]));
    assert!(code == 0 && stdout.lines().count() == 2, "{stdout}");
}

#[test]
fn wrong_usage_is_told_apart_from_what_could_not_work() {
    let (_dir, home) = demo();
    for bad in [
        &["--type", "Nonsense"][..],
        &["--session", "a b"],
        &["--since", "yesterday"],
        &["--since", "9223372036854775807d"],
        &["--taint", "untrusted"],
        &["--id", "short"],
    ] {
        refused(&evidence("query", &home, bad), 2, &[]);
    }
    refused(&["evidence", "bench", "--writers", "1000000"], 2, &[]);
    refused(&["evidence", "bench", "--payload", "18446744073709551615"], 2, &[]);
    refused(&evidence("checkpoint", &home, &["--prove", "short"]), 2, &[]);
    refused(&evidence("verify", &home, &["--key", "no such file"]), 2, &[]);

    let nowhere = format!("{home}/nowhere");
    for command in ["stats", "tail", "query", "verify", "checkpoint"] {
        refused(&evidence(command, &nowhere, &[]), 3, &["no journal", "lazaret demo"]);
    }
    refused(&evidence("retain", &nowhere, &["--before", "1d"]), 3, &["no journal"]);
    refused(&evidence("export", &nowhere, &["out"]), 3, &["no journal"]);
    assert!(!Path::new(&nowhere).exists(), "asking makes nothing");
}

#[test]
fn what_others_wrote_cannot_act_on_the_terminal() {
    let (_dir, home) = demo();
    let journal = Path::new(&home).join("evidence");
    let (journal, _) = ::evidence::Journal::open(&::evidence::Config::new(journal)).unwrap();
    let hostile = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{2066}\u{e0041}\u{7f}";
    let kind = model::Kind::parse("hostile").unwrap();
    let content = serde_json::json!(hostile);
    let record = ::evidence::NewRecord::of_host(aegx::RecordType::ToolResult, kind, content);
    journal.append(record).unwrap();
    journal.close().unwrap();
    for command in [&["tail"][..], &["tail", "--json"], &["query"], &["query", "--json"]] {
        let (code, stdout, _) = lazaret(&evidence(command[0], &home, &command[1..]));
        assert_eq!(code, 0);
        let acts =
            |it: char| it != '\n' && (it.is_control() || hostile.contains(it) && !it.is_ascii());
        assert!(!stdout.contains(acts), "{command:?}: {stdout:?}");
    }
    let found = object(&evidence("query", &home, &["--kind", "hostile", "--json"]));
    assert_eq!(found["record"]["payload"]["inline"], hostile, "escaped, not changed");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a shell that pipes what the program says")]
fn a_reader_that_goes_away_is_no_error() {
    let (_dir, home) = demo();
    let script = format!(
        "'{LAZARET}' evidence query --home '{home}' --json | head -n 1; exit ${{PIPESTATUS[0]}}"
    );
    std::process::Command::new("bash").args(["-c", &script]).run().done();
}

#[test]
fn what_cannot_be_written_is_an_error_and_pages_go_where_they_are_wanted() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("state");
    let told = crate::program::lazaret(&home, &["status", "--json"]).stdout(full).output().unwrap();
    assert_eq!(told.status.code(), Some(3), "{}", String::from_utf8_lossy(&told.stderr));
    let made = stateless(&["man", "pages/man1"]).current_dir(dir.path()).run();
    assert_eq!(made.code, 0, "{}", made.err);
    assert!(dir.path().join("pages/man1/lazaret.1").is_file());
}
