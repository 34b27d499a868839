//! A gateway that listens, and a client that speaks HTTP to it over a plain socket, so that nothing is put right on the way.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;

pub(super) const MODERN: &str = "2026-07-28";

pub(super) fn corpus(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp-http");
    folder.join(name).display().to_string()
}

/// A gateway. Dropped, it ends, and its daemon.
pub(super) struct Gateway {
    child: Child,
    home: std::path::PathBuf,
    pub(super) port: u16,
    pub(super) token: Option<String>,
}

impl Gateway {
    /// Before the server of the corpus.
    pub(super) fn start(home: &Path, more: &[&str]) -> Self {
        let server = corpus("server.py");
        let mut words =
            vec!["mcp", "--http", "127.0.0.1:0", "--json", "--name", "notes", "--no-cage"];
        words.extend(more);
        words.extend(["--", "python3", "-B", server.as_str()]);
        Self::of(home, &words)
    }

    pub(super) fn of(home: &Path, words: &[&str]) -> Self {
        let (child, line) = lazaret(home, words).start_and_hear();
        let told: Value = serde_json::from_str(&line).unwrap();
        let url = told["url"].as_str().unwrap();
        let port = url.rsplit(':').next().unwrap().trim_end_matches("/mcp").parse().unwrap();
        let token = told["token_file"].as_str().map(|it| std::fs::read_to_string(it).unwrap());
        Self { child, home: home.to_owned(), port, token }
    }

    /// A client with this machine's token.
    pub(super) fn client(&self) -> Client {
        Client { port: self.port, token: self.token.clone(), session: None }
    }

    pub(super) fn client_with(&self, token: &str) -> Client {
        Client { port: self.port, token: Some(token.to_owned()), session: None }
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        testkit::program::end(&mut self.child);
        lazaret(&self.home, &["daemon", "stop"]).run();
    }
}

#[derive(Clone)]
pub(super) struct Client {
    pub(super) port: u16,
    pub(super) token: Option<String>,
    pub(super) session: Option<String>,
}

/// An answer whose head was read.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) fields: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
    until: Instant,
}

/// How long an answer may take, signs of life included.
const WAIT: Duration = Duration::from_secs(40);

impl Answer {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    fn line(&mut self) -> Option<String> {
        assert!(Instant::now() < self.until, "it takes too long");
        let mut line = String::new();
        (self.stream.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    /// The next event: its id, if it has one, and its message.
    pub(super) fn event(&mut self) -> Option<(String, Value)> {
        let mut id = String::new();
        loop {
            let line = self.line()?;
            if let Some(text) = line.strip_prefix("id: ") {
                id = text.to_owned();
            } else if let Some(text) = line.strip_prefix("data: ") {
                return Some((id, serde_json::from_str(text).unwrap()));
            }
        }
    }

    /// The whole body, as JSON; of events the last.
    pub(super) fn json(mut self) -> Value {
        if self.field("content-type") == Some("text/event-stream") {
            let mut last = Value::Null;
            while let Some((_, message)) = self.event() {
                last = message;
            }
            return last;
        }
        let length: usize = self.field("content-length").unwrap_or("0").parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap_or(Value::Null)
    }
}

impl Client {
    /// Sends a request as it is written here. `Host` and the token are added, unless they are given.
    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        fields: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        #[expect(clippy::disallowed_methods, reason = "a client of the gateway, on this machine")]
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(WAIT)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        let has = |name: &str| fields.iter().any(|it| it.0.eq_ignore_ascii_case(name));
        if !has("host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        if let Some(token) = self.token.as_ref().filter(|_| !has("authorization")) {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        for (name, value) in fields {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let until = Instant::now() + WAIT;
        let stream = BufReader::new(stream);
        let mut answer = Answer { status: 0, fields: Vec::new(), stream, until };
        let status = answer.line().unwrap();
        answer.status = status.split(' ').nth(1).unwrap().parse().unwrap();
        while let Some(line) = answer.line().filter(|it| !it.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap();
            answer.fields.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        answer
    }

    pub(super) fn post(&self, fields: &[(&str, &str)], body: &Value) -> Answer {
        let mut all = vec![
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        if let Some(session) = &self.session {
            all.push(("Mcp-Session-Id", session));
        }
        all.extend(fields);
        self.send("POST", "/mcp", &all, &body.to_string())
    }

    /// Shakes hands, as clients of 2025 do.
    pub(super) fn initialize(&mut self, capabilities: Value) -> u16 {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" } });
        let answer = self.post(&[], &request(0, "initialize", params));
        self.session = answer.field("mcp-session-id").map(str::to_owned);
        let status = answer.status;
        if status == 200 {
            assert_eq!(answer.json()["result"]["protocolVersion"], "2025-06-18");
            let greeting = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            assert_eq!(self.post(&[("Mcp-Protocol-Version", "2025-06-18")], &greeting).status, 202);
        }
        status
    }

    /// Asks in the era that the client is in: with a session, or without.
    pub(super) fn open(&self, id: u64, method: &str, params: Value) -> Answer {
        if self.session.is_some() {
            return self.post(&[], &request(id, method, params));
        }
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut fields = vec![("Mcp-Protocol-Version", MODERN), ("Mcp-Method", method)];
        if !name.is_empty() {
            fields.push(("Mcp-Name", &name));
        }
        self.post(&fields, &request(id, method, modern(params)))
    }

    /// Sends a call and goes before its answer, but not before the server has it.
    pub(super) fn send_and_go(&self, params: &Value) {
        let body = request(8, "tools/call", modern(params.clone())).to_string();
        let token = self.token.clone().unwrap_or_default();
        #[expect(clippy::disallowed_methods, reason = "a client of the gateway, on this machine")]
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Protocol-Version: {MODERN}\r\nMcp-Method: tools/call\r\nMcp-Name: {}\r\nContent-Length: {}\r\n\r\n{body}",
            params["name"].as_str().unwrap(),
            body.len(),
        );
        stream.write_all(head.as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(800));
    }

    pub(super) fn ask(&self, id: u64, method: &str, params: Value) -> Value {
        let answer = self.open(id, method, params);
        let said = answer.json();
        assert_eq!(said["id"], id, "{said}");
        said
    }

    /// The text of a tool's result.
    pub(super) fn call(&self, name: &str, arguments: Value) -> String {
        let said = self.ask(7, "tools/call", json!({ "name": name, "arguments": arguments }));
        let text = said["result"]["content"][0]["text"].as_str();
        text.map_or_else(|| said.to_string(), str::to_owned)
    }
}

pub(super) fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Adds what every modern request carries.
pub(super) fn modern(mut params: Value) -> Value {
    let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
    meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
    let able = &mut meta["io.modelcontextprotocol/clientCapabilities"];
    if able.is_null() {
        *able = json!({});
    }
    params
}
