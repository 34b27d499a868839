//! Tokens of this machine by name, and keys of an authorization server that are fetched.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::Run as _;

use super::access::token;
use super::client::{Client, Gateway, corpus, request};
use crate::program::lazaret;

/// Makes a token, and returns its text.
pub(super) fn create(home: &Path, name: &str) -> String {
    let made = lazaret(home, &["mcp", "token", "create", name, "--by", "ann"]).run();
    assert_eq!(made.code, 0, "{}", made.err);
    made.out.trim().to_owned()
}

/// Whether a text stands in any file of a folder.
fn stands_in(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => stands_in(&path, text),
            false => std::fs::read(&path)
                .is_ok_and(|it| it.windows(text.len()).any(|it| it == text.as_bytes())),
        }
    })
}

#[test]
fn each_token_has_a_name_and_one_that_is_taken_back_counts_at_once_for_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("state");
    let (one, two) = (create(&home, "laptop"), create(&home, "ci"));
    assert!(!stands_in(&home, &one) && !stands_in(&home, &two), "digests alone are kept");
    let gateway = Gateway::start(&home, &[]);
    assert_eq!(gateway.token, None, "nobody needs a token that is kept as a text");
    assert!(!home.join("mcp-http.token").exists());
    let mut laptop = gateway.client_with(&one);
    let ci = gateway.client_with(&two);
    assert_eq!(laptop.initialize(json!({})), 200);
    assert_eq!(ci.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    let session = laptop.session.clone().unwrap();
    let fields = [("Mcp-Session-Id", session.as_str()), ("Accept", "text/event-stream")];
    let other = Client { session: Some(session.clone()), ..ci.clone() };
    let ping = request(1, "ping", json!({}));
    assert_eq!(other.post(&[], &ping).status, 404, "a session is its client's alone");
    let mut stream = laptop.send("GET", "/mcp", &fields, "");
    assert_eq!(stream.status, 200);

    let listed = lazaret(&home, &["mcp", "token", "list", "--json"]).run().objects();
    let names: Vec<&str> = listed.iter().map(|it| it["token"].as_str().unwrap()).collect();
    assert_eq!(names, ["ci", "laptop"]);
    let revoke = ["mcp", "token", "revoke", "laptop", "--by", "ann"];
    assert_eq!(lazaret(&home, &revoke).run().code, 0);
    assert_eq!(laptop.post(&[], &ping).status, 401);
    assert_eq!(lazaret(&home, &revoke).run().code, 1, "there is none any more");
    let until = Instant::now() + Duration::from_secs(30);
    while stream.event().is_some() {
        assert!(Instant::now() < until, "what it had open ends");
    }
    assert_eq!(ci.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    // One that is made while the gateway runs counts at once.
    let three = gateway.client_with(&create(&home, "third"));
    assert_eq!(three.call("look", json!({ "name": "plain" })), "The meeting is at nine.");
    let query = ["evidence", "query", "--json"];
    let records = lazaret(&home, &query).run().out;
    for kind in ["mcp_token_made", "mcp_token_revoked"] {
        assert!(records.contains(kind), "{kind} is on record");
    }
    assert!(!records.contains(&one) && !records.contains(&two));
}

#[test]
fn names_of_tokens_are_plain_and_each_is_there_once() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("state");
    create(&home, "laptop");
    let made = |name: &str| lazaret(&home, &["mcp", "token", "create", name, "--by", "ann"]).run();
    assert_eq!(made("laptop").code, 1);
    for wrong in ["local", "", "A", "a b", "../x", "a\u{202e}b", &"x".repeat(65)] {
        assert_eq!(made(wrong).code, 2, "{wrong}");
    }
    // The token that is kept as a text is taken back by its name as well.
    let gateway = Gateway::start(&dir.path().join("other"), &[]);
    let ping = request(1, "ping", json!({}));
    assert_eq!(gateway.client().post(&[], &ping).status, 400, "let in, and without a session");
    let revoke = ["mcp", "token", "revoke", "local", "--by", "ann"];
    assert_eq!(lazaret(dir.path().join("other"), &revoke).run().code, 0);
    assert_eq!(gateway.client().post(&[], &ping).status, 401);
}

/// Serves keys on loopback; counts how often. Returns its port.
fn serve_keys(count: Arc<AtomicUsize>, answer: String) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            // Whatever is asked, the answer is the same.
            let _ = stream.read(&mut head);
            count.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}

