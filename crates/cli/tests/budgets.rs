//! One budget for all: what `lazaret run`, the daemon, jobs and a server have models asked is paid from the same books.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::program::lazaret;
use crate::providers::support::agent;
use crate::serve::{Served, put};

/// A budget for two questions, of which the first warns.
const BUDGET: &str = "{unit: tokens, sessionLimit: 9e9, dailyLimit: 1e6, monthlyLimit: 9e9}";
pub(crate) const MOCK: &str =
    "providers: {llm: mock, scheduler: full}\nmodels: {mock: {script: script.json}}\n";

/// A state directory with one user, one agent, and a model that uses as much as its words say.
pub(crate) fn home(config: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), "config.yaml", config);
    let says =
        |count: u64| json!({ "say": "so", "usage": { "inputTokens": count, "outputTokens": 0 } });
    let replies = [("much", says(850_000)), ("more", says(200_000)), ("little", says(7))];
    let replies: Vec<Value> =
        replies.iter().map(|(when, give)| json!({ "when": when, "give": give })).collect();
    put(home.path(), "script.json", &json!({ "replies": replies }).to_string());
    let user = format!("  - {{name: me, agents: [main], budget: {BUDGET}}}\n");
    put(home.path(), "users.yaml", &format!("users:\n{user}"));
    let manifest = "---\nname: Main\ncredentials: {grants: {}}\n---\nHelps.\n";
    put(home.path(), "agents/main/IDENTITY.md", manifest);
    home
}

fn run(home: &Path, message: &str) -> (Ran<String>, Value) {
    let ran = lazaret(home, &["run", "main", message, "--json"]).run();
    let told = ran.objects().pop().unwrap_or_default();
    (ran, told)
}

/// What is used of the limit for a day, as `lazaret status` shows it.
pub(crate) fn used(home: &Path) -> f64 {
    let status = lazaret(home, &["status", "main", "--json"]).run().objects().remove(0);
    let budgets = status["agent"]["budgets"].as_array().unwrap().clone();
    let daily = budgets.iter().find(|it| it["budget"] == "daily").unwrap();
    daily["used"].as_f64().unwrap()
}

#[test]
fn commands_warn_then_refuse_and_a_server_and_a_daemon_see_the_same_sum() {
    let home = home(MOCK);
    let home = home.path();
    let (ran, told) = run(home, "much");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let warned = json!([{
        "budget": "daily", "limit": 1e6, "used": 850_000.0, "unit": "tokens", "percentage": 85,
    }]);
    assert_eq!(told["budget_warning"], warned, "{told}");
    // People are told in a sentence, beside a daemon, too.
    assert_eq!(lazaret(home, &["daemon", "start"]).run().code, 0);
    let ran = lazaret(home, &["run", "main", "little"]).run();
    assert!(ran.err.contains("850007 of 1000000 tokens of the daily budget"), "{}", ran.err);
    let (ran, told) = run(home, "more");
    assert_eq!((ran.code, &told["answer"]), (0, &json!("so")), "{told}");
    let (ran, told) = run(home, "little");
    assert_eq!((ran.code, &told["code"]), (1, &json!("budget_exceeded")), "{told}");
    assert_eq!(lazaret(home, &["daemon", "stop"]).run().code, 0);
    // The same without a daemon.
    let (ran, told) = run(home, "little");
    assert_eq!((ran.code, &told["code"]), (1, &json!("budget_exceeded")), "{told}");
    let exceeded = &told["budget_exceeded"];
    assert_eq!(
        (&exceeded["reason"], &exceeded["limit"], &exceeded["used"]),
        (&json!("daily"), &json!(1e6), &json!(1_050_007.0)),
        "{told}"
    );
    assert!(exceeded["resetsAt"].as_str().unwrap().starts_with("20"), "{told}");
    let talked = lazaret(home, &["chat"]).run_with("little\n");
    assert!(talked.err.contains("the daily budget is not enough"), "{}", talked.err);
    // A job of theirs is not carried out either.
    let add =
        ["scheduler", "add", "--user", "me", "--agent", "main", "--cron", "* * * * *", "little"];
    assert_eq!(lazaret(home, &add).run().code, 0);
    let mut book: Value =
        serde_json::from_str(&std::fs::read_to_string(home.join("scheduler.json")).unwrap())
            .unwrap();
    book["jobs"][0]["next"] = json!(book["jobs"][0]["created"].as_i64().unwrap() - 60);
    put(home, "scheduler.json", &book.to_string());
    let ran = lazaret(home, &["scheduler", "run", "--once", "--json"]).run();
    let ended = ran.objects().pop().unwrap_or_default();
    assert_eq!(ended["status"], "over_budget", "{}{}", ran.out, ran.err);
    assert_eq!(used(home), 1_050_007.0);
    // A server has the same books.
    let served = Served::start(home);
    let token = served.token("me");
    let usage = served.request("GET", "/api/usage", Some(&token), "").body;
    let usage: Value = serde_json::from_str(&usage).unwrap();
    assert_eq!(usage["budget"]["daily"]["used"], 1_050_007.0, "{usage}");
    let said = json!([{ "role": "user", "content": "little" }]);
    assert_eq!(served.chat(&token, &said, None).status, 429);
    assert_eq!(served.end(), 0);
}

