//! Limits hold, and whoever runs into one is told.

use crate::asking::settle;
use crate::script::Script;
use mcp::limits::{
    MESSAGE_BYTES_MAX, NOTICE_BYTES_CALL_MAX, NOTICE_BYTES_MAX, NOTICE_BYTES_PERIOD_MAX,
    NOTIFICATIONS_MAX, OPEN_REQUESTS_MAX, SERVER_REQUESTS_MAX, TOOLS_MAX, WAITING_MAX,
};
use mcp::{Frame, Outgoing, Peer, Session, SessionError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) struct Bench {
    pub(crate) gate: Arc<Script>,
    pub(crate) session: Session,
    pub(crate) now: Instant,
}

impl Bench {
    /// A legacy session that is ready.
    pub(crate) fn ready(rules: Value) -> Self {
        let gate = Arc::new(Script::new(rules));
        let now = Instant::now();
        let session = Session::single(gate.clone(), "files", now).unwrap();
        let mut bench = Self { gate, session, now };
        bench.session.start(now);
        bench.client(&json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": {"name": "p", "version": "1"}}}));
        bench.server(
            &json!({"jsonrpc": "2.0", "id": "i", "result": {"protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}}),
        );
        bench
    }

    /// The same, with one tool called `echo`.
    pub(crate) fn listed(rules: Value) -> Self {
        let mut bench = Self::ready(rules);
        bench.client(&request("l", "tools/list"));
        let tools = json!([{"name": "echo", "inputSchema": {"type": "object"}}]);
        bench.server(&json!({"jsonrpc": "2.0", "id": "l", "result": {"tools": tools}}));
        bench
    }

    pub(crate) fn client(&mut self, message: &Value) -> Vec<Outgoing> {
        let frame = Frame::Line(message.to_string().into_bytes());
        let out = self.session.take_client(&frame, self.now);
        settle(&mut self.session, &*self.gate, out, self.now)
    }

    pub(crate) fn server(&mut self, message: &Value) -> Vec<Outgoing> {
        let frame = Frame::Line(message.to_string().into_bytes());
        let out = self.session.take_server(0, &frame, self.now);
        settle(&mut self.session, &*self.gate, out, self.now)
    }
}

pub(crate) fn request(id: &str, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}})
}

pub(crate) fn call(id: usize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "echo", "arguments": {}}})
}

pub(crate) fn to_client(out: &[Outgoing]) -> Vec<Value> {
    let lines = out.iter().filter(|it| it.to == Peer::Client);
    lines.map(|it| serde_json::from_slice(&it.line).unwrap()).collect()
}

#[test]
fn open_requests_are_bounded_and_room_comes_back() {
    let mut bench = Bench::listed(json!({}));
    for id in 0..OPEN_REQUESTS_MAX {
        assert_eq!(bench.client(&call(id))[0].to, Peer::Server(0));
    }
    let out = to_client(&bench.client(&call(5000)));
    assert_eq!((out[0]["id"].clone(), out[0]["error"]["code"].clone()), (json!(5000), json!(4032)));
    bench.server(&json!({"jsonrpc": "2.0", "id": 7, "result": {"content": []}}));
    assert_eq!(bench.client(&call(5001))[0].to, Peer::Server(0));
    bench.session.close();
    assert_eq!(bench.gate.outstanding(), 0);
    assert_eq!(bench.gate.begun(), OPEN_REQUESTS_MAX + 1);
}

#[test]
fn requests_that_wait_are_bounded() {
    let mut bench = Bench::ready(json!({}));
    for id in 0..WAITING_MAX {
        assert_eq!(to_client(&bench.client(&call(id))), [] as [Value; 0]);
    }
    let out = to_client(&bench.client(&call(900)));
    assert_eq!(out[0]["error"]["code"], 4032);
}

#[test]
fn requests_of_a_server_are_bounded() {
    let mut bench = Bench::listed(json!({}));
    for id in 0..SERVER_REQUESTS_MAX {
        let out = bench.server(&json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"}));
        assert_eq!(out[0].to, Peer::Client);
    }
    let out = bench.server(&json!({"jsonrpc": "2.0", "id": "x", "method": "roots/list"}));
    assert_eq!(out[0].to, Peer::Server(0));
}

#[test]
fn a_flood_of_notifications_is_cut_and_calls_go_on() {
    let mut bench = Bench::listed(json!({"lifecycle": true}));
    let note =
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x"}});
    let mut passed = 0;
    for _ in 0..10 * NOTIFICATIONS_MAX {
        passed += bench.server(&note).len();
    }
    assert_eq!(passed, usize::try_from(NOTIFICATIONS_MAX).unwrap());
    let floods = bench.gate.log().iter().filter(|it| it.contains("flood")).count();
    assert_eq!(floods, 1);
    bench.client(&call(1));
    let out = bench.server(&json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}));
    assert_eq!(out.len(), 1);
    // A change of the tools counts even within a flood.
    bench.server(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
    let out = bench.client(&call(2));
    assert!(String::from_utf8_lossy(&out[0].line).contains("tools/list"));
    bench.now += Duration::from_secs(2);
    assert_eq!(bench.server(&note).len(), 1);
    let huge = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "x".repeat(300_000)}});
    assert_eq!(bench.server(&huge).len(), 0);
}

