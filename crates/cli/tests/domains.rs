//! Tools of the domains, as an agent of our own uses them: real workers, with the mock model.

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::delegation::{call, pages, records, run, scripted, told};
use crate::program::lazaret;

#[test]
fn questions_to_a_model_count_for_the_turn_and_tasks_are_there_tomorrow() {
    let calls = json!({"call": [
        {"name": "model_query", "input": {"message": "QUESTION: six times seven"}},
        {"name": "task_add", "input": {"text": "water the plants"}},
        {"name": "current_time"},
        {"name": "tools_read"},
        {"name": "prompt_read"},
    ]});
    let million = json!({"inputTokens": 1_000_000, "outputTokens": 0});
    let dear = json!({"message": "QUESTION", "model": "expensive/model"});
    let home = scripted(
        "",
        "tools: {deny: [scratchpad]}",
        &[
            ("ANSWERED", json!({"say": "It is 42."})),
            ("water the plants", json!({"say": "Told: ", "echo": true})),
            ("the manifest gives no", json!({"say": "no"})),
            ("QUESTION", json!({"say": "ANSWERED 42", "usage": million})),
            ("go", calls),
            ("list", call("task_list", json!({}))),
            ("dear", call("model_query", dear)),
            ("note", call("scratch_list", json!({}))),
            ("", json!({"say": "no"})),
        ],
    );
    let home = home.path();
    let ran = run(home, &["go", "--session", "first"]);
    let told_of = told(&ran);
    assert_eq!(told_of["answer"], "It is 42.", "{told_of}{}", ran.err);
    let calls = told_of["calls"].as_array().unwrap();
    assert!(calls.len() == 5 && calls.iter().all(|it| it["status"] == "ran"), "{told_of}");
    assert!(told_of["usage"]["inputTokens"].as_u64().unwrap() >= 1_000_000, "{told_of}");
    // The tool, and the question that it asks: each has its decision and its outcome.
    assert_eq!(records(home, "model_query").len(), 2);
    assert_eq!(records(home, "llm_call").len(), 6);
    // Another session of the same user and agent has the list.
    let told_of = told(&run(home, &["list", "--session", "second"]));
    let content = told_of["answer"].as_str().unwrap();
    assert!(content.contains("water the plants") && content.contains("open"), "{told_of}");
    // A model that the manifest does not name, and a domain that it takes away.
    for (words, denied) in [("dear", "model_query"), ("note", "scratch_list")] {
        let told_of = told(&run(home, &[words]));
        assert_eq!(told_of["denied"], json!([format!("{denied}: layer-agent")]), "{told_of}");
    }
    assert_eq!(lazaret(home, &["evidence", "verify"]).run().code, 0);
}

#[test]
fn a_page_is_read_by_a_model_first_and_stays_untrusted() {
    let (port, _) = pages(false);
    let url = format!("http://127.0.0.1:{port}/ferry");
    let fetch = |query: &str| call("web_fetch", json!({"url": url, "query": query}));
    let settings = format!(
        "egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n\
         tools: {{web: {{enabled: true, extraction_model: mock/scripted}}}}\n"
    );
    let home = scripted(
        &settings,
        "name: Main",
        &[
            ("of the page: when", json!({"say": "EXTRACT: at nine sharp"})),
            ("of the page: broken", json!({"error": "refused"})),
            ("was not read by", json!({"say": "no page"})),
            ("EXTRACT:", json!({"say": "Told: ", "echo": true})),
            ("sails at nine", json!({"say": "the page itself"})),
            ("go", fetch("when")),
            ("break", fetch("broken")),
        ],
    );
    let home = home.path();
    let ran = run(home, &[&format!("go to {url}")]);
    let told_of = told(&ran);
    let content = told_of["answer"].as_str().unwrap_or_else(|| panic!("{told_of}{}", ran.err));
    assert!(content.contains("EXTRACT: at nine sharp"), "{content}");
    assert!(content.contains("fetched_content id="), "between marks: {content}");
    assert!(!content.contains("The ferry sails"), "{content}");
    let outcomes = lazaret(home, &["evidence", "query", "--kind", "web_fetch", "--json"]).run();
    let taints: Vec<String> =
        outcomes.objects().iter().map(|it: &Value| it["record"]["taint"].to_string()).collect();
    assert!(taints.iter().any(|it| it.contains("WEB")), "{taints:?}");
    // A model that does not answer: the page is not given in its place.
    let told_of = told(&run(home, &[&format!("break {url}")]));
    assert_eq!(told_of["answer"], "no page", "{told_of}");
}
