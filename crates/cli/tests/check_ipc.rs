//! `lazaret check ipc` and `lazaret schema`: output, messages and exit codes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::program::stateless;

const GOOD: &str = r#"{"action":"web_search","query":"q"}"#;
const BAD: &str = r#"{"action":"web_search","query":"q","_userId":"root"}"#;

fn run(args: &[&str], stdin: impl Into<Vec<u8>>) -> Ran {
    stateless(args).run_with(stdin)
}

#[test]
fn a_good_message_exits_0_and_a_bad_one_1() {
    let good = run(&["check", "ipc", "--json", GOOD], "");
    assert_eq!(good.code, 0);
    let expected =
        json!({"id": null, "ok": true, "action": "web_search", "error": null, "details": []});
    assert_eq!(good.objects(), [expected]);

    let both = run(&["check", "ipc", "--json", BAD, GOOD], "");
    assert_eq!(both.code, 1);
    let expected = json!({
        "id": null,
        "ok": false,
        "action": "web_search",
        "error": "Validation failed for action \"web_search\"",
        "details": [{"path": "", "message": "unknown field `_userId`"}],
    });
    assert_eq!(both.objects()[0], expected);
    assert_eq!(both.objects()[1]["ok"], true);
}

#[test]
fn people_get_a_line_of_text_that_their_terminal_does_not_obey() {
    let ran = run(&["check", "ipc", GOOD, BAD, "{\"action\":\"\u{1b}[2J\u{202e}\"}"], "");
    assert_eq!(ran.code, 1);
    let text = ran.out;
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("accepted  web_search"));
    let refused = r#"refused   Validation failed for action "web_search": unknown field `_userId`"#;
    assert_eq!(lines.next(), Some(refused));
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
}

#[test]
fn a_batch_goes_on_after_lines_that_cannot_be_read() {
    let requests = [
        json!({"id": 1, "message": GOOD}).to_string(),
        "not json".to_owned(),
        json!({"id": "two", "message": BAD}).to_string(),
        String::new(),
        "[1]".to_owned(),
        json!({"id": 3}).to_string(),
        json!({"id": 4, "message": {"action": "skill_list"}}).to_string(),
        json!({"message": "not json"}).to_string(),
    ];
    let answers = run(&["check", "ipc", "--json"], requests.join("\n")).good().objects();
    assert_eq!(answers.len(), requests.len());
    assert_eq!((&answers[0]["id"], &answers[0]["ok"]), (&json!(1), &json!(true)));
    assert_eq!((&answers[2]["id"], &answers[2]["ok"]), (&json!("two"), &json!(false)));
    for unread in [1, 3, 4] {
        assert_eq!(answers[unread]["id"], Value::Null);
        assert!(answers[unread]["error"].is_string() && answers[unread].get("ok").is_none());
    }
    assert_eq!(answers[5], json!({"id": 3, "error": "`message` is missing"}));
    assert_eq!(answers[6]["id"], 4);
    assert_eq!(answers[7]["error"], "Invalid JSON");
    assert_eq!(answers[7]["details"].as_array().unwrap().len(), 1);
}

#[test]
fn bytes_that_are_not_utf_8_are_a_line_that_cannot_be_read() {
    let ran = run(&["check", "ipc", "--json"], &b"{\"id\":1,\"message\":\"\xff\"}\n"[..]);
    assert_eq!(ran.good().objects()[0]["id"], Value::Null);
}

#[test]
fn an_answer_comes_before_the_next_request() {
    let mut child = stateless(&["check", "ipc", "--json"]).start();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    for id in 0..3 {
        writeln!(input, "{}", json!({"id": id, "message": GOOD})).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["id"], id);
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_stdin_that_cannot_be_read_exits_3() {
    let directory = std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
    let output = stateless(&["check", "ipc", "--json"]).stdin(directory).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("lazaret: stdin: "));
}

#[test]
fn many_lines_are_answered_in_order_and_counted() {
    let requests: String =
        (0..20_000).map(|id| format!("{}\n", json!({"id": id, "message": GOOD}))).collect();
    let ran = run(&["check", "ipc", "--json", "--stats"], requests).good();
    let answers = ran.objects();
    assert_eq!(answers.len(), 20_000);
    assert!(answers.iter().enumerate().all(|(at, answer)| answer["id"] == at));
    let stats = ran.err;
    assert!(stats.starts_with("count 20000  p50 "), "{stats}");
    assert!(stats.contains("p99") && stats.trim_end().ends_with("MB/s"), "{stats}");
}

#[test]
fn the_verdicts_of_the_corpus_hold_through_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/ax/ipc_pipeline.json");
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let requests: Vec<_> = cases
        .iter()
        .map(|case| json!({"id": case["name"], "message": case["input"]["raw"]}).to_string())
        .collect();
    let answers = run(&["check", "ipc", "--json"], requests.join("\n")).objects();
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(answers) {
        assert_eq!(answer["id"], case["name"]);
        if case["expected"]["ok"] == false {
            assert_eq!(answer["ok"], false, "{}", case["name"]);
        }
    }
}

#[test]
fn wrong_usage_exits_2() {
    assert_eq!(run(&["check", "nothing"], "").code, 2);
    assert_eq!(run(&["check", "ipc", "--nothing"], "").code, 2);
    run(&["schema", "evil_action"], "").fails(2, &["no action `evil_action`"]);
}

#[test]
fn schemas_are_listed_and_printed() {
    let listed = run(&["schema"], "").out;
    assert_eq!(listed.lines().count(), 45);
    assert!(listed.contains("oauth_call"));

    let schema = &run(&["schema", "browser_launch", "--json"], "").objects()[0];
    assert_eq!(schema["additionalProperties"], false);
    let viewport = &schema["properties"]["config"]["properties"]["viewport"];
    assert_eq!(viewport["properties"]["width"]["maximum"], 3840);
    assert_eq!(viewport["additionalProperties"], false);

    let pretty = run(&["schema", "browser_launch"], "");
    assert_eq!(serde_json::from_str::<Value>(&pretty.out).unwrap(), *schema);

    let all = run(&["schema", "--json"], "").objects();
    assert_eq!(all.len(), 45);
    assert!(all.iter().all(|it| it["schema"]["title"] == it["action"]));
}
