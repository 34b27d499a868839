//! A message reaches the handler of its action, and no other.

use std::collections::BTreeSet;

use model::ipc::{self, ActionName, Handler};

use crate::support::accepted;

/// Answers with the name of the method that was called.
struct Names;

macro_rules! named {
    ($($name:ident $type:ident)+) => {
        impl Handler for Names {
            type Output = &'static str;
            $(fn $name(&mut self, _: ipc::$type) -> &'static str { stringify!($name) })+
        }
    };
}

named! {
    llm_call LlmCall
    memory_write MemoryWrite
    memory_query MemoryQuery
    memory_read MemoryRead
    memory_delete MemoryDelete
    memory_list MemoryList
    web_fetch WebFetch
    web_search WebSearch
    browser_launch BrowserLaunch
    browser_navigate BrowserNavigate
    browser_snapshot BrowserSnapshot
    browser_click BrowserClick
    browser_type BrowserType
    browser_screenshot BrowserScreenshot
    browser_close BrowserClose
    skill_propose SkillPropose
    skill_read SkillRead
    skill_list SkillList
    oauth_call OauthCall
    scheduler_list_cron SchedulerListCron
    scheduler_get_heartbeat SchedulerGetHeartbeat
    scheduler_list_triggers SchedulerListTriggers
    scheduler_remove_cron SchedulerRemoveCron
    audit_query AuditQuery
}

/// Of actions for which the corpus has only messages that are refused.
const OTHERS: &[&str] = &[
    r#"{"action":"browser_close","session":"b"}"#,
    r#"{"action":"browser_screenshot","session":"b"}"#,
    r#"{"action":"memory_delete","id":"123e4567-e89b-12d3-a456-426614174000"}"#,
    r#"{"action":"skill_read","name":"notes"}"#,
    r#"{"action":"scheduler_get_heartbeat"}"#,
    r#"{"action":"scheduler_list_cron"}"#,
    r#"{"action":"scheduler_list_triggers"}"#,
];

#[test]
fn every_accepted_message_reaches_the_handler_with_its_name() {
    let mut reached = BTreeSet::new();
    for bytes in accepted().into_iter().chain(OTHERS.iter().map(|it| it.as_bytes().to_vec())) {
        let action = ipc::parse(&bytes).unwrap();
        let name = action.name().as_str();
        assert_eq!(action.dispatch(&mut Names), name);
        reached.insert(name);
    }
    let missed: Vec<_> =
        ActionName::ALL.iter().filter(|name| !reached.contains(name.as_str())).collect();
    assert!(missed.is_empty(), "{missed:?}");
    assert_eq!(ActionName::ALL.len(), 24);
}

#[test]
fn names_are_read_back_and_nothing_like_them_is() {
    for name in ActionName::ALL {
        assert_eq!(ActionName::parse(name.as_str()), Some(*name));
        assert_eq!(ActionName::parse(&name.as_str().to_uppercase()), None);
        assert_eq!(ActionName::parse(&format!("{} ", name.as_str())), None);
    }
}
