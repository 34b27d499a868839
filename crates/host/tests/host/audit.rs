//! An agent sees the evidence of its own session.

use model::Taint;
use serde_json::{Value, json};

use crate::support::House;

fn query(house: &House, who: &model::Caller, filter: Value) -> Vec<Value> {
    house.settle();
    let answer = house.say(who, &json!({"action": "audit_query", "filter": filter}));
    assert_eq!(answer["ok"], true, "{answer}");
    answer["entries"].as_array().unwrap().clone()
}

#[test]
fn records_of_others_are_not_shown() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let alice = house.open("alice", "a");
    let other = house.open("alice", "a2");
    let bob = house.open("bob", "b");
    for who in [&alice, &other, &bob] {
        house.say(who, &json!({"action": "skill_list"}));
    }
    let entries = query(&house, &alice, json!({}));
    let ids: Vec<&str> = entries.iter().map(|it| it["id"].as_str().unwrap()).collect();
    let own = house.records("a");
    assert!(entries.len() >= 3);
    assert!(ids.iter().all(|id| own.iter().any(|it| it["recordId"] == *id)), "{ids:?}\n{own:?}");
    for session in ["a2", "b"] {
        let others = house.records(session);
        assert!(!others.iter().any(|it| ids.contains(&it["recordId"].as_str().unwrap())));
    }
}

#[test]
fn filters_choose_by_action_time_and_number() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "a");
    house.say(&who, &json!({"action": "skill_list"}));
    house.say(&who, &json!({"action": "scheduler_list_cron"}));
    let skills = query(&house, &who, json!({"action": "skill_list"}));
    assert_eq!(skills.len(), 2, "the decision and the outcome");
    assert!(skills.iter().all(|it| it["action"] == "skill_list"));
    assert_eq!(query(&house, &who, json!({"action": "scheduler_list_cron"})).len(), 2);
    assert_eq!(query(&house, &who, json!({"action": "web_fetch"})), Vec::<Value>::new());
    let newest = query(&house, &who, json!({"limit": 1}));
    assert_eq!((newest.len(), &newest[0]["action"]), (1, &json!("audit_query")), "the newest");
    let run_at = json!({"action": "scheduler_run_at", "datetime": "x", "prompt": "p"});
    house.say(&who, &run_at);
    assert!(!query(&house, &who, json!({"action": "scheduler_run_at"})).is_empty());
    assert_eq!(query(&house, &who, json!({"until": "2001-01-01T00:00:00Z"})), Vec::<Value>::new());
    assert!(!query(&house, &who, json!({"since": "2001-01-01T00:00:00.5Z"})).is_empty());
    let odd = json!({"action": "audit_query", "filter": {"action": "a b"}});
    let answer = house.say(&who, &odd);
    assert!(
        answer["error"].as_str().unwrap().starts_with("Handler error: a kind of record has only")
    );
}

#[test]
fn what_a_record_shows_of_a_page_is_still_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let house = House::new(dir.path());
    let who = house.open("alice", "a");
    let page = "https://evil.example/page";
    house.hear_page(
        &who,
        page,
        "a page that says a lot about many things and nothing in particular",
    );
    let before = house.monitor.summary(&who).unwrap();
    let entries = query(&house, &who, json!({"action": "heard"}));
    assert!(entries[0]["content"]["preview"].as_str().unwrap().starts_with("a page that says"));
    let after = house.monitor.summary(&who).unwrap();
    assert!(after.tainted_tokens > before.tainted_tokens, "read back, it counts as from outside");
    assert!(after.taint.contains(Taint::UNTRUSTED));
    assert_eq!(after.origin, page);
}
