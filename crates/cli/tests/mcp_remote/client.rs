//! A client of `lazaret mcp`, and the state that it works with.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;

/// A state directory whose daemon ends with it.
pub(super) struct Place {
    pub(super) dir: tempfile::TempDir,
    pub(super) home: PathBuf,
}

impl Place {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("state");
        Self { dir, home }
    }

    /// With a vault that holds this secret for this host.
    pub(super) fn with_secret(name: &str, value: &str, host: &str) -> Self {
        let place = Self::new();
        assert_eq!(lazaret(&place.home, &["vault", "init"]).run().code, 0);
        let words = ["vault", "set", name, "--host", host];
        let set = lazaret(&place.home, &words).run_with(value);
        assert_eq!(set.code, 0, "{}", set.err);
        place
    }

    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    pub(super) fn settings(&self, text: &str) {
        std::fs::create_dir_all(&self.home).unwrap();
        std::fs::write(self.home.join("config.yaml"), text).unwrap();
    }

    pub(super) fn records(&self, kind: &str) -> Vec<Value> {
        lazaret(&self.home, &["evidence", "query", "--kind", kind, "--json"]).run().objects()
    }

    /// Is a text anywhere in what was kept in the open?
    pub(super) fn holds(&self, text: &str) -> bool {
        fn found(dir: &Path, text: &[u8]) -> bool {
            std::fs::read_dir(dir).unwrap().flatten().any(|entry| {
                let path = entry.path();
                if path.is_dir() {
                    return found(&path, text);
                }
                let bytes = std::fs::read(&path).unwrap_or_default();
                bytes.windows(text.len()).any(|it| it == text)
            })
        }
        found(&self.home, text.as_bytes())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        lazaret(&self.home, &["daemon", "stop"]).run();
    }
}

/// A client that speaks to servers through the gateway, in the era with a handshake.
pub(super) struct Client {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next: u64,
    is_modern: bool,
}

impl Client {
    /// Begins, with or without success.
    pub(super) fn hello(home: &Path, words: &[&str]) -> (Self, Value) {
        let mut client = Self::spawn(home, words);
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let said = client.ask("initialize", params);
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        (client, said)
    }

    fn spawn(home: &Path, words: &[&str]) -> Self {
        let mut child = lazaret(home, words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Self { child, to, from, next: 0, is_modern: false }
    }

    pub(super) fn start(home: &Path, words: &[&str]) -> Self {
        let (client, said) = Self::hello(home, words);
        assert!(said["result"]["serverInfo"]["name"].is_string(), "{said}");
        client
    }

    /// Begins in the era without a handshake.
    pub(super) fn hello_modern(place: &Place, url: &str) -> (Self, Value) {
        let words = ["mcp", "--name", "notes", "--url", url];
        let mut client = Self::spawn(&place.home, &words);
        client.is_modern = true;
        let said = client.ask("server/discover", json!({}));
        (client, said)
    }

    pub(super) fn modern(place: &Place, url: &str) -> Self {
        let (client, said) = Self::hello_modern(place, url);
        assert!(said["result"]["supportedVersions"].is_array(), "{said}");
        client
    }

    /// Before the server at this address.
    pub(super) fn at(place: &Place, url: &str) -> Self {
        Self::start(&place.home, &["mcp", "--name", "notes", "--url", url])
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(super) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            });
        }
        self.next += 1;
        let id = self.next;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(super) fn hear(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "it ended");
            let said: Value = serde_json::from_str(&line).unwrap();
            if said["id"] == id {
                return said;
            }
        }
    }

    pub(super) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.hear(id)
    }

    pub(super) fn tools(&mut self) -> Vec<String> {
        let said = self.ask("tools/list", json!({}));
        let tools = said["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    }

    pub(super) fn send_look(&mut self, tool: &str, name: &str) -> u64 {
        self.send("tools/call", json!({ "name": tool, "arguments": { "name": name } }))
    }

    /// What a call says, whether it went well or not.
    pub(super) fn look(&mut self, name: &str) -> String {
        let id = self.send_look("look", name);
        let said = self.hear(id);
        let text = said["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if text.is_empty() { said.to_string() } else { text }
    }

    pub(super) fn end(mut self) {
        drop(self.to.take());
        assert!(self.child.wait().unwrap().success());
    }
}
