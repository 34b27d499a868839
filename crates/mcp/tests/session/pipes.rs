//! Sessions over pipes: a slow, a deaf and a dying server harm nobody else.

use crate::script::Script;
use mcp::stdio::{self, Naming, Pipe, Server};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A running gateway with the client's ends of its pipes.
struct World {
    gate: Arc<Script>,
    input: Option<PipeWriter>,
    answers: Receiver<Value>,
    others: Vec<Value>,
    gateway: JoinHandle<()>,
}

/// What a server does with a request; `None` answers nothing.
type Behaviour = fn(&Value, &mut PipeWriter) -> Option<Value>;

impl World {
    fn start(servers: &[(&str, Option<Behaviour>)], naming: Naming) -> Self {
        let gate = Arc::new(Script::new(json!({})));
        let servers = servers.iter().map(|(name, behaviour)| serve(name, *behaviour)).collect();
        let ((client_in, input), (output, client_out)) = (pipe().unwrap(), pipe().unwrap());
        let (send, answers) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let Ok(line) = line else { break };
                if send.send(serde_json::from_str(&line).unwrap()).is_err() {
                    break;
                }
            }
        });
        let decider = gate.clone();
        let gateway = thread::spawn(move || {
            stdio::run(decider, servers, naming, client_in, Pipe::new(client_out)).unwrap();
        });
        Self { gate, input: Some(input), answers, others: Vec::new(), gateway }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Waits for the answer to a request. Other answers are kept for whoever asks for them: calls are judged beside each
    /// other, and their answers come in any order.
    fn answer(&mut self, id: &Value) -> Value {
        let is_wanted = |it: &Value| it.get("id") == Some(id);
        if let Some(at) = self.others.iter().position(is_wanted) {
            return self.others.swap_remove(at);
        }
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let message =
                self.answers.recv_timeout(left).unwrap_or_else(|_| panic!("no answer to {id}"));
            if is_wanted(&message) {
                return message;
            }
            self.others.push(message);
        }
    }

    fn initialize(&mut self) {
        self.send(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}}));
        self.answer(&json!("i"));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    fn call(&mut self, id: &Value, name: &str, text: &str) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": name, "arguments": {"text": text}}}));
    }

    fn end(mut self) {
        self.input = None;
        self.gateway.join().unwrap();
        assert_eq!(self.gate.outstanding(), 0);
    }
}

/// Starts a server; without a behaviour it reads nothing and says nothing.
fn serve(name: &str, behaviour: Option<Behaviour>) -> Server {
    let ((reader, input), (output, mut writer)) = (pipe().unwrap(), pipe().unwrap());
    match behaviour {
        Some(behaviour) => drop(thread::spawn(move || answer_all(reader, &mut writer, behaviour))),
        // Kept open, and forgotten.
        None => std::mem::forget((reader, writer)),
    }
    Server { name: name.to_owned(), input: Box::new(Pipe::new(input)), output: Box::new(output) }
}

fn answer_all(reader: PipeReader, writer: &mut PipeWriter, behaviour: Behaviour) {
    for line in BufReader::new(reader).lines() {
        let Ok(line) = line else { return };
        let message: Value = serde_json::from_str(&line).unwrap();
        let Some(id) = message.get("id") else { continue };
        if message["params"]["arguments"]["text"] == "die" {
            return;
        }
        if let Some(result) = behaviour(&message, writer) {
            let answer = match result.get("error") {
                Some(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
                None => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            };
            if writeln!(writer, "{answer}").is_err() {
                return;
            }
        }
    }
}

fn honest(message: &Value, _: &mut PipeWriter) -> Option<Value> {
    Some(match message["method"].as_str().unwrap() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "tools/call" => {
            json!({"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]})
        }
        _ => json!({"error": {"code": -32601, "message": "unknown"}}),
    })
}

fn never_answers_slow_calls(message: &Value, writer: &mut PipeWriter) -> Option<Value> {
    if message["params"]["arguments"]["text"] == "slow" { None } else { honest(message, writer) }
}

fn floods(message: &Value, writer: &mut PipeWriter) -> Option<Value> {
    if message["method"] == "tools/call" {
        for _ in 0..20_000 {
            writeln!(
                writer,
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"x"}}}}"#
            )
            .unwrap();
        }
    }
    honest(message, writer)
}

