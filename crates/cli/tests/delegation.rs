//! Sub-agents, as programs: real workers, with the mock model and with one that answers by what it is asked.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use testkit::program::{Ran, Run as _};

use crate::program::lazaret;

fn put(home: &Path, name: &str, text: &str) {
    let path = home.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// A state directory with one user, and one agent with this manifest.
fn home(settings: &str, manifest: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let hash = "a".repeat(64);
    let user = format!("{{name: me, token_hash: \"{hash}\", agents: '*', budget: unlimited}}");
    put(home.path(), "config.yaml", settings);
    put(home.path(), "users.yaml", &format!("users:\n  - {user}\n"));
    let manifest = format!("---\ncredentials: {{grants: {{}}}}\n{manifest}\n---\nHelps.\n");
    put(home.path(), "agents/main/IDENTITY.md", &manifest);
    home
}

const MOCK: &str = "providers: {llm: mock, web: fetch}\nmodels: {mock: {script: s.json}}\n";

/// The same with a model that follows a script.
pub(crate) fn scripted(more: &str, manifest: &str, replies: &[(&str, Value)]) -> tempfile::TempDir {
    let home = home(&format!("{MOCK}{more}"), manifest);
    let replies: Vec<Value> =
        replies.iter().map(|(when, give)| json!({"when": when, "give": give})).collect();
    put(home.path(), "s.json", &json!({ "replies": replies }).to_string());
    home
}

pub(crate) fn call(name: &str, input: Value) -> Value {
    json!({"call": [{"name": name, "input": input}]})
}

pub(crate) fn run(home: &Path, words: &[&str]) -> Ran<String> {
    lazaret(home, &[&["run", "main"], words, &["--json"]].concat()).run()
}

pub(crate) fn told(ran: &Ran<String>) -> Value {
    ran.objects().pop().unwrap_or_else(|| panic!("{}", ran.err))
}

/// What the records of a kind hold.
pub(crate) fn records(home: &Path, kind: &str) -> Vec<Value> {
    let found = lazaret(home, &["evidence", "query", "--kind", kind, "--json"]).run().objects();
    found.iter().map(|it| it.pointer("/record/payload/inline").unwrap().clone()).collect()
}

#[test]
fn a_sub_agent_works_in_a_session_of_its_own_with_no_more_rights_than_it_is_given() {
    let manifest = "agents: {reader: {tools: [memory], maxTurns: 3}, writer: {tools: [workspace]}}";
    let home = scripted(
        "",
        manifest,
        &[
            ("the manifest names no", json!({"say": "no"})),
            ("the manifest gives no", json!({"say": "no"})),
            ("does not let the sub-agent", json!({"say": "CHILD: I may not write"})),
            ("CHILD:", json!({"say": "It said: ", "echo": true})),
            ("TASK", call("file_write", json!({"path": "x", "content": "y"}))),
            ("go", call("agent_delegate", json!({"task": "TASK", "agent": "reader"}))),
            ("stranger", call("agent_delegate", json!({"task": "TASK", "agent": "root"}))),
            (
                "dear",
                call("agent_delegate", json!({"task": "TASK", "agent": "reader", "model": "x/y"})),
            ),
        ],
    );
    let home = home.path();
    let told_of = told(&run(home, &["go", "--session", "first"]));
    let content = told_of["answer"].as_str().unwrap();
    assert!(content.contains("CHILD: I may not write"), "{told_of}");
    assert_eq!(told_of["calls"], json!([{"name": "agent_delegate", "status": "ran"}]));
    assert_eq!(told_of["denied"], json!(["reader: file_write: layer-agent"]));
    // Four questions to the model, two of them the child's.
    let one = records(home, "llm_call").len();
    assert!(one >= 4, "{one}");
    let workers = records(home, "worker_started");
    assert_eq!(workers.len(), 2);
    assert_eq!((&workers[0]["parent"], &workers[0]["sub_agents"]), (&Value::Null, &json!([])));
    assert_eq!(
        (&workers[1]["parent"], &workers[1]["sub_agents"]),
        (&json!("first"), &json!(["reader"]))
    );
    assert_ne!(workers[0]["session"], workers[1]["session"]);
    let denied = records(home, "file_write");
    assert_eq!(denied[0]["sub_agents"], json!(["reader"]), "{denied:?}");
    // One that the manifest does not name, and a model that it does not name.
    for words in ["stranger", "dear"] {
        let ran = run(home, &[words]);
        assert_eq!(ran.code, 1, "{}", ran.out);
        let told_of = told(&ran);
        assert_eq!(told_of["denied"], json!(["agent_delegate: layer-agent"]), "{told_of}");
    }
    assert_eq!(records(home, "worker_started").len(), 4, "no child began");
    assert_eq!(lazaret(home, &["evidence", "verify"]).run().code, 0);
}

#[test]
fn whoever_chats_with_an_agent_has_its_sub_agents_too() {
    let home = scripted(
        "delegation: {max_concurrent: 2}\n",
        "agents: {helper: {}}",
        &[
            ("CHILD:", json!({"say": "It said: ", "echo": true})),
            ("TASK", json!({"say": "CHILD: done"})),
            ("go", call("agent_delegate", json!({"task": "TASK"}))),
        ],
    );
    let mut command = lazaret(home.path(), &["chat"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("It said: ") && said.contains("CHILD: done"), "{said}{output:?}");
    assert_eq!(records(home.path(), "worker_started").len(), 2);
}

#[test]
fn the_host_counts_how_deep_it_goes_and_what_all_of_them_cost() {
    let million = json!({"inputTokens": 1_000_000, "outputTokens": 0});
    let with = |mut turn: Value| {
        turn["usage"] = million.clone();
        turn
    };
    let hand_on = |task: &str| with(call("agent_delegate", json!({ "task": task })));
    let prices = "prices: {mock/scripted: {input: 3.0, output: 15.0}}";
    let config = "delegation: {max_depth: 1}\nproviders: {llm: mock}\n";
    let home = home(
        &format!("{config}models: {{mock: {{script: s.json}}, {prices}}}\n"),
        "agents: {helper: {}}",
    );
    let script = json!({"replies": [
        {"when": "deep, and this one", "give": {"say": "CHILD: too deep"}},
        {"when": "CHILD:", "give": {"say": "done"}},
        {"when": "DEEP", "give": call("agent_delegate", json!({"task": "DEEPER"}))},
        {"when": "go", "give": call("agent_delegate", json!({"task": "DEEP"}))},
        {"when": "COSTLY", "give": with(call("memory_list", json!({"scope": "a"})))},
        {"when": "entries", "give": with(call("memory_list", json!({"scope": "b"})))},
        {"when": "spend", "give": hand_on("COSTLY")},
    ]});
    put(home.path(), "s.json", &script.to_string());
    let home = home.path();
    let ran = run(home, &["go"]);
    assert_eq!(told(&ran)["answer"], "done", "{}{}", ran.out, ran.err);
    // A child that has no sub-agents left is not offered them, and asking anyhow leads nowhere.
    assert_eq!(records(home, "worker_started").len(), 2);
    // Three dollars the parent, three the child: nothing is left for either of them.
    let ran = run(home, &["spend", "--max-cost", "5"]);
    let told_of = told(&ran);
    assert_eq!((ran.code, &told_of["code"]), (1, &json!("budget_exceeded")), "{told_of}");
    assert_eq!(told_of["usage"]["inputTokens"], 2_000_000, "{told_of}");
}

/// A page that is served slowly or at once, and what was asked for.
pub(crate) fn pages(hold: bool) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    thread::spawn(move || {
        let mut held = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let question = question(&mut stream).unwrap_or_default();
            heard.lock().unwrap().push(question.lines().next().unwrap_or_default().to_owned());
            if hold {
                held.push(stream);
                continue;
            }
            let page = "The ferry sails at nine.";
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close";
            let _ = write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{page}", page.len());
        }
    });
    (port, asked)
}

