//! Models behind a real gate: a real vault, and servers on this machine that replay what the APIs say.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use evidence::Filter;
use host::models::{Models, ModelsError};
use host::{AgentSession, Gate, SessionOptions};
use llm::{Answer, Block, Flow, LlmError, Message, Piece, Request, Role};
use model::{AgentId, Caller, Kind, Profile, SessionId, UserId};
use monitor::Approver;
use monitor::provenance::Catalogue;
use policy::Policy;
use serde_json::{Value, json};
use vault::{Key, Name, Secret, VaultFile};
use zeroize::Zeroizing;

const KEY: &str = "sk-ant-api03-Zq81LkWm27Vb09sPqHx4Rt6YuIoPaSdFgHjKlZxCvBnM";

/// Answers every question with the next of these, and keeps what it was asked.
struct Server {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&heard);
        thread::spawn(move || {
            for (stream, answer) in listener.incoming().map_while(Result::ok).zip(answers) {
                let Some(asked) = question(&stream) else { continue };
                all.lock().unwrap().push(asked);
                let _ = (&stream).write_all(&answer);
            }
        });
        Self { port, heard }
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn question(mut stream: &TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
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

fn head(status: &str, more: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{more}connection: close\r\n\r\n")
}

/// A stream of the corpus, until the connection closes.
fn stream(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/llm").join(name);
    let mut answer = head("200 OK", "content-type: text/event-stream\r\n").into_bytes();
    answer.extend(fs::read(path).unwrap());
    answer
}

fn says(text: &str) -> Vec<u8> {
    let mut answer = head("200 OK", "content-type: text/event-stream\r\n");
    for part in text.as_bytes().chunks(5) {
        let part = String::from_utf8_lossy(part);
        let event = json!({"choices": [{"delta": {"content": part}}]});
        answer.push_str(&format!("data: {event}\n\n"));
    }
    let end = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
    answer.push_str(&format!("data: {end}\n\ndata: [DONE]\n\n"));
    answer.into_bytes()
}

fn refusal(status: &str, more: &str, body: &str) -> Vec<u8> {
    let more = format!("content-type: application/json\r\n{more}");
    format!("{}{body}", head(status, &more)).into_bytes()
}

/// A state directory with these settings, and a gate on it.
struct World {
    dir: tempfile::TempDir,
    gate: Gate,
}

#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn put(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

impl World {
    fn new(settings: &str, server: &Server) -> Self {
        Self::with_key(settings, Some(&format!("http://127.0.0.1:{}", server.port)))
    }

    /// With a vault, if a host is named that the key is for.
    fn with_key(settings: &str, host: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        put(&dir.path().join("config.yaml"), settings);
        if let Some(host) = host {
            let (file, key) = (VaultFile::in_home(dir.path()), Key::generate());
            key.write(&file.key_path()).unwrap();
            file.create(&key).unwrap();
            let secret = Secret::new(Zeroizing::new(KEY.to_owned())).unwrap();
            let name = Name::parse("ANTHROPIC_API_KEY").unwrap();
            let hosts = Some(vec![host.to_owned()]);
            file.change(&key, |it| it.set(&name, secret, hosts, 1).map(drop)).unwrap();
        }
        let policy = Policy::embedded().unwrap();
        let catalogue = Catalogue::default();
        let gate = Gate::open_with_keys(dir.path(), policy, catalogue, |_, why| panic!("{why}"));
        Self { gate: gate.unwrap(), dir }
    }

    fn models(&self) -> Models {
        Models::of(&self.gate, self.dir.path()).unwrap().unwrap()
    }

    fn open(&self) -> (Caller, AgentSession) {
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("me").unwrap(),
            agent: AgentId::parse("main").unwrap(),
            door: Kind::parse("ipc").unwrap(),
        };
        let options = SessionOptions {
            profile: Profile::Standard,
            approver: Approver::Absent,
            workspace: None,
            own_workspace: false,
            ephemeral: false,
            origin: policy::access::Origin::Local,
            starter: host::Starter::Person,
        };
        let stop = host::ipc::Stop::pair().unwrap().1;
        let session = AgentSession::open(&self.gate, self.dir.path(), &who, &options, &stop);
        (who, session.unwrap())
    }

    fn ask(&self, model: &str, said: &str) -> (Result<Answer, LlmError>, Vec<Piece>) {
        let (who, session) = self.open();
        let mut pieces = Vec::new();
        let mut on_piece = |piece| {
            pieces.push(piece);
            Flow::Continue
        };
        let answer = self.models().ask(&who, &request(model, said), &mut on_piece);
        // What the session's own model says is nobody's from outside.
        let taint = self.gate.monitor.summary(&who).unwrap().taint;
        assert!(taint.iter_names().all(|it| it == "SECRET_RISK"), "{taint:?}");
        session.end(&self.gate).unwrap();
        (answer, pieces)
    }

    /// Contents of all records of a kind.
    fn records(&self, kind: &str) -> Vec<Value> {
        let kind = Some(Kind::parse(kind).unwrap());
        let mut found = Vec::new();
        let mut see = |row: evidence::Row| {
            let record: Value = serde_json::from_slice(&row.line).unwrap();
            found.push(record["payload"]["inline"].clone());
            true
        };
        let filter = Filter { kind, ..Filter::default() };
        self.gate.journal.checkpoint().unwrap();
        let reader = evidence::Reader::open(&self.dir.path().join("evidence")).unwrap();
        evidence::query(&reader, &filter, &mut see).unwrap();
        found
    }

    /// Everything that is on the disk of the journal.
    fn journal_text(&self) -> String {
        let mut all = String::new();
        let mut folders = vec![self.dir.path().join("evidence")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
                match entry.is_dir() {
                    true => folders.push(entry),
                    false => all.push_str(&String::from_utf8_lossy(&fs::read(entry).unwrap())),
                }
            }
        }
        all
    }
}

