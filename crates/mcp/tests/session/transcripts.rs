//! Transcripts: `corpus/mcp/*.jsonl`, one file per claim.
//!
//! The first line says `{"servers": […], "gate": {…}}`. Then, in order: `client` and `server` (or `server:NAME`) are
//! lines that come in, `to_client` and `to_server` (or `to_server:NAME`) are lines that must come out, in this order for
//! each peer; nothing else may come out. A text is compared byte for byte, an object as JSON. `"$any"` fits anything,
//! `"$keep:x"` keeps a value that `"$x"` stands for later. `unordered` are lines to the client in any order. `gone` ends a server, `wait` lets seconds pass, `gate` says that the gate `waits` or `answers`, `log` are lines
//! that the gate's record must hold in this order.

use crate::asking::{put, settle};
use crate::script::Script;
use mcp::{Frame, Outgoing, Peer, Reply, Session};
use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[test]
fn every_transcript_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/mcp");
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|it| it == "jsonl"));
    names.sort();
    assert!(names.len() >= 30, "{} transcripts", names.len());
    for path in names {
        let text = fs::read_to_string(&path).unwrap();
        Run::new(&path.file_stem().unwrap().to_string_lossy(), &text).check(&text);
    }
}

struct Run {
    name: String,
    servers: Vec<String>,
    gate: Arc<Script>,
    session: Session,
    now: Instant,
    kept: HashMap<String, Value>,
    out: HashMap<Peer, VecDeque<Vec<u8>>>,
    /// Answers of a gate that takes its time.
    late: Option<Vec<Reply>>,
}

