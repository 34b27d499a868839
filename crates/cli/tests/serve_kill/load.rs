//! What users do until the server is dead, and what they were promised.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Message, WebSocket};

use crate::serve::PATIENCE;

pub(super) struct User {
    pub(super) name: String,
    pub(super) token: String,
}

/// What all users have in common until one kill.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    pub(super) address: &'a str,
    pub(super) number: u64,
    /// A page to look at.
    pub(super) page: &'a str,
    /// Is the server dead?
    pub(super) is_over: &'a AtomicBool,
    /// What it has acknowledged until now.
    pub(super) acknowledged: &'a AtomicU64,
}

impl Round<'_> {
    fn note(&self, promises: &mut Vec<Promise>, promise: Promise) {
        promises.push(promise);
        self.acknowledged.fetch_add(1, Ordering::AcqRel);
    }
}

/// What the server has acknowledged.
#[derive(Debug)]
pub(super) enum Promise {
    /// A session.
    Made { user: String, session: String },
    /// The end of one.
    Gone { user: String, session: String },
    /// An answer.
    Said { user: String, session: String, what: String },
    /// The agent of this session has read a page.
    Tainted { session: String },
}

/// What comes back, if it comes back whole.
pub(super) fn ask(
    address: &str,
    method: &str,
    path: &str,
    token: &str,
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|it| {
        let (name, value) = it.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    (length.unwrap_or(0) == body.len()).then(|| (status, body.to_owned()))
}

/// Makes sessions, says something in them, and deletes some, until the server is dead.
pub(super) fn over_http(round: Round<'_>, user: &User) -> Vec<Promise> {
    let mut promises = Vec::new();
    let _dead = http(round, user, &mut promises);
    promises
}

fn http(round: Round<'_>, user: &User, promises: &mut Vec<Promise>) -> Option<()> {
    let call =
        |method: &str, path: &str, body: &str| ask(round.address, method, path, &user.token, body);
    for number in 0.. {
        if round.is_over.load(Ordering::Acquire) {
            return None;
        }
        let (status, made) = call("POST", "/api/sessions", "{\"agent\":\"main\"}")?;
        assert_eq!(status, 201, "{made}");
        let made: Value = serde_json::from_str(&made).ok()?;
        let (name, session) = (user.name.clone(), made["id"].as_str()?.to_owned());
        let what = format!("{}#{}", user.name, (round.number * 1000 + number) * 2 + 1);
        let word = if number % 2 == 0 { "keep" } else { "say" };
        let messages = json!([{ "role": "user", "content": format!("{word} {what}") }]);
        let body = json!({ "model": "main", "messages": messages, "session_id": session });
        let answer = call("POST", "/v1/chat/completions", &body.to_string());
        let answered = answer.as_ref().is_some_and(|it| it.0 == 200);
        if !answered {
            // Only an end keeps it from an answer.
            assert!(answer.is_none_or(|it| it.0 >= 500), "{what}");
            promises.push(Promise::Made { user: name, session });
            return None;
        }
        if number % 3 == 2 {
            // Asked, it may be gone; acknowledged, it is.
            let (status, why) = call("DELETE", &format!("/api/sessions/{session}"), "")?;
            assert_eq!(status, 204, "{why}");
            round.note(promises, Promise::Gone { user: name, session });
        } else {
            round.note(promises, Promise::Said { user: name, session, what });
        }
    }
    None
}

/// Talks on a socket until the server is dead. Gives the session as well, if there was one.
pub(super) fn on_a_socket(
    round: Round<'_>,
    user: &User,
    session: Option<String>,
) -> (Vec<Promise>, Option<String>) {
    let (mut promises, mut session) = (Vec::new(), session);
    let _dead = socket(round, user, &mut session, &mut promises);
    (promises, session)
}

fn socket(
    round: Round<'_>,
    user: &User,
    session: &mut Option<String>,
    promises: &mut Vec<Promise>,
) -> Option<()> {
    let Round { address, page, .. } = round;
    let mut request = format!("ws://{address}/ws").into_client_request().unwrap();
    let bearer = format!("Bearer {}", user.token).parse().unwrap();
    request.headers_mut().insert("Authorization", bearer);
    let stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut socket, _) = tungstenite::client(request, stream).ok()?;
    let mut subscribe = json!({ "type": "subscribe", "agentId": "main" });
    if let Some(session) = &session {
        subscribe["sessionId"] = session.as_str().into();
    }
    say(&mut socket, &subscribe)?;
    let subscribed = until(&mut socket, "subscribed", |_| {})?;
    let id = subscribed["sessionId"].as_str()?.to_owned();
    *session = Some(id.clone());
    promises.push(Promise::Made { user: user.name.clone(), session: id.clone() });
    for number in 0.. {
        if round.is_over.load(Ordering::Acquire) {
            return None;
        }
        let what = format!("{}#{}", user.name, (round.number * 1000 + number) * 2);
        let content =
            if number % 2 == 0 { format!("look at {page} {what}") } else { format!("say {what}") };
        say(&mut socket, &json!({ "type": "message", "content": content }))?;
        until(&mut socket, "result", |frame| match frame["type"].as_str().unwrap_or_default() {
            "tool_result" if frame["content"].to_string().contains("library") => {
                round.note(promises, Promise::Tainted { session: id.clone() });
            }
            "assistant_message" => {
                assert_eq!(frame["content"], format!("did {what}"));
                let (user, session, what) = (user.name.clone(), id.clone(), what.clone());
                round.note(promises, Promise::Said { user, session, what });
            }
            _ => {}
        })?;
    }
    None
}

fn say(socket: &mut WebSocket<TcpStream>, message: &Value) -> Option<()> {
    socket.send(Message::text(message.to_string())).ok()
}

/// Hears frames until one of this type. None if the server is dead.
fn until(
    socket: &mut WebSocket<TcpStream>,
    wanted: &str,
    mut hear: impl FnMut(&Value),
) -> Option<Value> {
    loop {
        let Message::Text(text) = socket.read().ok()? else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap();
        let kind = frame["type"].as_str().unwrap();
        assert!(kind != "error" && kind != "tool_approval", "{frame}");
        hear(&frame);
        if kind == wanted {
            return Some(frame);
        }
    }
}

/// Is this process a worker?
pub(super) fn is_worker(pid: u32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&words).contains("__worker")
}
