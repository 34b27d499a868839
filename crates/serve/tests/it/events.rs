//! What is said in a session, as events: who hears it, from where on, and until when.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{ANN, BOB, World, users, write};

/// A stream of events, as a browser reads it.
struct Events(BufReader<TcpStream>);

impl World {
    /// The stream, or the status by which it is refused.
    fn events(&self, path: &str, head: &[(&str, &str)]) -> Result<Events, u16> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let more: String =
            head.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", self.address).unwrap();
        let mut events = Events(BufReader::new(stream));
        let status = events.line().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        if status != 200 {
            return Err(status);
        }
        while !events.line().unwrap().is_empty() {}
        Ok(events)
    }
}

impl Events {
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        (self.0.read_line(&mut line).unwrap() > 0).then(|| line.trim_end().to_owned())
    }

    /// The next frame of this type, and the number of its event; none if it ends before.
    fn until(&mut self, wanted: &str) -> Option<(Option<u64>, Value)> {
        let mut id = None;
        loop {
            let line = self.line()?;
            if let Some(number) = line.strip_prefix("id: ") {
                id = number.parse().ok();
            }
            if let Some(data) = line.strip_prefix("data: ") {
                let frame: Value = serde_json::from_str(data).unwrap();
                if frame["type"] == wanted {
                    return Some((id, frame));
                }
                id = None;
            }
        }
    }
}

#[test]
fn events_are_the_frames_of_ones_own_session() {
    let world = World::wide();
    let (mut client, session) = world.subscribed(ANN, "main");
    let path = format!("/api/sessions/{session}/events");
    let bearer = |token: &str| format!("Bearer {token}");
    let with = |token: &str| world.events(&path, &[("Authorization", &bearer(token))]);
    assert_eq!(world.events(&path, &[]).err(), Some(401));
    assert_eq!(with("wrong").err(), Some(401));
    assert_eq!(with(BOB).err(), Some(404));
    assert_eq!(
        world.events("/api/sessions/x/events", &[("Authorization", &bearer(ANN))]).err(),
        Some(404)
    );
    assert_eq!(world.events(&format!("{path}?token={ANN}"), &[]).err(), Some(400));
    let evil = [("Authorization", bearer(ANN)), ("Origin", "https://evil.example".to_owned())];
    let evil = evil.each_ref().map(|(name, value)| (*name, value.as_str()));
    assert_eq!(world.events(&path, &evil).err(), Some(403));

    let mut events = with(ANN).unwrap();
    client.message("hello");
    let (id, said) = events.until("assistant_message").unwrap();
    assert_eq!(said["content"], "you said: hello");
    assert_eq!(id, said["id"].as_u64());
    let (result, _) = events.until("result").unwrap();
    let (idle, _) = events.until("status").unwrap();
    assert!(id < result && result < idle);
    // Whoever comes back says what it heard last.
    let before = (id.unwrap() - 1).to_string();
    let bearer_of_ann = bearer(ANN);
    let head = [("Authorization", bearer_of_ann.as_str()), ("Last-Event-ID", before.as_str())];
    let mut again = world.events(&path, &head).unwrap();
    assert_eq!(again.until("assistant_message").unwrap().1, said);
    // Whoever heard all of it hears only what is new, also of what has no number of its own.
    let last = idle.unwrap().to_string();
    let head = [("Authorization", bearer_of_ann.as_str()), ("Last-Event-ID", last.as_str())];
    let mut again = world.events(&path, &head).unwrap();
    client.message("more");
    let (next, first) = again.until("status").unwrap();
    assert_eq!((next, &first["status"]), (idle.map(|it| it + 1), &"thinking".into()));
    events.until("result").unwrap();
    let head = [("Authorization", bearer_of_ann.as_str()), ("Last-Event-ID", "x")];
    assert_eq!(world.events(&path, &head).err(), Some(400));

    // A page shows a ticket, which opens one stream.
    let ticket = world.post("/api/tickets", Some(ANN), "").json()["ticket"].clone();
    let shown = format!("{path}?ticket={}", ticket.as_str().unwrap());
    let mut page = world.events(&shown, &[]).unwrap();
    assert_eq!(world.events(&shown, &[]).err(), Some(401));
    let ticket = world.post("/api/tickets", Some(BOB), "").json()["ticket"].clone();
    assert_eq!(
        world.events(&format!("{path}?ticket={}", ticket.as_str().unwrap()), &[]).err(),
        Some(404)
    );

    // Who is nobody any more hears nothing more.
    let fewer =
        users("unlimited").replace(&crate::world::hash(ANN), &crate::world::hash("another"));
    write(&world.home().join("users.yaml"), &fewer);
    assert!(page.until("assistant_message").is_none());
    assert!(events.until("assistant_message").is_none());
}

#[test]
fn a_ticket_of_yesterdays_token_opens_nothing() {
    let world = World::wide();
    let ticket = world.post("/api/tickets", Some(ANN), "").json()["ticket"].clone();
    let (_client, session) = world.subscribed(ANN, "main");
    let fewer =
        users("unlimited").replace(&crate::world::hash(ANN), &crate::world::hash("another"));
    write(&world.home().join("users.yaml"), &fewer);
    world.handle.reload().unwrap();
    let shown = format!("ticket={}", ticket.as_str().unwrap());
    let path = format!("/api/sessions/{session}/events?{shown}");
    assert_eq!(world.events(&path, &[]).err(), Some(401));
    let answer = world.post("/api/tickets", Some("another"), "");
    let path = format!("/ws?ticket={}", answer.json()["ticket"].as_str().unwrap());
    world.socket_with(&path, &[]).unwrap().until("connected");
}

#[test]
fn streams_count_as_sockets() {
    let world = World::new().agree();
    let made = world.post("/api/sessions", Some(ANN), "{\"agent\":\"main\"}").json();
    let path = format!("/api/sessions/{}/events", made["id"].as_str().unwrap());
    let bearer = format!("Bearer {ANN}");
    let open = || world.events(&path, &[("Authorization", &bearer)]);
    let streams: Vec<_> = (0..5).map(|_| open().unwrap()).collect();
    assert_eq!(open().err(), Some(429));
    assert_eq!(world.socket(ANN).closed(), 4008);
    drop(streams);
    let until = Instant::now() + Duration::from_secs(20);
    while open().is_err() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Instant::now() < until, "a stream that was closed keeps its place");
}
