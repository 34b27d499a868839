//! `lazaret proxy` with the tokens of `lazaret access`.

#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;

use data_encoding::BASE64;
use serde_json::Value;
use testkit::program::Run as _;

use crate::program::lazaret;

/// A new access token, and its name.
fn token(home: &Path, user: &str, agent: &str) -> (String, String) {
    let args = ["access", "create", "--user", user, "--agent", agent, "--json"];
    let made = lazaret(home, &args).run().good().object();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

struct Proxy {
    child: Child,
    address: String,
}

impl Proxy {
    fn start(home: &Path) -> Self {
        let args = ["proxy", "--agent", "main", "--listen", "127.0.0.1:0", "--json"];
        let (child, line) = lazaret(home, &args).start_and_hear();
        let shown: Value = serde_json::from_str(&line).unwrap();
        let address = shown["proxy"].as_str().unwrap().rsplit('@').next().unwrap().to_owned();
        Self { child, address }
    }

    #[expect(clippy::disallowed_methods, reason = "a program before the proxy under test")]
    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).unwrap()
    }

    /// The status for who shows these credentials. Nobody is dialled: the address is not a public one.
    fn status(&self, name: &str, token: &str) -> String {
        let answer = self.answer("GET http://10.0.0.1/", name, token);
        answer.split(' ').nth(1).unwrap().to_owned()
    }

    fn answer(&self, line: &str, name: &str, token: &str) -> String {
        let basic = BASE64.encode(format!("{name}:{token}").as_bytes());
        let asked =
            format!("{line} HTTP/1.1\r\nhost: a\r\nproxy-authorization: Basic {basic}\r\n\r\n");
        let mut stream = self.connect();
        stream.write_all(asked.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_access_token_opens_the_account_of_its_user_and_agent_until_it_is_revoked() {
    let home = tempfile::tempdir().unwrap();
    let proxy = Proxy::start(home.path());
    let known = "403";
    let unknown = "407";
    assert_eq!(proxy.status("main", "lzt_none"), unknown, "there are no tokens at all");
    let (right, id) = token(home.path(), "me", "main");
    assert_eq!(proxy.status("main", &right), known);
    let (anybody, _) = token(home.path(), "ann", "main");
    assert_eq!(proxy.status("main", &anybody), unknown, "another user's");
    let (elsewhere, _) = token(home.path(), "me", "other");
    assert_eq!(proxy.status("main", &elsewhere), unknown, "for another agent");
    assert_eq!(proxy.status("other", &elsewhere), unknown, "an agent without an account");
    assert_eq!(proxy.status("main", &right), known);
    lazaret(home.path(), &["access", "revoke", &id]).run().good();
    assert_eq!(proxy.status("main", &right), unknown, "revoked");
    drop(proxy);
    let shown = lazaret(home.path(), &["evidence", "query", "--kind", "egress"]).run().good().out;
    let line = format!("deny net-v4-private GET http://10.0.0.1:80/ token {id}");
    assert_eq!(shown.matches(&line).count(), 2, "{shown}");
    assert!(!shown.contains(&right), "a token is shown once");
}

/// Nobody has seen what a program read, and nobody is there to be asked. Nothing of this is looked up or dialled.
#[test]
fn what_looks_like_data_on_its_way_out_is_refused_to_programs() {
    let home = tempfile::tempdir().unwrap();
    let proxy = Proxy::start(home.path());
    let (token, _) = token(home.path(), "me", "main");
    let label = "nb2hi4dthixs6ylbmfqwcylbmfqwcylbmfqwcylb";
    for (line, rule) in [
        ("CONNECT abc123.ngrok.io:443".to_owned(), "net-exfil-tunnel"),
        (format!("CONNECT {label}.a.example:443"), "net-exfil-dns"),
        ("POST http://hooks.slack.com/services/T0/B0/x".to_owned(), "net-exfil-host"),
        (format!("GET http://a.example/?d={}", BASE64.encode(&[b'k'; 60])), "net-exfil-query"),
    ] {
        let answer = proxy.answer(&line, "main", &token);
        assert!(answer.starts_with("HTTP/1.1 403 "), "{line}: {answer}");
        assert!(answer.contains(&format!("x-lazaret-refusal: {rule}\r\n")), "{line}: {answer}");
        assert!(answer.contains("allowedDomains"), "{line}: {answer}");
    }
}

#[test]
fn there_is_no_proxy_for_an_agent_whose_manifest_gives_no_network() {
    let home = tempfile::tempdir().unwrap();
    let hash = "a".repeat(64);
    let users = format!(
        "users:\n  - name: me\n    token_hash: \"{hash}\"\n    agents: \"*\"\n    budget: unlimited\n"
    );
    let closed = "---\nsandbox:\n  network: none\n---\n# Main\n";
    for (name, text) in [
        ("config.yaml", "tools: {}\n"),
        ("users.yaml", users.as_str()),
        ("agents/main/IDENTITY.md", closed),
    ] {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
    }
    let args = ["proxy", "--agent", "main", "--listen", "127.0.0.1:0"];
    let ran = lazaret(home.path(), &args).run();
    ran.fails(1, &["the manifest of `main` gives its programs no network"]);
}
