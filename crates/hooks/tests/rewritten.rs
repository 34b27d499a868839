//! Results that are replaced keep the shape that the host insists on.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use crate::world::{made, seen, tool};
use hooks::{Event, Host, Reply, answer};
use serde_json::{Value, json};

/// What Claude Code is told instead of a result.
fn replaced(shape: Value, mcp: Option<&str>) -> Value {
    let event = Event::After {
        tool: tool("Any", json!({}), mcp),
        output: String::new(),
        failed: false,
        shape,
    };
    let reply = Reply::Replace { text: "NEW".into() };
    let said = answer(Host::Claude, "PostToolUse", Some(&made(event)), &reply);
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    said["hookSpecificOutput"]["updatedToolOutput"].clone()
}

#[test]
fn a_shells_result_has_the_three_fields_without_which_it_is_ignored() {
    let new = replaced(
        json!({"stdout": "SECRET", "stderr": "SECRET", "interrupted": true, "isImage": false,
            "persistedOutputPath": "/home/dev/SECRET", "noOutputExpected": false}),
        None,
    );
    assert_eq!(new, json!({"stdout": "NEW", "stderr": "", "interrupted": true, "isImage": false}));
}

#[test]
fn a_file_that_was_read_keeps_its_shape() {
    let read = seen(Host::Claude, "PostToolUse@files.009-Read.json");
    let Event::After { shape, output, .. } = read.event else { panic!("no result") };
    assert_eq!(output, "two\n");
    let mut expected = shape.clone();
    expected["file"]["content"] = json!("NEW");
    assert_eq!(replaced(shape, None), expected);
}

#[test]
fn results_of_mcp_servers_become_text() {
    let block = json!([{"type": "text", "text": "NEW"}]);
    let old = json!([{"type": "text", "text": "SECRET"}, {"type": "image", "data": "AAAA"}]);
    assert_eq!(replaced(old, Some("s")), block);
    assert_eq!(replaced(json!("{\"note\":\"SECRET\"}"), Some("s")), json!("NEW"));
    assert_eq!(replaced(json!({"content": []}), Some("s")), block);
}

#[test]
fn results_of_other_tools_keep_their_types_and_lose_their_text() {
    let fetched = json!({"bytes": 12, "code": 200, "codeText": "SECRET", "result": "SECRET",
        "durationMs": 3, "url": "https://SECRET.example"});
    let new = replaced(fetched, None);
    assert_eq!(new["result"], "NEW");
    assert_eq!((&new["bytes"], &new["code"]), (&json!(12), &json!(200)));
    let found =
        json!({"mode": "files_with_matches", "filenames": ["SECRET", "SECRET"], "numFiles": 2});
    let expected = json!({"mode": "files_with_matches", "filenames": ["NEW"], "numFiles": 2});
    assert_eq!(replaced(found, None), expected);
    let searched = json!({"query": "SECRET", "results": [{"tool_use_id": "t", "content":
        [{"title": "SECRET", "url": "SECRET"}]}, "SECRET"], "durationSeconds": 1.5});
    let new = replaced(searched, None);
    assert!(new["results"][0]["content"][0]["title"].is_string());
    assert!(new.to_string().contains("NEW"));
    // A long text under the name of a discriminator is content.
    let long = json!({"type": "SECRET ".repeat(400), "x": null});
    for shape in [new, replaced(long, None), replaced(json!(null), None), replaced(json!(7), None)]
    {
        assert!(!shape.to_string().contains("SECRET"), "{shape}");
        assert!(shape.to_string().contains("NEW"), "{shape}");
    }
}

#[test]
fn an_empty_result_is_still_a_replacement() {
    let after = seen(Host::Codex, "PostToolUse@subagent.010-Bash.json");
    let said =
        answer(Host::Codex, "PostToolUse", Some(&after), &Reply::Replace { text: String::new() });
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(said, json!({"decision": "block", "reason": "(no output)"}));
}

#[test]
fn a_long_result_is_not_cut_and_a_long_reason_is() {
    let after = seen(Host::Gemini, "AfterTool@files.007-read_file.json");
    let long = "é".repeat(hooks::TEXT_CHARS_MAX * 2);
    let length = |reply: &Reply| {
        let said = answer(Host::Gemini, "AfterTool", Some(&after), reply);
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        said["reason"].as_str().unwrap().chars().count()
    };
    assert_eq!(length(&Reply::Replace { text: long.clone() }), hooks::TEXT_CHARS_MAX * 2);
    assert_eq!(length(&Reply::Withhold { reason: long }), hooks::TEXT_CHARS_MAX + 1);
}