fn with_body(status: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// The words that start a gateway whose keys are at a port of this machine.
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn words(dir: &Path, port: u16, is_open: bool) -> Vec<String> {
    let home = dir.join("state");
    std::fs::create_dir_all(&home).unwrap();
    if is_open {
        let inner = format!("egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n");
        std::fs::write(home.join("config.yaml"), inner).unwrap();
    }
    let one = json!({ "command": "python3", "args": ["-B", corpus("server.py")], "cage": false });
    let oauth = json!({
        "issuer": "https://issuer.example", "audience": "http://127.0.0.1/mcp",
        "jwks_url": format!("http://127.0.0.1:{port}/keys"), "scopes": ["mcp"],
    });
    let config = json!({ "mcpServers": { "a": one }, "oauth": oauth });
    let file = dir.join("servers.json");
    std::fs::write(&file, config.to_string()).unwrap();
    let file = file.display().to_string();
    let words = ["mcp", "serve", "--config", &file, "--http", "127.0.0.1:0", "--json"];
    [words.as_slice(), &["--allow-commands"]].concat().into_iter().map(str::to_owned).collect()
}

#[test]
fn keys_are_fetched_from_where_the_operator_opened_and_not_for_every_stranger() {
    let count = Arc::new(AtomicUsize::new(0));
    let keys = std::fs::read_to_string(corpus("jwks.json")).unwrap();
    let port = serve_keys(Arc::clone(&count), with_body("200 OK", &keys));
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("state");
    let closed = words(dir.path(), port, false);
    let closed: Vec<&str> = closed.iter().map(String::as_str).collect();
    let refused = lazaret(&home, &closed).run();
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("jwks_url") && refused.err.contains("inner"), "{}", refused.err);
    assert_eq!(count.load(Ordering::SeqCst), 0, "nothing was asked");
    let open = words(dir.path(), port, true);
    let open: Vec<&str> = open.iter().map(String::as_str).collect();
    let gateway = Gateway::of(&home, &open);
    for name in ["rs256", "es256", "eddsa"] {
        let client = gateway.client_with(&token(name));
        assert_eq!(client.call("a__look", json!({ "name": "plain" })), "The meeting is at nine.");
    }
    let list = request(1, "tools/list", json!({}));
    for _ in 0..8 {
        for name in ["kid_unknown", "signed_by_a_stranger", "kid_as_path"] {
            assert_eq!(gateway.client_with(&token(name)).post(&[], &list).status, 401);
        }
    }
    assert_eq!(count.load(Ordering::SeqCst), 1, "strangers do not make us ask the issuer");
}

#[test]
fn keys_that_are_no_keys_or_elsewhere_let_nobody_in() {
    let long = format!("{{\"keys\":[],\"x\":\"{}\"}}", "x".repeat(300 * 1024));
    let elsewhere = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/keys\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for answer in [
        with_body("200 OK", "[]"),
        with_body("200 OK", r#"{"keys":[]}"#),
        with_body("500 Oh", r#"{"keys":[]}"#),
        with_body("200 OK", &long),
        elsewhere.to_owned(),
        "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".to_owned(),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let port = serve_keys(Arc::default(), answer.clone());
        let words = words(dir.path(), port, true);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let refused = lazaret(dir.path().join("state"), &words).run();
        assert_eq!(refused.code, 2, "{answer}: {}", refused.err);
        assert!(refused.err.contains("keys of the authorization server"), "{}", refused.err);
    }
}

#[test]
fn keys_come_by_tls_or_do_not_leave_this_machine() {
    let dir = tempfile::tempdir().unwrap();
    let mut words = words(dir.path(), 1, false);
    let file = dir.path().join("servers.json");
    let mut config: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for url in [
        "http://keys.example/jwks",
        "http://169.254.169.254/jwks",
        "https://10.0.0.1/jwks",
        "file:///etc/passwd",
        "https://user:word@keys.example/jwks",
    ] {
        config["oauth"]["jwks_url"] = json!(url);
        #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
        std::fs::write(&file, config.to_string()).unwrap();
        words[3] = file.display().to_string();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let refused = lazaret(dir.path().join("state"), &words).run();
        assert_eq!(refused.code, 2, "{url}: {}", refused.err);
        assert!(refused.err.contains("jwks_url"), "{url}: {}", refused.err);
    }
}
