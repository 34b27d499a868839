//! Puts the questions of a session to its gate, at once or late.

use mcp::{Gate, Outgoing, Reply, Session};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Puts what the session wants to know, and returns the answers.
pub(crate) fn put(session: &mut Session, gate: &dyn Gate) -> Vec<Reply> {
    let replies = Arc::new(Mutex::new(Vec::new()));
    for question in session.take_questions() {
        let replies = Arc::clone(&replies);
        question.put(gate, move |reply| replies.lock().unwrap().push(reply));
    }
    let mut replies = replies.lock().unwrap();
    std::mem::take(&mut *replies)
}

/// Puts questions and brings the answers back until there are none.
pub(crate) fn settle(
    session: &mut Session,
    gate: &dyn Gate,
    mut out: Vec<Outgoing>,
    now: Instant,
) -> Vec<Outgoing> {
    loop {
        let replies = put(session, gate);
        if replies.is_empty() {
            return out;
        }
        for reply in replies {
            out.extend(session.take_reply(reply, now));
        }
    }
}
