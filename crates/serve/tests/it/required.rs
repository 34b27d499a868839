//! What `corpus/serve/limits` and `corpus/serve/serve_behaviour_required` ask of a server: each case is tried here, or names the
//! test that does; a case in which we do something else says why.

use std::collections::BTreeSet;
use std::time::Duration;

use host::worker::{END_WITHIN, IDLE_MAX, READY_WITHIN};
use serde_json::{Value, json};

use crate::messages::{corpus, expand};
use crate::world::{ANN, ROOT, World, home, user, users};

/// By what a case is shown to hold.
enum Proof {
    /// A test, by its file and its name.
    Test(&'static str, &'static str),
    /// The files do not load.
    Refused,
    /// Something else holds, for this reason; and the test that shows it.
    Differs(&'static str, &'static str, &'static str),
    /// Tried below, by this test.
    Here,
}

use Proof::{Differs, Here, Refused, Test};

const LIMITS: &str = "tests/it/limits.rs";
const BUDGETS: &str = "tests/it/budgets.rs";
const SOCKETS: &str = "tests/it/sockets.rs";
const ACCESS: &str = "tests/it/access.rs";
const TURNS: &str = "src/turns.rs";
const STOP: &str = "tests/it/stop.rs";
const WORKER: &str = "../host/src/worker/tests.rs";
const INBOX: &str = "../host/src/worker/inbox.rs";
const NO_DEFAULT: &str =
    "who may spend how much is said in so many words: a budget that is not whole stops the start";
const NO_GUESS: &str =
    "a setting that is none stops the start, where upstream takes its default or cuts it to size";

/// Of `limits.json`.
const OF_LIMITS: &[(&str, Proof)] = &[
    (
        "maxWorkers 0",
        Differs(NO_GUESS, ACCESS, "users_of_the_corpus_that_are_not_understood_stop_the_start"),
    ),
    (
        "maxWorkers NaN",
        Differs(NO_GUESS, ACCESS, "users_of_the_corpus_that_are_not_understood_stop_the_start"),
    ),
    (
        "maxWorkers \"5\"",
        Differs(NO_GUESS, ACCESS, "users_of_the_corpus_that_are_not_understood_stop_the_start"),
    ),
    (
        "maxWorkers 2.9",
        Differs(NO_GUESS, ACCESS, "users_of_the_corpus_that_are_not_understood_stop_the_start"),
    ),
    ("maxWorkers \"abc\"", Differs(NO_GUESS, "tests/it/required.rs", "settings_that_are_none")),
    (
        "maxWorkers 1000000000.0",
        Differs(
            "a thousand workers are the most",
            ACCESS,
            "users_of_the_corpus_that_are_not_understood_stop_the_start",
        ),
    ),
    ("20 messages in a minute pass", Here),
    ("users independent", Test(LIMITS, "messages_in_a_minute")),
    ("6th connection refused (5)", Test(LIMITS, "sockets_of_one_user")),
    ("connection slot returns on close", Test(LIMITS, "sockets_of_one_user")),
    ("message length 50000 ok", Here),
    (
        "message length 50001",
        Differs(
            "200,000 unless the settings say 50,000",
            "tests/it/required.rs",
            "lengths_of_the_corpus",
        ),
    ),
    ("idle 5 min (code default) / 30 min (docs)", Test(LIMITS, "lengths_requests_and_silence")),
    ("worker silent 30 s", Here),
    ("worker idle 10 min", Here),
    (
        "re-subscribe",
        Test(SOCKETS, "an_interrupt_ends_the_turn_and_a_second_subscription_waits_for_it"),
    ),
    ("capacity", Test(LIMITS, "workers_are_counted_and_can_be_ended")),
    ("shutdown", Test(STOP, "what_runs_ends_and_nothing_new_begins")),
    ("shutdown ignored by worker", Here),
    (
        "budget: default budget",
        Differs(NO_DEFAULT, "tests/it/required.rs", "settings_that_are_none"),
    ),
    (
        "budget: partial keeps defaults",
        Differs(NO_DEFAULT, "tests/it/required.rs", "settings_that_are_none"),
    ),
    ("budget: 79%", Test(BUDGETS, "a_budget_warns_then_ends_then_is_reset_by_an_administrator")),
    ("budget: session limit other session ok", Here),
    ("budget: rolling 30 d", Here),
    (
        "budget: input+output counted",
        Test(BUDGETS, "a_budget_for_two_questions_is_not_enough_for_a_third"),
    ),
    (
        "budget: cache tokens",
        Test(BUDGETS, "a_budget_warns_then_ends_then_is_reset_by_an_administrator"),
    ),
    (
        "budget: survives restart",
        Test(BUDGETS, "a_budget_warns_then_ends_then_is_reset_by_an_administrator"),
    ),
    (
        "budget: reset scope daily",
        Test(BUDGETS, "a_budget_warns_then_ends_then_is_reset_by_an_administrator"),
    ),
    (
        "budget: new conversation id each message dodges session limit",
        Test(BUDGETS, "a_budget_warns_then_ends_then_is_reset_by_an_administrator"),
    ),
    ("budget: concurrent messages overshoot", Test(BUDGETS, "messages_at_once_do_not_overshoot")),
    ("budget: string limit \"100\"", Refused),
    ("mutex: FIFO of 10 waiters", Test(TURNS, "ten_who_wait_come_in_order")),
    ("mutex: different keys run in parallel", Test(TURNS, "ten_who_wait_come_in_order")),
    (
        "mutex: double release",
        Differs(
            "a turn is given up when it is dropped, which happens once",
            TURNS,
            "ten_who_wait_come_in_order",
        ),
    ),
    ("mutex: timeout 100 ms", Test(TURNS, "who_waited_too_long_never_gets_it_and_orphans_nobody")),
    (
        "mutex: timed-out waiter does not orphan the next",
        Test(TURNS, "who_waited_too_long_never_gets_it_and_orphans_nobody"),
    ),
    ("mutex: one release wakes one", Test(TURNS, "ten_who_wait_come_in_order")),
    (
        "mutex: worker exit 0 releases",
        Test(SOCKETS, "a_worker_that_breaks_or_lies_leaves_the_session_usable"),
    ),
];

/// Of `serve_behaviour_required.json`.
const OF_BEHAVIOUR: &[(&str, Proof)] = &[
    ("tools_deny given as a string", Refused),
    ("tools_deny with unknown tool name", Refused),
    ("token_hash parsed as a number (unquoted digits)", Refused),
    ("token_hash null among good entries", Refused),
    ("budget not a number (.nan)", Refused),
    ("budget negative", Refused),
    ("agents list holds a non-existing agent", Here),
    ("agents null", Refused),
    (
        "permission reduced while the socket is open",
        Test(SOCKETS, "what_changes_in_the_files_reaches_open_sockets"),
    ),
    ("agent made private while subscribed", Here),
    ("POST /api/admin/reload after removing a token", Here),
    (
        "/health/deep guessing",
        Test(ACCESS, "who_guesses_is_stopped_and_a_proxy_field_does_not_help"),
    ),
    (
        "worker error frame with reserved code",
        Test(WORKER, "errors_of_a_worker_are_mapped_cut_and_cleaned"),
    ),
    (
        "worker approval request with forged tool name",
        Test(WORKER, "what_a_worker_says_of_usage_answers_and_calls_is_not_used"),
    ),
    (
        "worker approval request with 10 MB input",
        Test(INBOX, "what_waits_is_bounded_in_bytes_and_in_number"),
    ),
    (
        "worker result negative usage",
        Test(WORKER, "what_a_worker_says_of_usage_answers_and_calls_is_not_used"),
    ),
    (
        "worker result twice",
        Test(WORKER, "what_a_worker_says_of_usage_answers_and_calls_is_not_used"),
    ),
    (
        "worker frame after result",
        Test(WORKER, "what_a_worker_says_of_usage_answers_and_calls_is_not_used"),
    ),
    (
        "worker floods frames",
        Test(INBOX, "a_flood_and_a_heap_of_nonsense_end_a_worker_and_a_burst_does_not"),
    ),
    ("tool_approval twice (true then false)", Test(SOCKETS, "questions_have_one_answer")),
    ("tool_approval arriving after the worker exited", Test(SOCKETS, "questions_have_one_answer")),
    (
        "subscribe while a query runs",
        Test(SOCKETS, "an_interrupt_ends_the_turn_and_a_second_subscription_waits_for_it"),
    ),
    (
        "subscribe with another user's session id",
        Test("tests/it/two_users.rs", "what_is_anns_is_not_there_for_bob"),
    ),
];

fn is_there(file: &str, test: &str) -> bool {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap().contains(&format!("fn {test}()"))
}

/// Is there a server with these users?
fn loads(users: &str) -> bool {
    serve::Directory::load(home("serve: {}\n", users).path()).is_ok()
}

/// A user of a case, with what it does not say filled in.
fn with_entry(entry: &Value) -> String {
    let mut entry = expand(entry);
    let fields = entry.as_object_mut().unwrap();
    for (name, value) in [("name", "bob"), ("agents", "*"), ("budget", "unlimited")] {
        fields.entry(name).or_insert_with(|| value.into());
    }
    if let Some(limits) = fields["budget"].as_object_mut() {
        for name in ["sessionLimit", "dailyLimit", "monthlyLimit"] {
            limits.entry(name).or_insert_with(|| 5.into());
        }
    }
    json!({ "users": [entry] }).to_string()
}

#[test]
fn every_case_has_a_proof() {
    assert!(loads(&with_entry(&json!({ "budget": { "dailyLimit": 7 } }))));
    for (file, proofs) in [("limits", OF_LIMITS), ("serve_behaviour_required", OF_BEHAVIOUR)] {
        let cases = corpus(file);
        let names: Vec<&str> = cases.iter().map(|it| it["name"].as_str().unwrap()).collect();
        let proven: Vec<&str> = proofs.iter().map(|it| it.0).collect();
        assert_eq!(names, proven, "{file}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{file}");
        for (case, (name, proof)) in cases.iter().zip(proofs) {
            match proof {
                Test(file, test) => assert!(is_there(file, test), "{name}: {file} {test}"),
                Differs(why, file, test) => {
                    assert!(is_there(file, test) && !why.is_empty(), "{name}: {file} {test}");
                }
                Refused => {
                    let input = &case["input"];
                    let entry = input.get("access_yaml_entry").unwrap_or(input);
                    assert!(!loads(&with_entry(entry)), "{name}");
                }
                Here => {}
            }
        }
    }
}

#[test]
fn settings_that_are_none() {
    let config = |it: &str| serve::Directory::load(home(it, &users("unlimited")).path());
    assert!(config("serve: {maxWorkers: \"abc\"}\n").is_err());
    assert_eq!(config("serve: {}\n").unwrap().settings.max_workers.get(), 20);
    let budget =
        |it: &str| loads(&format!("users:\n{}", user("x", "t", &format!("agents: []\n    {it}"))));
    assert!(
        !budget("tools_deny: []") && !budget("budget: null") && !budget("budget: {dailyLimit: 5}")
    );
    assert!(budget("budget: {sessionLimit: 1, dailyLimit: 5, monthlyLimit: 9}"));
    // What a worker may do, which is no setting.
    let seconds = |it: Duration| it.as_secs();
    assert_eq!([READY_WITHIN, IDLE_MAX, END_WITHIN].map(seconds), [30, 600, 5]);
}

#[test]
fn lengths_of_the_corpus() {
    let world =
        World::with("serve: {rateLimits: {maxMessageLength: 50000}}\n", &users("unlimited"))
            .agree();
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message(&"x".repeat(50_000));
    client.until("result");
    client.message(&"x".repeat(50_001));
    assert_eq!(client.until("error")["code"], "message_too_large");
}

#[test]
fn twenty_messages_in_a_minute_pass_where_nobody_says_otherwise() {
    let world = World::new().agree();
    let (mut client, _) = world.subscribed(ANN, "main");
    for _ in 0..20 {
        client.message("hello");
        client.until("result");
    }
    client.message("hello");
    assert_eq!(client.until("error")["code"], "rate_limited");
}

#[test]
fn a_session_limit_holds_for_its_session_and_what_is_old_counts_no_more() {
    let budget = "{unit: tokens, sessionLimit: 1000, dailyLimit: 1e6, monthlyLimit: 2000}";
    let mut world = World::with(crate::world::WIDE, &users(budget)).agree();
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message("spend 1000");
    client.until("result");
    client.message("hello");
    assert_eq!(client.until("budget_exceeded")["reason"], "session");
    let (mut other, _) = world.subscribed(ANN, "main");
    other.message("spend 999");
    other.until("result");
    let (mut third, _) = world.subscribed(ANN, "main");
    third.message("hello");
    assert_eq!(third.until("budget_exceeded")["reason"], "monthly");
    drop((client, other, third));
    world.end();
    let books = rusqlite::Connection::open(world.home().join("serve.db")).unwrap();
    books.execute("UPDATE spending SET at = at - 31 * 86400", []).unwrap();
    drop(books);
    let world = world.restart();
    let (mut client, _) = world.subscribed(ANN, "main");
    client.message("hello");
    client.until("result");
}

#[test]
fn who_may_no_more_is_refused_while_the_socket_is_open() {
    let more = users("unlimited").replace("agents: [main, bobs]", "agents: [main, nope]");
    let world = World::with(crate::world::WIDE, &more).agree();
    // An agent that is named and not there is told, and stops nothing.
    assert!(world.log.has("server.started") && world.log.text().contains("nope"));
    let (mut ann, _) = world.subscribed(ANN, "main");
    let manifest = "---\nname: The main\naccess: private\n---\nDoes things.\n";
    crate::world::write(&world.home().join("agents/main/IDENTITY.md"), manifest);
    assert_eq!(world.post("/api/admin/reload", Some(ROOT), "").status, 200);
    ann.message("hello");
    assert_eq!(ann.until("error")["code"], "access_denied");
    let gone = more.replace(&crate::world::hash(ANN), &crate::world::hash("another"));
    crate::world::write(&world.home().join("users.yaml"), &gone);
    assert_eq!(world.post("/api/admin/reload", Some(ROOT), "").status, 200);
    assert_eq!(ann.closed(), 4003);
}
