//! A server that runs on while its settings change, with agents in processes of their own, and what it writes down of them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agents::Chat;
use crate::program::lazaret;
use crate::serve::{PATIENCE, Served, home, put};
use testkit::program::Run as _;

fn answer(said: &Value) -> &str {
    said["choices"][0]["message"]["content"].as_str().unwrap()
}

/// The lines of an event, once there is one.
fn lines(served: &Served<'_>, event: &str) -> Vec<Value> {
    let began = Instant::now();
    loop {
        let log = served.log.lock().unwrap().clone();
        let found: Vec<Value> = log.into_iter().filter(|it| it["event"] == event).collect();
        if !found.is_empty() || began.elapsed() > PATIENCE {
            return found;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn other_models_and_more_workers_count_without_a_restart_and_the_rest_is_named() {
    let script = json!({ "otherwise": { "say": "one" } });
    let home = home(&script, "serve: {maxWorkers: 1}\n");
    let served = Served::start(home.path());
    let ann = served.token("ann");
    assert_eq!(answer(&served.say(&ann, "hello", None)), "one");
    let other = json!({ "otherwise": { "say": "two" } });
    put(home.path(), "other.json", &other.to_string());
    let config = "providers: {llm: mock, web: fetch}\nmodels: {mock: {script: other.json}}\nserve: {maxWorkers: 4}\nsanitize: {tripwire: block}\n";
    put(home.path(), "config.yaml", config);
    let began = Instant::now();
    while answer(&served.say(&ann, "hello", None)) != "two" && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_secs(3));
    }
    assert_eq!(answer(&served.say(&ann, "hello", None)), "two");
    let reloaded = lines(&served, "config.reloaded");
    let waits = |it: &Value| it["details"]["needsRestart"] == json!(["sanitize"]);
    assert!(reloaded.iter().any(waits), "{reloaded:?}");
    let told = lazaret(home.path(), &["notifications", "--json"]).run();
    assert!(told.out.contains("needsRestart: sanitize"), "{}", told.out);
    // A script that is not there is told; sessions begin again when it is.
    put(home.path(), "config.yaml", &config.replace("other.json", "none.json"));
    assert!(!lines(&served, "config.refused").is_empty());
    put(home.path(), "none.json", &script.to_string());
    put(home.path(), "config.yaml", &config.replace("other.json", "none.json").replace("4}", "3}"));
    let began = Instant::now();
    let ask = || served.chat(&ann, &json!([{ "role": "user", "content": "hello" }]), None);
    while !ask().body.contains("one") && began.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_secs(3));
    }
    assert!(ask().body.contains("one"));
    assert_eq!(served.end(), 0);
}

#[test]
fn what_becomes_of_workers_and_calls_is_in_the_log_by_name_and_decision() {
    let call = |input: Value| json!({ "call": [{ "name": "memory_list", "input": input }] });
    let script = json!({
        "replies": [
            { "when": "look", "give": call(json!({ "scope": "agents/main" })) },
            { "when": "steal", "give": json!({ "call": [{ "name": "web_fetch", "input": { "url": "http://169.254.169.254/" } }] }) },
            { "when": "invent", "give": json!({ "call": [{ "name": "a_very_private_name", "input": {} }] }) },
        ],
        "otherwise": { "say": "done" },
    });
    let home = home(&script, "");
    let served = Served::start(home.path());
    let ann = served.token("ann");
    for text in ["look", "steal", "invent"] {
        served.say(&ann, text, None);
    }
    for event in
        ["worker.spawned", "worker.ready", "worker.exit", "session.created", "session.ended"]
    {
        assert!(!lines(&served, event).is_empty(), "{event}");
    }
    let called: BTreeSet<String> = lines(&served, "tool.called")
        .iter()
        .map(|it| it["details"]["tool"].as_str().unwrap().to_owned())
        .collect();
    assert!(called.contains("memory_list") && called.contains("web_fetch"), "{called:?}");
    let completed = lines(&served, "tool.completed");
    let listed = completed.iter().find(|it| it["details"]["tool"] == "memory_list").unwrap();
    assert_eq!(listed["details"]["decision"], "allow");
    assert_eq!((&listed["userId"], &listed["agentId"]), (&json!("ann"), &json!("main")));
    let denied = lines(&served, "tool.denied");
    assert!(denied.iter().any(|it| it["details"]["tool"] == "web_fetch"), "{denied:?}");
    let log = served.log.lock().unwrap().iter().map(Value::to_string).collect::<String>();
    assert!(!log.contains("a_very_private_name") && !log.contains("169.254"), "{log}");
    assert_eq!(served.end(), 0);
}

