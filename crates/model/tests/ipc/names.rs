//! A message is read as the action that it names, and as no other.

use std::collections::BTreeSet;

use model::ipc::{self, ActionName};
use serde_json::Value;

use crate::ipc::support::accepted;

/// Of actions for which the corpus has only messages that are refused.
const OTHERS: &[&str] = &[
    r#"{"action":"browser_close","session":"b"}"#,
    r#"{"action":"browser_screenshot","session":"b"}"#,
    r#"{"action":"memory_delete","id":"123e4567-e89b-12d3-a456-426614174000"}"#,
    r#"{"action":"skill_read","name":"notes"}"#,
    r#"{"action":"scheduler_get_heartbeat"}"#,
    r#"{"action":"scheduler_list_cron"}"#,
    r#"{"action":"scheduler_list_triggers"}"#,
    r#"{"action":"file_read","path":"a","offset":2,"limit":3}"#,
    r#"{"action":"file_write","path":"a","content":""}"#,
    r#"{"action":"file_edit","path":"a","old":"b","new":"c","all":true}"#,
    r#"{"action":"file_list"}"#,
    r#"{"action":"file_search","query":"b","path":"a","maxResults":1}"#,
    r#"{"action":"shell_exec","command":"ls","dir":"src","timeoutMs":1000}"#,
    r#"{"action":"agent_delegate","task":"t","context":"c","agent":"reader","model":"fast","maxTokens":9,"timeoutSec":5,"wait":false}"#,
    r#"{"action":"agent_collect","handleIds":["h"],"timeoutMs":1000}"#,
    r#"{"action":"model_query","message":"why?","system":"be brief","model":"fast","maxTokens":9}"#,
    r#"{"action":"task_list","all":true}"#,
    r#"{"action":"task_add","text":"water the plants"}"#,
    r#"{"action":"task_close","id":"123e4567-e89b-12d3-a456-426614174000","status":"dropped"}"#,
    r#"{"action":"scratch_write","name":"plan.md","content":""}"#,
    r#"{"action":"scratch_read","name":"plan.md"}"#,
    r#"{"action":"scratch_list"}"#,
    r#"{"action":"current_time"}"#,
    r#"{"action":"prompt_read"}"#,
    r#"{"action":"tools_read"}"#,
    r#"{"action":"file_list","path":"a","depth":2,"pattern":"*.md"}"#,
    r#"{"action":"web_fetch","url":"https://a.example/","query":"opening hours"}"#,
    r#"{"action":"message_out","text":"The harbour opens at six."}"#,
    r#"{"action":"message_out","text":"The harbour opens at six.","to":"telegram:dm:5"}"#,
    r#"{"action":"scheduler_add_cron","schedule":"0 9 * * 1","prompt":"p","maxTokenBudget":5}"#,
    r#"{"action":"scheduler_run_at","datetime":"2026-03-01T14:30:00","prompt":"p","delivery":{"mode":"channel","target":"last"}}"#,
    r#"{"action":"scheduler_run_at","datetime":"2026-03-01T14:30:00","prompt":"p","delivery":{"mode":"channel","target":{"provider":"slack","scope":"dm","identifiers":{"peer":"U1"}}}}"#,
];

#[test]
fn every_accepted_message_is_the_action_that_it_names() {
    let mut read = BTreeSet::new();
    for bytes in accepted().into_iter().chain(OTHERS.iter().map(|it| it.as_bytes().to_vec())) {
        let message: Value = serde_json::from_slice(&bytes).unwrap();
        let name = ipc::parse(&bytes).unwrap().name();
        assert_eq!(name.as_str(), message["action"]);
        read.insert(name);
    }
    let missed: Vec<_> = ActionName::ALL.iter().filter(|name| !read.contains(name)).collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert_eq!(ActionName::ALL.len(), 45);
}

#[test]
fn names_are_read_back_and_nothing_like_them_is() {
    for name in ActionName::ALL {
        assert_eq!(ActionName::parse(name.as_str()), Some(*name));
        assert_eq!(ActionName::parse(&name.as_str().to_uppercase()), None);
        assert_eq!(ActionName::parse(&format!("{} ", name.as_str())), None);
    }
}
