//! Who may call, from where, and what one client's reading does to another.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::Run as _;

use super::client::{Client, Gateway, corpus, request};
use super::{gateway, legacy};
use crate::program::lazaret;

#[test]
fn without_this_machine_s_token_nobody_gets_further() {
    let (dir, gateway) = gateway(&[]);
    let file = dir.path().join("state/mcp-http.token");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let ping = request(1, "ping", json!({}));
    let nobody = Client { port: gateway.port, token: None, session: None };
    let refused = nobody.post(&[], &ping);
    assert_eq!(refused.status, 401);
    assert!(refused.field("www-authenticate").unwrap().starts_with("Bearer "));
    let wrong = "0".repeat(64);
    let refused = gateway.client_with(&wrong).post(&[], &ping);
    assert_eq!(refused.status, 401);
    assert!(refused.field("www-authenticate").unwrap().contains("invalid_token"));
    // Not in the address, and not for any other method.
    let token = gateway.token.clone().unwrap();
    let path = format!("/mcp?access_token={token}");
    assert_eq!(
        nobody.send("POST", &path, &[("Content-Type", "application/json")], "{}").status,
        401
    );
    for method in ["GET", "DELETE", "PUT"] {
        assert_eq!(nobody.send(method, "/mcp", &[("Mcp-Session-Id", "x")], "").status, 401);
    }
    assert_eq!(nobody.send("GET", "/.well-known/oauth-protected-resource", &[], "").status, 404);
    // It is on record, and not one record for each.
    let until = Instant::now() + Duration::from_secs(20);
    let counted = |records: &[Value]| -> u64 {
        let refused = records.iter().filter(|it| it.to_string().contains("http_refused"));
        refused.map(|it| numbers(it, "no_token") + numbers(it, "bad_token")).sum()
    };
    let query = ["evidence", "query", "--kind", "mcp_lifecycle", "--json"];
    let home = dir.path().join("state");
    while counted(&lazaret(&home, &query).run().objects()) != 6 {
        assert!(Instant::now() < until, "{:?}", lazaret(&home, &query).run().out);
        thread::sleep(Duration::from_millis(200));
    }
}

/// The number at a key, wherever it stands.
fn numbers(value: &Value, key: &str) -> u64 {
    match value {
        Value::Object(object) => object
            .iter()
            .map(|(name, it)| if name == key { it.as_u64().unwrap_or(0) } else { numbers(it, key) })
            .sum(),
        Value::Array(items) => items.iter().map(|it| numbers(it, key)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

#[test]
fn requests_by_foreign_names_and_from_foreign_pages_are_refused() {
    let (_dir, gateway) = gateway(&["--allow-origin", "https://app.example"]);
    let client = legacy(&gateway);
    let list = request(1, "tools/list", json!({}));
    for host in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80"] {
        assert_eq!(client.post(&[("Host", host)], &list).status, 403, "{host}");
    }
    for origin in ["https://evil.example", "null", "http://127.0.0.1:1", "https://app.example.evil"]
    {
        assert_eq!(client.post(&[("Origin", origin)], &list).status, 403, "{origin}");
    }
    let own = format!("http://localhost:{}", gateway.port);
    for origin in [own.as_str(), "https://app.example"] {
        let allowed = client.post(&[("Origin", origin)], &list);
        assert_eq!(allowed.status, 200, "{origin}");
        assert_eq!(allowed.field("access-control-allow-origin"), Some(origin));
    }
    let asked = client.send("OPTIONS", "/mcp", &[("Origin", "https://evil.example")], "");
    assert_eq!(asked.status, 403);
    let asked = client.send("OPTIONS", "/mcp", &[("Origin", "https://app.example")], "");
    assert_eq!(asked.status, 204);
}

/// A gateway whose clients come with access tokens.
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn with_oauth(dir: &Path, more: &[&str]) -> Gateway {
    let one = json!({ "command": "python3", "args": ["-B", corpus("server.py")], "cage": false });
    let oauth = json!({
        "issuer": "https://issuer.example", "audience": "http://127.0.0.1/mcp",
        "jwks_file": corpus("jwks.json"), "scopes": ["mcp"],
    });
    let file = dir.join("servers.json");
    let config = json!({ "mcpServers": { "a": one, "b": one }, "oauth": oauth });
    std::fs::write(&file, config.to_string()).unwrap();
    let file = file.display().to_string();
    let words = ["mcp", "serve", "--config", &file, "--http", "127.0.0.1:0", "--json"];
    let words = [words.as_slice(), &["--allow-commands"]].concat();
    Gateway::of(&dir.join("state"), &[words.as_slice(), more].concat())
}

pub(super) fn token(name: &str) -> String {
    let text = std::fs::read_to_string(corpus(&format!("jwt/{name}.txt"))).unwrap();
    text.lines().nth(1).unwrap().to_owned()
}

#[test]
fn access_tokens_are_verified_and_whoever_has_none_learns_where_to_get_one() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = with_oauth(dir.path(), &[]);
    assert_eq!(gateway.token, None);
    for name in ["rs256", "es256", "eddsa"] {
        let client = gateway.client_with(&token(name));
        assert_eq!(client.call("a__look", json!({ "name": "plain" })), "The meeting is at nine.");
    }
    let list = request(1, "tools/list", json!({}));
    for name in [
        "expired",
        "algorithm_none",
        "public_key_as_shared_secret",
        "signed_by_a_stranger",
        "key_brought_along",
        "kid_unknown",
        "other_issuer",
        "other_audience",
        "signature_of_another_payload",
    ] {
        let refused = gateway.client_with(&token(name)).post(&[], &list);
        assert_eq!(refused.status, 401, "{name}");
        let challenge = refused.field("www-authenticate").unwrap().to_owned();
        let metadata =
            "resource_metadata=\"http://127.0.0.1/.well-known/oauth-protected-resource/mcp\"";
        assert!(challenge.contains("invalid_token") && challenge.contains(metadata), "{challenge}");
    }
    let refused = gateway.client_with(&token("without_the_scope")).post(&[], &list);
    assert_eq!(refused.status, 403);
    let challenge = refused.field("www-authenticate").unwrap();
    assert!(
        challenge.contains("insufficient_scope") && challenge.contains("scope=\"mcp\""),
        "{challenge}"
    );
    let nobody = Client { port: gateway.port, token: None, session: None };
    for path in ["", "/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let told: Value = nobody.send("GET", &path, &[], "").json();
        assert_eq!(told["authorization_servers"], json!(["https://issuer.example"]), "{told}");
        assert_eq!(told["scopes_supported"], json!(["mcp"]));
    }
}

#[test]
fn clients_share_neither_sessions_nor_labels_nor_servers() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = with_oauth(dir.path(), &[]);
    let (mut ada, eve) =
        (gateway.client_with(&token("es256")), gateway.client_with(&token("another_user")));
    assert_eq!(ada.initialize(json!({})), 200);
    let stolen = Client { session: ada.session.clone(), ..eve.clone() };
    assert_eq!(stolen.post(&[], &request(1, "tools/list", json!({}))).status, 404);
    let session = ada.session.clone().unwrap();
    assert_eq!(eve.send("DELETE", "/mcp", &[("Mcp-Session-Id", &session)], "").status, 404);
    assert_eq!(eve.send("GET", "/mcp", &[("Mcp-Session-Id", &session)], "").status, 404);
    let ada = gateway.client_with(&token("es256"));
    assert_ne!(ada.call("a__process", json!({})), eve.call("a__process", json!({})));
    let before = sessions(dir.path());
    ada.call("a__look", json!({ "name": "orders" }));
    let after = sessions(dir.path());
    let tainted = |of: &[Value]| {
        of.iter().filter(|it| it["tainted_tokens"].as_u64().unwrap_or(0) > 10).count()
    };
    assert_eq!(tainted(&after), tainted(&before) + 1, "one client has read it: {after:?}");
}