#[test]
fn what_a_command_that_is_killed_has_asked_stays_spent() {
    let model = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = model.local_addr().unwrap().port();
    let home = home(&format!(
        "providers: {{llm: local}}\nmodels: {{default: local/m, local: {{url: \"http://127.0.0.1:{port}\"}}}}\n\
         egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n"
    ));
    let home = home.path();
    let mut command = lazaret(home, &["run", "main", "hello"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // A model that was asked, and has not answered.
    let (mut asked, _) = model.accept().unwrap();
    asked.read_exact(&mut [0; 64]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let before = used(home);
    assert!(before > 8000.0, "the question with the longest answer: {before}");
    // Whoever opens the books next does not forget it.
    put(home, "config.yaml", MOCK);
    let (ran, _) = run(home, "little");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(used(home), before + 7.0);
}

#[test]
fn where_nobody_is_listed_nothing_is_kept_and_who_is_not_listed_has_no_purse() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let ran = lazaret(home, &["run", "main", "hello"]).run();
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(!home.join("serve.db").exists());
    let listed = self::home(MOCK);
    let ran = lazaret(listed.path(), &["run", "main", "little", "--user", "mallory"]).run();
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(!listed.path().join("serve.db").exists());
}

#[test]
fn what_an_agent_of_somebody_else_asks_models_is_paid_as_well() {
    let home = home(MOCK);
    let home = home.path();
    let ask = |words: &str| {
        let turn = json!({ "role": "user", "content": words });
        let call = json!({ "action": "llm_call", "provider": "mock", "messages": [turn] });
        let query = json!({ "action": "model_query", "message": words });
        agent(home, "s", &[call, query])
    };
    let answers = ask("much");
    assert!(answers.iter().all(|it| it["ok"] == true), "{answers:?}");
    // The second one was asked while something was left, and both are paid.
    assert_eq!(used(home), 1_700_000.0);
    for is_beside_a_daemon in [false, true] {
        if is_beside_a_daemon {
            assert_eq!(lazaret(home, &["daemon", "start"]).run().code, 0);
        }
        let answers = ask("little");
        let refused = |it: &Value| it.to_string().contains("the daily budget is not enough");
        assert!(answers.len() == 2 && answers.iter().all(refused), "{answers:?}");
        assert!(answers.iter().all(|it| it["ok"] == false), "{answers:?}");
    }
    assert_eq!(lazaret(home, &["daemon", "stop"]).run().code, 0);
    assert_eq!(used(home), 1_700_000.0);
    assert_eq!(lazaret(home, &["evidence", "verify"]).run().code, 0);
}

#[test]
fn what_a_sub_agent_uses_is_paid_by_the_same_user() {
    let home = home(MOCK);
    let home = home.path();
    let manifest = "---\nname: Main\ncredentials: {grants: {}}\nagents: {reader: {tools: [memory]}}\n---\nHelps.\n";
    put(home, "agents/main/IDENTITY.md", manifest);
    let used_by = |count: u64, mut give: Value| {
        give["usage"] = json!({ "inputTokens": count, "outputTokens": 0 });
        give
    };
    let hand_on = json!({ "call": [{
        "name": "agent_delegate", "input": { "task": "TASK", "agent": "reader" },
    }]});
    let replies = json!({ "replies": [
        { "when": "CHILD", "give": used_by(1, json!({ "say": "it is done" })) },
        { "when": "TASK", "give": used_by(20, json!({ "say": "CHILD" })) },
        { "when": "go", "give": used_by(300, hand_on) },
    ]});
    put(home, "script.json", &replies.to_string());
    let (ran, told) = run(home, "go");
    assert_eq!((ran.code, &told["answer"]), (0, &json!("it is done")), "{told}{}", ran.err);
    assert_eq!(used(home), 321.0);
}

#[test]
fn what_a_provider_says_was_used_gives_nothing_back_and_stops_nobody_for_good() {
    let usages: [&'static str; 5] = [
        r#"{"prompt_tokens": -900000, "completion_tokens": -900000}"#,
        r#"{"prompt_tokens": 0.5, "completion_tokens": "none"}"#,
        r#"{"prompt_tokens": 1e400, "completion_tokens": 1}"#,
        r#"{"prompt_tokens": 4, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": -9}}"#,
        r#"{"prompt_tokens": 18446744073709551615, "completion_tokens": 18446744073709551615}"#,
    ];
    let count = AtomicUsize::new(0);
    let port = testkit::model::serve(move |_| {
        let usage = usages.get(count.fetch_add(1, Ordering::AcqRel)).unwrap_or(&"{}");
        let piece = r#"{"choices": [{"delta": {"content": "so it is"}}]}"#;
        let end = r#"{"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": "#;
        let text = format!("data: {piece}\n\ndata: {end}{usage}}}\n\ndata: [DONE]\n\n");
        Some(testkit::model::Told { kind: "text/event-stream", text })
    });
    let home = home(&format!(
        "providers: {{llm: local}}\nmodels: {{default: local/m, local: {{url: \"http://127.0.0.1:{port}\"}}}}\n\
         egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n"
    ));
    let home = home.path();
    let mut before = 0.0;
    for usage in usages {
        let (ran, told) = run(home, "little");
        assert!(ran.code == 0 || told["code"] != "budget_exceeded", "{usage}: {told}");
        let now = used(home);
        assert!(now > before, "{usage}: {now} after {before}");
        before = now;
    }
    // The last one was more than there is. It is told so, and that is no error of the books.
    let (ran, told) = run(home, "little");
    assert_eq!((ran.code, &told["code"]), (1, &json!("budget_exceeded")), "{told}");
    assert!(told["budget_exceeded"]["used"].as_f64().unwrap() > 1e18, "{told}");
}