#[test]
fn whose_account_is_deleted_is_forgotten_by_a_chat_that_goes_on() {
    let script = json!({ "turns": [{ "say": "one" }, { "say": "two" }, { "say": "three" }] });
    let home = home(&script, "");
    let ann = "{name: ann, agents: [main], budget: unlimited, admin: true}";
    put(home.path(), "users.yaml", &format!("users:\n  - {ann}\n"));
    let served = Served::start(home.path());
    // One that opens some agents alone administers nothing.
    let made = lazaret(home.path(), &["access", "create", "--user", "ann", "--json"]).run();
    let token = made.object()["token"].as_str().unwrap().to_owned();
    let mut chat = Chat::of(lazaret(home.path(), &["chat", "--user", "ann"]));
    assert_eq!((chat.say("a"), chat.say("b")), ("one\n".to_owned(), "two\n".to_owned()));
    let gone = served.request("DELETE", "/api/users/ann/data", Some(&token), "");
    assert_eq!(gone.status, 200, "{}", gone.body);
    assert_eq!(chat.say("c"), "one\n", "of what was said before nothing is known");
    assert_eq!((chat.end(), served.end()), (0, 0));
}

#[test]
fn files_that_are_not_understood_open_no_session_and_tell_nothing_to_who_comes_over_the_network() {
    let home = home(&json!({ "otherwise": { "say": "yes" } }), "");
    let served = Served::start(home.path());
    let ann = served.token("ann");
    let said = json!([{ "role": "user", "content": "hello" }]);
    assert_eq!(served.chat(&ann, &said, None).status, 200);
    put(home.path(), "users.yaml", "users:\n  - nam: x\n");
    let refused = served.chat(&ann, &said, None);
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.body.contains("init_failed"), "{}", refused.body);
    let told = refused.body.contains("users.yaml") || refused.body.contains("nam");
    assert!(!told, "{}", refused.body);
    // At this machine it is said what is wrong.
    let here = lazaret(home.path(), &["run", "main", "hello", "--user", "ann"]).run();
    assert!(here.code == 2 && here.err.contains("users.yaml"), "{}", here.err);
    let chat = lazaret(home.path(), &["chat", "--user", "ann"]).run();
    assert!(chat.code == 2 && chat.err.contains("users.yaml"), "{}", chat.err);
    assert_eq!(served.end(), 0);
}

#[test]
fn who_shows_no_token_locks_nobody_out_and_streams_name_their_session() {
    let home = home(
        &json!({ "otherwise": { "say": "yes" } }),
        "serve: {rateLimits: {authFailuresPerMinute: 3}}\n",
    );
    let served = Served::start(home.path());
    let ann = served.token("ann");
    for _ in 0..6 {
        assert_eq!(served.request("GET", "/api/agents", None, "").status, 401);
    }
    assert_eq!(served.request("GET", "/api/agents", Some(&ann), "").status, 200);
    let request = json!({
        "model": "main", "stream": true, "messages": [{ "role": "user", "content": "x" }],
    });
    let path = "/v1/chat/completions";
    let streamed = served.request("POST", path, Some(&ann), &request.to_string());
    assert!(streamed.body.contains("\"session_id\":\""), "{}", streamed.body);
    let wrong = served.request("POST", path, Some(&ann), "{\"messages\": []}");
    assert!(wrong.status == 400 && wrong.body.contains("`model`"), "{}", wrong.body);
    for _ in 0..3 {
        assert_eq!(served.request("GET", "/api/agents", Some("guess"), "").status, 401);
    }
    assert_eq!(served.request("GET", "/api/agents", Some(&ann), "").status, 429);
    assert_eq!(served.end(), 0);
}
