//! A search engine on this machine, as most people run SearXNG.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use serde_json::json;

use crate::providers::support::{agent, home, run};

/// Answers as SearXNG does, and gives what it was asked.
fn searxng() -> (u16, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answers = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let body = json!({
            "query": "tides", "number_of_results": 1, "answers": [], "infoboxes": [], "suggestions": [],
            "results": [{
                "url": "https://tides.example/a", "title": "Tides", "content": "High and low.",
                "engine": "duckduckgo", "engines": ["duckduckgo"], "score": 1.0, "category": "general",
            }],
        });
        let body = body.to_string();
        let length = body.len();
        let said = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(said.as_bytes()).unwrap();
        String::from_utf8(head).unwrap()
    });
    (port, answers)
}

fn settings(engine: &str, url: &str) -> String {
    format!("providers:\n  web: search\negress:\n  search:\n    engine: {engine}\n    url: {url}\n")
}

#[test]
fn the_operators_searxng_on_this_machine_is_asked_and_agents_cannot_reach_it() {
    let (port, answers) = searxng();
    let at = format!("http://127.0.0.1:{port}");
    let home = home(&settings("searxng", &at));
    let fetch = json!({"action": "web_fetch", "url": format!("{at}/search?q=x")});
    let search = json!({"action": "web_search", "query": "tides"});
    let got = agent(home.path(), "a", &[fetch, search]);
    assert_eq!(got[0]["ok"], false, "{got:?}");
    assert_eq!(got[1]["ok"], true, "{got:?}");
    assert!(got[1].to_string().contains("https://tides.example/a"), "{got:?}");
    assert!(answers.join().unwrap().starts_with("GET /search?format=json&q=tides HTTP/1.1"));
}

#[test]
fn only_searxng_and_only_a_plain_loopback_address_may_be_on_this_machine() {
    for (engine, url) in [
        ("brave", "http://127.0.0.1:8888"),
        ("searxng", "http://localhost:8888"),
        ("searxng", "http://10.0.0.1:8888"),
        ("searxng", "http://127.1:8888"),
    ] {
        let home = home(&settings(engine, url));
        let session = ["ipc", "--user", "me", "--agent", "main", "--session", "a", "--stdio"];
        let (code, _, stderr) = run(home.path(), &session);
        assert!(code != 0 && !stderr.is_empty(), "{engine} {url}: {code} {stderr}");
    }
}