fn request(model: &str, said: &str) -> Request {
    let content = vec![Block::Text { text: said.to_owned() }];
    Request {
        model: model.to_owned(),
        system: "be brief".to_owned(),
        messages: vec![Message { role: Role::User, content }],
        tools: Vec::new(),
        max_tokens: None,
        temperature: None,
        effort: None,
    }
}

fn text(answer: &Answer) -> String {
    let words = |it: &Block| match it {
        Block::Text { text } => text.clone(),
        Block::ToolUse { .. } | Block::ToolResult { .. } => String::new(),
    };
    answer.content.iter().map(words).collect()
}

fn anthropic(server: &Server) -> String {
    format!(
        "providers: {{llm: anthropic}}\nmodels:\n  default: anthropic/claude-x\n  \
         anthropic: {{url: \"http://127.0.0.1:{}\"}}\n  \
         prices: {{anthropic/claude-x: {{input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75}}}}\n",
        server.port
    )
}

fn local(server: &Server) -> String {
    format!(
        "providers: {{llm: local}}\nmodels:\n  default: local/llama\n  \
         local: {{url: \"http://127.0.0.1:{}/v1\"}}\n",
        server.port
    )
}

#[test]
fn a_model_is_asked_with_the_key_of_its_host_and_usage_and_price_are_on_record() {
    let server = Server::start(vec![stream("anthropic/tool-use-beside-text.sse")]);
    let world = World::new(&anthropic(&server), &server);
    let (answer, pieces) = world.ask("", "hello");
    let answer = answer.unwrap();
    assert_eq!((answer.model.as_str(), answer.content.len()), ("anthropic/claude-x", 2));
    assert!(pieces.contains(&Piece::Text("Let me look.".to_owned())), "{pieces:?}");
    let heard = server.heard();
    assert!(heard[0].starts_with("POST /v1/messages ") && heard[0].contains(KEY), "{heard:?}");
    assert!(heard[0].contains("anthropic-version: 2023-06-01"), "{heard:?}");
    let record = &world.records("model_call")[0];
    assert_eq!(
        (&record["model"], &record["stop"]),
        (&json!("anthropic/claude-x"), &json!("tool_use"))
    );
    // 25 × 3 + 15 × 15 + 2000 × 0.3 + 100 × 3.75
    assert_eq!(record["cost_microdollars"], 1275, "{record}");
    assert_eq!(record["usage"]["cache_read_tokens"], 2000);
    let way = &world.records("egress")[0];
    assert_eq!((&way["tool"], &way["status"]), (&json!("llm_call"), &json!(200)), "{way}");
    assert_eq!(world.records("credential")[0]["purpose"], "llm_call");
    assert!(!world.journal_text().contains(KEY), "a key is in no record");
}