#[test]
fn one_client_cannot_take_every_session() {
    let dir = tempfile::tempdir().unwrap();
    let gateway = with_oauth(dir.path(), &["--sessions", "8"]);
    let begin = |name: &str| gateway.client_with(&token(name)).initialize(json!({}));
    assert_eq!([begin("es256"), begin("rs256"), begin("eddsa")], [200, 200, 503]);
    assert_eq!(begin("another_user"), 200);
}

fn sessions(dir: &Path) -> Vec<Value> {
    let listed = lazaret(dir.join("state"), &["sessions", "--json"]).run().objects();
    listed.into_iter().filter(|it| it["agent"] == "mcp").collect()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn what_other_machines_reach_needs_oauth_and_the_operator_s_word() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("state");
    let one = json!({ "command": "python3", "args": [] });
    let oauth = json!({ "issuer": "i", "audience": "a", "jwks_file": corpus("jwks.json") });
    let write = |name: &str, config: Value| {
        let file = dir.path().join(name);
        std::fs::write(&file, config.to_string()).unwrap();
        file.display().to_string()
    };
    let plain = write("plain.json", json!({ "mcpServers": { "a": one } }));
    let with = write("with.json", json!({ "mcpServers": { "a": one }, "oauth": oauth }));
    let run = |config: &str, more: &[&str]| {
        let words = ["mcp", "serve", "--config", config, "--http", "0.0.0.0:0"];
        lazaret(&home, &[words.as_slice(), more].concat()).run()
    };
    run(&plain, &["--allow-commands"]).fails(2, &["other machines", "oauth"]);
    run(&with, &[]).fails(2, &["--allow-commands"]);
    run(&with, &["--allow-commands"]).fails(2, &["--allow-host"]);
    // Behind what encrypts, on this machine: clients are elsewhere all the same.
    let here = |config: &str, more: &[&str]| {
        let words = ["mcp", "serve", "--config", config, "--http", "127.0.0.1:0"];
        lazaret(&home, &[words.as_slice(), more].concat()).run()
    };
    here(&with, &[]).fails(2, &["--allow-commands"]);
    here(&plain, &["--allow-host", "gate.example"]).fails(2, &["--allow-commands"]);
    let alone = ["mcp", "--name", "a", "--http", "127.0.0.1:0", "--allow-host", "gate.example"];
    let alone = [alone.as_slice(), &["--", "python3"]].concat();
    lazaret(&home, &alone).run().fails(2, &["--allow-commands"]);
    // Keys come from one place, which is said.
    let file = corpus("jwks.json");
    for keys in [json!({}), json!({ "jwks_file": file, "jwks_url": "http://127.0.0.1:1/keys" })] {
        let mut oauth = json!({ "issuer": "i", "audience": "a" });
        oauth.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let keys = write("keys.json", json!({ "mcpServers": { "a": one }, "oauth": oauth }));
        let words =
            ["mcp", "serve", "--config", &keys, "--http", "127.0.0.1:0", "--allow-commands"];
        lazaret(&home, &words).run().fails(2, &["jwks_file", "jwks_url"]);
    }
    let words = ["mcp", "serve", "--config", &plain, "--allow-commands"];
    lazaret(&home, &words).run().fails(2, &["--http"]);
    lazaret(&home, &["daemon", "stop"]).run();
}
