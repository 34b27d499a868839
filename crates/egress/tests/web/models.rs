//! Models are waited for in bounds, and each question is on record however it ends.

use std::cell::RefCell;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use egress::{Client, Dialer, Limits, ModelServers, Rules, Trust, Waits};
use model::Effect;
use monitor::{Asked, Executor, Granted, Output, Permit};
use scan::net::{Inner, InnerHost, Target};
use serde_json::{Value, json};

use crate::world::{Names, Plan, World};

/// Asks one model once, and keeps what it said.
struct Asks {
    servers: ModelServers,
    target: Target,
    /// Pieces that are read before it is let go.
    pieces_max: usize,
    said: RefCell<Vec<u8>>,
    failed: RefCell<Option<String>>,
}

impl Executor for Asks {
    fn execute(&self, permit: Permit<Effect>) -> Output {
        let Granted::LlmCall(permit) = permit.by_kind() else { panic!("nothing else is asked") };
        match self.servers.post(&permit, &self.target, (Vec::new(), "{}".into()), &|| false) {
            Ok(mut answer) => {
                let mut pieces = 0;
                while pieces < self.pieces_max {
                    match answer.next_chunk() {
                        Ok(Some(bytes)) if bytes.is_empty() => continue,
                        Ok(Some(bytes)) => self.said.borrow_mut().extend_from_slice(&bytes),
                        Ok(None) => break,
                        Err(error) => {
                            self.failed.replace(Some(error.to_string()));
                            break;
                        }
                    }
                    pieces += 1;
                }
            }
            Err(error) => _ = self.failed.replace(Some(error.to_string())),
        }
        drop(permit.spend());
        Output::text("{}")
    }
}

/// What a question to a server that does `act` comes to: what it said, why it failed, its record.
fn ask(
    pieces_max: usize,
    act: impl FnOnce(TcpStream) + Send + 'static,
) -> (String, Option<String>, Value) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        act(stream);
    });
    let world = Plan::new(Names::default(), &[]).open();
    asked(&world, port, pieces_max)
}

fn asked(world: &World, port: u16, pieces_max: usize) -> (String, Option<String>, Value) {
    let host = InnerHost::new("127.0.0.1", port, Vec::new()).unwrap();
    let inner = Inner::new(vec![host]).unwrap();
    let limits = Limits { wire_bytes: 1 << 30, ..Limits::default() };
    let dialer = Dialer::new(&limits).dangerously_opening(inner.clone());
    let trust = Trust::Only(vec![crate::tls::AUTHORITY.der()]);
    let client = Client::new(Arc::new(dialer), &trust, limits).unwrap();
    let target = Target::within(&format!("http://127.0.0.1:{port}/v1/messages"), &inner).unwrap();
    let rules = Rules { inner, ..Rules::default() };
    let waits = Waits {
        head: Duration::from_secs(2),
        idle: Duration::from_millis(300),
        total: Duration::from_secs(2),
    };
    let servers = ModelServers::new(client, rules, Arc::clone(&world.journal), waits).unwrap();
    let (said, failed) = (RefCell::default(), RefCell::default());
    let asks = Asks { servers, target, pieces_max, said, failed };
    let who = world.session();
    let message = json!({"action": "llm_call", "provider": "local",
        "messages": [{"role": "user", "content": "hi"}]});
    let message = message.to_string();
    world.monitor.run(&who, &Asked::Message(message.as_bytes()), &asks).unwrap();
    let events = world.events();
    assert_eq!(events.len(), 1, "one question, one record: {events:?}");
    let said = String::from_utf8_lossy(&asks.said.borrow()).into_owned();
    (said, asks.failed.take(), events[0].clone())
}

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

#[test]
fn a_server_that_falls_silent_is_left_after_a_while_and_what_came_is_counted() {
    let begun = Instant::now();
    let (said, failed, event) = ask(usize::MAX, |mut stream| {
        stream.write_all(HEAD).unwrap();
        stream.write_all(b"data: hello\n\n").unwrap();
        thread::sleep(Duration::from_secs(30));
    });
    assert_eq!(said, "data: hello\n\n");
    assert!(failed.unwrap().contains("nothing came for 300 ms"));
    assert_eq!(event["received_bytes"], 13, "{event}");
    assert_eq!(event["opened_by"], "operator", "{event}");
    assert!(begun.elapsed() < Duration::from_secs(25));
}

#[test]
fn a_server_that_drips_for_ever_is_left_when_its_time_is_over() {
    let (said, failed, _) = ask(usize::MAX, |mut stream| {
        let _ = stream.write_all(HEAD);
        while stream.write_all(b": ping\n\n").is_ok() {
            thread::sleep(Duration::from_millis(50));
        }
    });
    assert!(said.contains("ping"));
    assert!(failed.unwrap().contains("took longer than 2 s"));
}

#[test]
fn a_server_that_says_nothing_at_all_is_unreachable() {
    let (_, failed, event) = ask(usize::MAX, |_stream| thread::sleep(Duration::from_secs(30)));
    assert!(failed.unwrap().contains("no answer within"));
    assert!(event["status"].is_null(), "{event}");
}

#[test]
fn an_answer_that_nobody_reads_on_is_on_record_too() {
    let (said, failed, event) = ask(1, |mut stream| {
        let _ = stream.write_all(HEAD);
        while stream.write_all(&[b'x'; 1000]).is_ok() {}
    });
    assert!(!said.is_empty() && failed.is_none());
    assert_eq!((&event["status"], &event["tool"]), (&json!(200), &json!("llm_call")));
}

#[test]
fn a_question_that_reaches_nobody_is_on_record_too() {
    let world = Plan::new(Names::default(), &[]).open();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (_, failed, event) = asked(&world, port, usize::MAX);
    assert!(failed.is_some() && event["status"].is_null(), "{event}");
}