impl Run {
    fn new(name: &str, text: &str) -> Self {
        let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let servers: Vec<String> = head["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap().to_owned())
            .collect();
        let gate = Arc::new(Script::new(head["gate"].clone()));
        let now = Instant::now();
        let names: Vec<&str> = servers.iter().map(String::as_str).collect();
        let session = match names.as_slice() {
            [only] => Session::single(gate.clone(), only, now).unwrap(),
            names => Session::aggregate(gate.clone(), names, now).unwrap(),
        };
        let (kept, out) = (HashMap::new(), HashMap::new());
        Self { name: name.to_owned(), servers, gate, session, now, kept, out, late: None }
    }

    fn check(mut self, text: &str) {
        let started = self.session.start(self.now);
        let started = settle(&mut self.session, &*self.gate, started, self.now);
        self.sort(started);
        for (number, line) in text.lines().enumerate().skip(1) {
            let at = format!("{}:{}", self.name, number + 1);
            let step: Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{at}: {error}"));
            let (key, value) = step.as_object().unwrap().iter().next().unwrap();
            let (verb, server) = key.split_once(':').unwrap_or((key, ""));
            let server = self.servers.iter().position(|it| it == server).unwrap_or(0);
            self.step(&at, verb, server, value);
        }
        for (peer, lines) in &self.out {
            let lines: Vec<_> = lines.iter().map(|it| String::from_utf8_lossy(it)).collect();
            assert!(lines.is_empty(), "{}: {peer:?} was sent more: {lines:#?}", self.name);
        }
        self.session.close();
        assert_eq!(self.gate.outstanding(), 0, "{}: tickets did not come back", self.name);
    }

    fn step(&mut self, at: &str, verb: &str, server: usize, value: &Value) {
        let out = match verb {
            "client" => self.session.take_client(&self.frame(value), self.now),
            "server" => self.session.take_server(server, &self.frame(value), self.now),
            "gone" => self.session.server_gone(server, value.as_str().unwrap(), self.now),
            "wait" => {
                self.now += Duration::from_secs(value.as_u64().unwrap());
                self.session.tick(self.now)
            }
            "to_client" => return self.expect(at, Peer::Client, value),
            "to_server" => return self.expect(at, Peer::Server(server), value),
            "unordered" => return self.expect_all(at, value),
            "log" => return self.expect_log(at, value),
            "about" => return,
            "gate" => self.gate(at, value),
            _ => panic!("{at}: no step is called {verb}"),
        };
        let out = match &mut self.late {
            Some(late) => {
                late.extend(put(&mut self.session, &*self.gate));
                out
            }
            None => settle(&mut self.session, &*self.gate, out, self.now),
        };
        self.sort(out);
    }

    /// Makes the gate take its time, or give the answers that it owes.
    fn gate(&mut self, at: &str, value: &Value) -> Vec<Outgoing> {
        match value.as_str() {
            Some("waits") => {
                self.late.get_or_insert_default();
                Vec::new()
            }
            Some("answers") => {
                let late = self.late.take().unwrap_or_default();
                late.into_iter().flat_map(|it| self.session.take_reply(it, self.now)).collect()
            }
            _ => panic!("{at}: the gate `waits` or `answers`"),
        }
    }

    fn sort(&mut self, out: Vec<Outgoing>) {
        for Outgoing { to, line } in out {
            assert!(!line.contains(&b'\n'), "{}: a message has one line", self.name);
            self.out.entry(to).or_default().push_back(line);
        }
    }

    fn frame(&self, value: &Value) -> Frame {
        if let Some(text) = value.as_str() {
            return Frame::Line(text.as_bytes().to_vec());
        }
        Frame::Line(self.filled(value).to_string().into_bytes())
    }

    /// Puts kept values in.
    fn filled(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => match text.strip_prefix('$').and_then(|it| self.kept.get(it)) {
                Some(kept) => kept.clone(),
                None => value.clone(),
            },
            Value::Array(items) => items.iter().map(|it| self.filled(it)).collect(),
            Value::Object(object) => {
                object.iter().map(|(key, it)| (key.clone(), self.filled(it))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn expect(&mut self, at: &str, peer: Peer, expected: &Value) {
        let line = self.out.entry(peer).or_default().pop_front();
        let line = line.unwrap_or_else(|| panic!("{at}: {peer:?} was sent nothing"));
        let line = String::from_utf8(line).unwrap();
        if let Some(text) = expected.as_str() {
            return assert_eq!(line, text, "{at}");
        }
        let found: Value = serde_json::from_str(&line).unwrap();
        assert!(self.fits(expected, &found), "{at}:\nexpected {expected}\nfound    {line}");
    }

    /// Lines to the client whose order among themselves does not matter.
    fn expect_all(&mut self, at: &str, expected: &Value) {
        let mut expected = expected.as_array().unwrap().clone();
        while !expected.is_empty() {
            let line = self.out.entry(Peer::Client).or_default().pop_front();
            let line = line.unwrap_or_else(|| panic!("{at}: not sent: {expected:?}"));
            let found: Value = serde_json::from_slice(&line).unwrap();
            let place = expected.iter().position(|it| self.fits(it, &found));
            expected.remove(place.unwrap_or_else(|| panic!("{at}: not expected: {found}")));
        }
    }

    fn fits(&mut self, expected: &Value, found: &Value) -> bool {
        if let Some(text) = expected.as_str() {
            if let Some(name) = text.strip_prefix("$keep:") {
                self.kept.insert(name.to_owned(), found.clone());
                return true;
            }
            return text == "$any" || self.filled(expected) == *found;
        }
        match (expected, found) {
            (Value::Array(expected), Value::Array(found)) => {
                expected.len() == found.len()
                    && expected
                        .iter()
                        .zip(found)
                        .all(|(expected, found)| self.fits(expected, found))
            }
            (Value::Object(expected), Value::Object(found)) => {
                expected.len() == found.len()
                    && expected.iter().all(|(key, expected)| {
                        found.get(key).is_some_and(|found| self.fits(expected, found))
                    })
            }
            (expected, found) => expected == found,
        }
    }

    fn expect_log(&self, at: &str, expected: &Value) {
        let log = self.gate.log();
        let mut rest = log.iter();
        for line in expected.as_array().unwrap() {
            let line = line.as_str().unwrap();
            let is_there = rest.any(|it| it.starts_with(line));
            assert!(is_there, "{at}: no `{line}` at its place in {log:#?}");
        }
    }
}