/// One request, with its body.
fn question(stream: &mut TcpStream) -> Option<String> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let Ok(read @ 1..) = stream.read(&mut buffer) else { return None };
        bytes.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|it| it.strip_prefix("content-length: "));
        if body.len() >= length.map_or(0, |it| it.parse().unwrap()) {
            return Some(text);
        }
    }
}

#[test]
fn what_was_handed_on_ends_with_the_turn() {
    let (port, asked) = pages(true);
    let fetch = |path: &str| {
        let url = format!("http://127.0.0.1:{port}/{path}");
        call("web_fetch", json!({"url": url, "timeoutMs": 1000}))
    };
    let open = format!("egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n");
    let task = json!({"task": format!("TASK http://127.0.0.1:{port}/one"), "wait": false});
    let home = scripted(
        &open,
        "agents: {helper: {}}",
        &[
            ("TASK", fetch("one")),
            ("running", json!({"say": "I leave"})),
            ("go", call("agent_delegate", task)),
            ("", fetch("two")),
        ],
    );
    let ran = run(home.path(), &["go"]);
    assert_eq!(told(&ran)["answer"], "I leave", "{}{}", ran.out, ran.err);
    // The child was at its first page, or had not come so far; the second one was never asked for.
    let asked = asked.lock().unwrap();
    assert!(asked.iter().all(|it| it.starts_with("GET /one ")) && asked.len() < 2, "{asked:?}");
    assert_eq!(
        records(home.path(), "web_fetch")
            .iter()
            .filter(|it| it["args"].to_string().contains("two"))
            .count(),
        0
    );
    assert_eq!(lazaret(home.path(), &["evidence", "verify"]).run().code, 0);
}