#[test]
fn calls_pass_and_the_end_is_clean() {
    let mut world = World::start(&[("files", Some(honest))], Naming::Plain);
    world.initialize();
    for id in 0..50 {
        world.call(&json!(id), "echo", &format!("text {id}"));
    }
    for id in 0..50 {
        let answer = world.answer(&json!(id));
        assert_eq!(answer["result"]["content"][0]["text"], format!("text {id}"));
    }
    world.end();
}

#[test]
fn answers_that_are_owed_come_after_the_input_is_closed() {
    let mut world = World::start(&[("files", Some(honest))], Naming::Plain);
    world.initialize();
    world.call(&json!(1), "echo", "last words");
    world.input = None;
    assert_eq!(world.answer(&json!(1))["result"]["content"][0]["text"], "last words");
    world.end();
}

#[test]
fn a_slow_call_holds_no_other() {
    let mut world = World::start(&[("files", Some(never_answers_slow_calls))], Naming::Plain);
    world.initialize();
    world.call(&json!(1), "echo", "slow");
    world.call(&json!(2), "echo", "quick");
    assert_eq!(world.answer(&json!(2))["result"]["content"][0]["text"], "quick");
    world.end();
}

#[test]
fn a_flood_holds_no_answer() {
    let mut world = World::start(&[("files", Some(floods))], Naming::Plain);
    world.initialize();
    world.call(&json!(1), "echo", "through");
    assert_eq!(world.answer(&json!(1))["result"]["content"][0]["text"], "through");
    world.end();
}

#[test]
fn a_dying_server_is_reported_and_another_goes_on() {
    let mut world = World::start(&[("a", Some(honest)), ("b", Some(honest))], Naming::Prefixed);
    world.initialize();
    world.call(&json!(1), "b__echo", "die");
    let answer = world.answer(&json!(1));
    assert_eq!(answer["result"]["isError"], true);
    world.call(&json!(2), "a__echo", "alive");
    assert_eq!(world.answer(&json!(2))["result"]["content"][0]["text"], "alive");
    world.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"}));
    let tools = world.answer(&json!(3))["result"]["tools"].clone();
    assert_eq!(tools.as_array().unwrap().len(), 1);
    world.end();
}

#[test]
fn a_deaf_server_holds_nobody() {
    let mut world = World::start(&[("files", Some(deaf_after_the_list))], Naming::Plain);
    world.initialize();
    // Far more than a pipe takes: the client can still write, and is told at last.
    let text = "x".repeat(1024 * 1024);
    for id in 0..80 {
        world.call(&json!(id), "echo", &text);
    }
    world.send(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    let mut is_pinged = false;
    let mut refused = 0;
    while !is_pinged {
        let message = world.answers.recv_timeout(Duration::from_secs(60)).unwrap();
        is_pinged = message["id"] == "p";
        refused += usize::from(message["result"]["isError"] == true);
    }
    assert_eq!(refused, 80);
    world.end();
}

fn deaf_after_the_list(message: &Value, writer: &mut PipeWriter) -> Option<Value> {
    if message["method"] == "tools/call" {
        thread::sleep(Duration::from_secs(3600));
    }
    honest(message, writer)
}

#[test]
fn several_servers_need_prefixes() {
    let gate = Arc::new(Script::new(json!({})));
    let servers = vec![serve("a", None), serve("b", None)];
    let output = Pipe::new(pipe().unwrap().1);
    let error = stdio::run(gate, servers, Naming::Plain, std::io::empty(), output);
    assert!(error.unwrap_err().to_string().contains("prefixes"));
}