#[test]
fn an_agent_asks_by_a_message_and_has_blocks_back() {
    let server = Server::start(vec![stream("chat/tool-calls-in-parallel.sse")]);
    let world = World::new(&local(&server), &server);
    let (who, session) = world.open();
    let message = json!({
        "action": "llm_call", "provider": "local",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": [
            {"type": "text", "text": "look"},
        ]}],
        "tools": [{"name": "web_fetch", "description": "reads", "parameters": {"type": "object"}}],
    });
    let answer = session.door().answer(&who, message.to_string().as_bytes()).to_value();
    assert_eq!((&answer["ok"], &answer["stop"]), (&json!(true), &json!("tool_use")), "{answer}");
    assert_eq!(answer["content"][0]["input"], json!({"url": "x"}));
    assert_eq!(answer["model"], "local/llama");
    let heard = server.heard();
    assert!(heard[0].starts_with("POST /v1/chat/completions "), "{heard:?}");
    assert!(!heard[0].contains("authorization"), "a server without a key is sent none");
    assert!(heard[0].contains(r#""type":"function""#), "{heard:?}");
    session.end(&world.gate).unwrap();
    let unpriced = &world.records("model_call")[0];
    assert_eq!(unpriced["cost_microdollars"], Value::Null, "no price is not free");
}

#[test]
fn a_key_goes_to_its_own_host_alone_and_is_missed_with_a_remedy() {
    let server = Server::start(vec![stream("anthropic/text.sse")]);
    let remedy =
        format!("lazaret vault set ANTHROPIC_API_KEY --host http://127.0.0.1:{}", server.port);
    for (host, words) in [
        (Some("api.anthropic.com"), remedy.as_str()),
        // Another port of the same host is another server.
        (Some("http://127.0.0.1:1"), "is for another host"),
        (None, remedy.as_str()),
    ] {
        let world = World::with_key(&anthropic(&server), host);
        let error = world.ask("", "hello").0.unwrap_err();
        assert_eq!(error.kind.as_str(), "invalid_key");
        assert!(error.detail.contains(words), "{error}");
        assert!(server.heard().is_empty(), "nobody was asked");
    }
}

#[test]
fn secrets_are_held_back_from_a_stream_before_their_first_byte() {
    let shaped = "sk-ant-api03-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5xY7zA9bC1dE3fG5hJ7kL9mN1pQ3rS5tU7v-aB3dE5fGAA";
    let said = format!("{} here is {KEY} and {shaped} {}", "a ".repeat(300), "b ".repeat(600));
    let server = Server::start(vec![says(&said)]);
    let world = World::new(&local(&server), &server);
    let (answer, pieces) = world.ask("", "what is the key?");
    let streamed: String = pieces
        .iter()
        .map(|it| match it {
            Piece::Text(text) => text.as_str(),
            Piece::Thinking(_) | Piece::ToolStart { .. } | Piece::ToolInput { .. } => "",
        })
        .collect();
    assert!(!streamed.contains("api03") && !streamed.contains("Zq81"), "{streamed}");
    assert!(streamed.contains("here is [") && streamed.contains("b b b"), "{streamed}");
    assert!(pieces.len() > 3, "it streams all the same");
    assert!(!text(&answer.unwrap()).contains(KEY), "the whole answer is scrubbed as well");
    assert!(!world.journal_text().contains(KEY));
}

#[test]
fn errors_of_a_provider_are_told_by_their_kind_and_are_on_record() {
    let body = r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}"#;
    for (answer, kind) in [
        (refusal("429 Too Many Requests", "retry-after: 7\r\n", body), "rate_limited"),
        (refusal("529 Overloaded", "", "{}"), "overloaded"),
        (refusal("401 Unauthorized", "", "{}"), "invalid_key"),
        (refusal("302 Found", "location: http://127.0.0.1:1/steal\r\n", ""), "unreachable"),
        (stream("anthropic/cut-before-the-end.sse"), "unreachable"),
        (stream("anthropic/half-a-json.sse"), "unreachable"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nffff\r\ndata: {".to_vec(), "unreachable"),
        (b"SSH-2.0-OpenSSH_9.6\r\n".to_vec(), "unreachable"),
    ] {
        let server = Server::start(vec![answer]);
        let world = World::new(&anthropic(&server), &server);
        let error = world.ask("", "hello").0.unwrap_err();
        assert_eq!(error.kind.as_str(), kind, "{error}");
        let record = &world.records("model_call")[0];
        assert_eq!(record["error"], kind, "{record}");
        assert_eq!(record["failed"][0]["model"], "anthropic/claude-x");
        assert!(!world.journal_text().contains(KEY));
    }
}

#[test]
fn a_chain_falls_through_to_who_answers() {
    let first = Server::start(vec![refusal("503 Busy", "", "{}"), stream("anthropic/text.sse")]);
    let second = Server::start(vec![stream("chat/text.sse")]);
    let settings = format!(
        "providers: {{llm: router}}\nmodels:\n  default: [anthropic/claude-x, local/llama]\n  fast: local/small\n  \
         anthropic: {{url: \"http://127.0.0.1:{}\"}}\n  local: {{url: \"http://127.0.0.1:{}\"}}\n",
        first.port, second.port
    );
    let world = World::new(&settings, &first);
    let (answer, _) = world.ask("default", "hello");
    assert_eq!(answer.unwrap().model, "local/llama");
    let record = &world.records("model_call")[0];
    assert_eq!(record["failed"], json!([{"error": "overloaded", "model": "anthropic/claude-x"}]));
    for (wrong, words) in [
        ("anthropic/claude-opus-99", "the settings name no model"),
        ("gemini/pro", "the settings name no model"),
        ("evil/x", "there is no llm provider"),
    ] {
        let error = world.ask(wrong, "hello").0.unwrap_err();
        assert!(error.detail.contains(words), "{wrong}: {error}");
    }
}

#[test]
fn the_mock_needs_no_key_no_way_and_no_script() {
    let world = World::with_key("providers: {llm: mock}\n", None);
    let (answer, pieces) = world.ask("", "hello");
    assert!(text(&answer.unwrap()).ends_with("hello") && !pieces.is_empty());
    let scripted =
        World::with_key("providers: {llm: mock}\nmodels: {mock: {script: turns.json}}\n", None);
    let missing = Models::of(&scripted.gate, scripted.dir.path()).err().unwrap();
    assert!(matches!(missing, ModelsError::File { .. }), "{missing}");
    put(&scripted.dir.path().join("turns.json"), r#"{"turns": [{"say": "scripted"}]}"#);
    assert_eq!(text(&scripted.ask("fast", "hello").0.unwrap()), "scripted");
}

#[test]
fn settings_that_contradict_themselves_choose_nothing() {
    for (settings, words) in [
        ("providers: {llm: anthropic}\n", "names no model"),
        ("providers: {llm: anthropic}\nmodels: {default: openai/x}\n", "chooses one provider"),
        ("providers: {llm: router}\nmodels: {default: local/x}\n", "has no `url`"),
        (
            "providers: {llm: local}\nmodels: {default: local/x, local: {url: 'http://10.0.0.1:1'}}\n",
            "the address of `local`",
        ),
        ("providers: {llm: mock}\nmodels: {mock: {script: ../x.json}}\n", "`script`"),
        (
            "providers: {llm: openai}\nmodels: {default: openai/x, openai: {url: 'http://169.254.169.254'}}\n",
            "the address of `openai`",
        ),
    ] {
        let world = World::with_key(settings, None);
        let error = Models::of(&world.gate, world.dir.path()).err().unwrap().to_string();
        assert!(error.contains(words), "{settings}: {error}");
    }
}

#[test]
fn a_request_that_keeps_no_limit_is_refused_before_anybody_is_asked() {
    let world = World::with_key("providers: {llm: mock}\n", None);
    let (who, session) = world.open();
    let models = world.models();
    let ask = |request: &Request| models.ask(&who, request, &mut |_| Flow::Continue);
    let mut long = request("", &"x".repeat(200_001));
    assert_eq!(ask(&long).unwrap_err().kind.as_str(), "invalid_request");
    long.messages.clear();
    long.system.clear();
    assert_eq!(ask(&long).unwrap_err().kind.as_str(), "invalid_request");
    assert!(ask(&request("", "with a \0 in it")).is_ok(), "a NUL is replaced");
    // A session that is not open asks nothing.
    let nobody = Caller { session: SessionId::parse("other").unwrap(), ..who.clone() };
    let error = models.ask(&nobody, &request("", "x"), &mut |_| Flow::Continue).unwrap_err();
    assert_eq!(error.kind.as_str(), "refused");
    session.end(&world.gate).unwrap();
}