/// A model that answers by what it is asked: the last message in, a text or a call out.
pub(crate) fn model(answer: impl Fn(&str) -> Value + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let Some(asked) = question(&mut stream) else { continue };
            let body = asked.split_once("\r\n\r\n").unwrap().1;
            let body: Value = serde_json::from_str(body).unwrap();
            let last = body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
            let said = answer(&last);
            let (delta, reason) = match said.as_str() {
                Some(text) => (json!({ "content": text }), "stop"),
                None => {
                    let called = &said;
                    let (name, input) = (&called["name"], called["input"].to_string());
                    let function = json!({"name": name, "arguments": input});
                    let call =
                        json!({"index": 0, "id": "c", "type": "function", "function": function});
                    (json!({"tool_calls": [call]}), "tool_calls")
                }
            };
            let piece = json!({"choices": [{"delta": delta}]});
            let end = json!({"choices": [{"delta": {}, "finish_reason": reason}]});
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
            let _ =
                write!(stream, "{head}\r\n\r\ndata: {piece}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        }
    });
    port
}

#[test]
fn answers_are_collected_once_with_the_label_of_whoever_gave_them() {
    let (page, _) = pages(false);
    let url = format!("http://127.0.0.1:{page}/ferry");
    let task = json!({"task": format!("CHILD look at {url}"), "wait": false});
    // The child may go where the user sent its parent.
    let said = format!("look at the timetable at {url}");
    let handle = Arc::new(Mutex::new(String::new()));
    let known = Arc::clone(&handle);
    let port = model(move |last| {
        let collect = |id: &str| json!({"name": "agent_collect", "input": {"handleIds": [id]}});
        if last.contains("ferry sails") && !last.contains("results") {
            return json!("CHILD it sails at nine");
        }
        if last.contains("CHILD look") {
            return json!({"name": "web_fetch", "input": {"url": url}});
        }
        if let Some((_, rest)) = last.split_once("task-") {
            let id = format!("task-{}", rest.chars().take(32).collect::<String>());
            if last.contains("completed") {
                // Once more: the answer was taken.
                return collect(&id);
            }
            known.lock().unwrap().clone_from(&id);
            return collect(&id);
        }
        if last.contains("no such task") {
            return json!("it is gone");
        }
        if last.contains("steal") {
            return collect(&known.lock().unwrap());
        }
        json!({"name": "agent_delegate", "input": task})
    });
    let settings = format!(
        "providers: {{llm: local, web: fetch}}\nmodels:\n  default: local/m\n  local: {{url: \"http://127.0.0.1:{port}/v1/\"}}\n\
         egress: {{inner: [{{host: 127.0.0.1, port: {page}}}]}}\n"
    );
    let home = home(&settings, "agents: {helper: {}}");
    let home = home.path();
    let ran = run(home, &[&said, "--session", "first"]);
    let told_of = told(&ran);
    assert_eq!(told_of["answer"], "it is gone", "{told_of}{}", ran.err);
    let statuses: Vec<String> =
        told_of["calls"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!(statuses.len(), 3, "{statuses:?}");
    assert!(statuses[1].contains("ran") && statuses[2].contains("failed"), "{statuses:?}");
    // The page's label came with the answer.
    let outcomes =
        lazaret(home, &["evidence", "query", "--kind", "agent_collect", "--json"]).run().objects();
    let taints: Vec<String> = outcomes.iter().map(|it| it["record"]["taint"].to_string()).collect();
    assert!(taints.iter().any(|it| it.contains("WEB")), "{taints:?}");
    // Another session of the same user does not get it, nor learns that it is there.
    let ran = run(home, &["steal it", "--session", "second"]);
    assert_eq!(told(&ran)["answer"], "it is gone", "{}", ran.out);
}
