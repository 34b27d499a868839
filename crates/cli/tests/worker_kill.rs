//! SIGKILL of a real worker at each of its questions, before it is answered: the turn ends, the session goes on, nothing that
//! was asked is uncounted.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::agents::workers;
use crate::delegation::model;
use crate::program::lazaret;
use crate::serve::{Served, home, put};

/// Questions of one turn: the last one is answered in words.
const QUESTIONS: usize = 4;

/// Kills the worker of the server `of` at the question of this number.
#[derive(Default)]
struct Hand {
    of: AtomicU32,
    at: Mutex<Option<usize>>,
    asked: AtomicUsize,
    step: AtomicUsize,
}

impl Hand {
    fn asked(&self, last: &str) -> Value {
        self.asked.fetch_add(1, Ordering::AcqRel);
        if last.contains("begin") {
            self.step.store(0, Ordering::Release);
        }
        let step = self.step.fetch_add(1, Ordering::AcqRel);
        let mut at = self.at.lock().unwrap();
        if *at == Some(step) {
            *at = None;
            for worker in workers(self.of.load(Ordering::Acquire)) {
                let pid = Pid::from_raw(i32::try_from(worker).unwrap()).unwrap();
                // The one that made it may have gone with it.
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        match step + 1 {
            QUESTIONS => json!("done"),
            _ => json!({ "name": "memory_list", "input": { "scope": format!("s{step}") } }),
        }
    }
}

#[test]
fn a_worker_that_is_killed_at_any_question_ends_its_turn_alone() {
    let hand = Arc::new(Hand::default());
    let asked = Arc::clone(&hand);
    let port = model(move |last| asked.asked(last));
    let dir = home(&json!({}), "");
    let settings = format!(
        "providers: {{llm: local}}\nmodels: {{default: local/m, local: {{url: \"http://127.0.0.1:{port}\"}}}}\n"
    );
    put(dir.path(), "config.yaml", &settings);
    let served = Served::start(dir.path());
    hand.of.store(served.id(), Ordering::Release);
    let ann = served.token("ann");
    let made = served.request("POST", "/api/sessions", Some(&ann), "{\"agent\":\"main\"}");
    let made: Value = serde_json::from_str(&made.body).unwrap();
    let session = made["id"].as_str().unwrap();
    let say = || served.chat(&ann, &json!([{ "role": "user", "content": "begin" }]), Some(session));
    for at in 0..QUESTIONS {
        *hand.at.lock().unwrap() = Some(at);
        let broken = say();
        assert_eq!(broken.status, 502, "{at}: {}", broken.body);
        assert!(broken.body.contains("worker_error"), "{}", broken.body);
        let answer = say();
        assert!(answer.status == 200 && answer.body.contains("\"done\""), "{at}: {}", answer.body);
    }
    let usage = served.request("GET", "/api/usage", Some(&ann), "");
    let usage: Value = serde_json::from_str(&usage.body).unwrap();
    // Nothing was said of what a question costs, so each counts by our own estimate.
    let counted = usage.pointer("/monthly/tokens").unwrap().as_u64().unwrap();
    let questions = u64::try_from(hand.asked.load(Ordering::Acquire)).unwrap();
    assert!(questions >= 20 && counted > questions, "{counted} for {questions} questions");
    assert_eq!(served.end(), 0);
    assert_eq!(lazaret(dir.path(), &["evidence", "verify"]).run().code, 0);
}