#[test]
fn texts_beside_results_are_judged_up_to_so_many_bytes() {
    let mut bench = Bench::listed(json!({"lifecycle": true}));
    bench.client(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "echo", "arguments": {}, "_meta": {"progressToken": "p1"}}}));
    let mut tell = |text: &str, later: Duration| {
        bench.now += later;
        let before = bench.gate.begun();
        let out = to_client(&bench.server(&json!({"jsonrpc": "2.0", "method": "notifications/progress",
            "params": {"progressToken": "p1", "progress": 1, "message": text, "_meta": {"numbers": [1, 2]}}})));
        let params = &out[0]["params"];
        assert_eq!((&params["progress"], &params["_meta"]["numbers"]), (&json!(1), &json!([1, 2])));
        let is_judged = bench.gate.begun() > before;
        assert_eq!(params["message"] == *text, is_judged);
        assert!(is_judged || params["message"] == "[text left out]", "{params}");
        is_judged
    };
    let (now, later) = (Duration::ZERO, Duration::from_secs(2));
    assert!(tell("It reads a page of the notes.", now));
    assert!(!tell(&"word ".repeat(NOTICE_BYTES_MAX / 5), now), "one text");
    let page = "word ".repeat(NOTICE_BYTES_MAX / 6);
    let in_a_second = (0..10).filter(|_| tell(&page, now)).count();
    let fitting = |bytes: usize| bytes / page.len();
    assert_eq!(in_a_second, fitting(usize::try_from(NOTICE_BYTES_PERIOD_MAX).unwrap()));
    let of_a_call = (0..100).filter(|_| tell(&page, later)).count();
    assert_eq!(in_a_second + of_a_call, fitting(NOTICE_BYTES_CALL_MAX));
    let told = bench.gate.log().iter().filter(|it| it.contains("texts_left_out")).count();
    assert_eq!(told, 1);
}

#[test]
fn a_huge_message_ends_only_its_own_request() {
    let mut bench = Bench::listed(json!({}));
    bench.client(&call(1));
    bench.client(&call(2));
    let id = mcp::message::Id::Number(1);
    let out = bench.session.take_server(0, &Frame::TooLong(Some(id)), bench.now);
    let out = to_client(&out);
    assert_eq!(out[0]["id"], 1);
    assert_eq!(out[0]["result"]["isError"], true);
    let out = bench.server(&json!({"jsonrpc": "2.0", "id": 2, "result": {"content": []}}));
    assert_eq!(to_client(&out)[0]["id"], 2);
    let out = bench.session.take_client(&Frame::TooLong(None), bench.now);
    assert_eq!(to_client(&out)[0]["error"]["code"], -32600);
    let line = Frame::Line(vec![b' '; MESSAGE_BYTES_MAX + 1]);
    assert_eq!(to_client(&bench.session.take_client(&line, bench.now)).len(), 1);
}

#[test]
fn tools_are_bounded() {
    let mut bench = Bench::ready(json!({}));
    let tools: Vec<Value> = (0..TOOLS_MAX + 5)
        .map(|it| json!({"name": format!("t{it}"), "inputSchema": {"type": "object"}}))
        .collect();
    bench.client(&request("l", "tools/list"));
    let out =
        to_client(&bench.server(&json!({"jsonrpc": "2.0", "id": "l", "result": {"tools": tools}})));
    assert_eq!(out[0]["result"]["tools"].as_array().unwrap().len(), TOOLS_MAX);
}

#[test]
fn sessions_need_good_names() {
    let make = |names: &[&str]| {
        let gate = Arc::new(Script::new(json!({})));
        Session::aggregate(gate, names, Instant::now()).err()
    };
    assert_eq!(make(&["a", "b"]), None);
    assert_eq!(make(&["a", "a"]), Some(SessionError::Twice("a".to_owned())));
    assert_eq!(make(&[]), Some(SessionError::Count(0)));
    assert!(matches!(make(&["a__b"]), Some(SessionError::Name(_))));
}
