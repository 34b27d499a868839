//! The exchange before a daemon that does as it is told.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};

use host::doors::hello::Hello;
use host::doors::socket_path;
use host::ipc::{Ends, Limits, Stop, read, write};
use serde_json::json;

use super::*;

/// What the daemon says to a question on its so-manieth connection; nothing, and it hangs up.
type Script = fn(usize, &Value) -> Option<Value>;

/// Serves the doors of `home`; returns the words of each connection for MCP.
fn daemon(home: &Path, script: Script) -> Receiver<Vec<String>> {
    let listener = UnixListener::bind(socket_path(home)).unwrap();
    let (sender, hellos) = channel();
    thread::spawn(move || serve(&listener, &sender, script));
    hellos
}

fn serve(listener: &UnixListener, hellos: &Sender<Vec<String>>, script: Script) {
    let mut connection = 0;
    for stream in listener.incoming() {
        let stream = stream.unwrap();
        let Ok(hello) = Hello::read(&stream) else { continue };
        if hello.words == ["status"] {
            let (_stopper, stop) = Stop::pair().unwrap();
            write(&mut Ends::new(&stream, &stream, stop), b"{}", &limits()).unwrap();
            continue;
        }
        if hellos.send(hello.words).is_err() {
            return;
        }
        connection += 1;
        thread::spawn(move || answer(&stream, connection, script));
    }
}

fn answer(stream: &UnixStream, connection: usize, script: Script) {
    let (_stopper, stop) = Stop::pair().unwrap();
    let mut wire = Ends::new(stream, stream, stop);
    while let Ok(Some(asked)) = read(&mut wire, &limits()) {
        let asked: Value = serde_json::from_slice(&asked).unwrap();
        let Some(answer) = script(connection, &asked) else { return };
        if write(&mut wire, answer.to_string().as_bytes(), &limits()).is_err() {
            return;
        }
    }
}

fn limits() -> Limits {
    let long = Duration::from_secs(60);
    Limits { idle: long, frame: long, answer: long, bytes_max: DOOR_BYTES_MAX }
}

fn lost(ticket: &str) -> Request {
    Request::Lost { ticket: ticket.to_owned() }
}

/// Says the ticket of a question, and its number as the daemon does.
fn echo(asked: &Value) -> Value {
    json!({ "ticket": asked.get("ticket"), "number": asked.get("number") })
}

#[test]
fn a_question_that_is_too_long_ends_no_connection() {
    let dir = tempfile::tempdir().unwrap();
    let hellos = daemon(dir.path(), |_, asked| Some(echo(asked)));
    let exchange = Exchange::start(dir.path().to_owned()).unwrap();
    assert_eq!(exchange.ask(&lost("1")).unwrap()["ticket"], "1");
    let refused = exchange.ask(&lost(&"x".repeat(DOOR_BYTES_MAX))).unwrap_err();
    assert!(refused.0.contains("bytes"), "{refused}");
    assert_eq!(exchange.ask(&lost("2")).unwrap()["ticket"], "2");
    assert_eq!(hellos.try_iter().count(), 1, "it is the same connection");
}

#[test]
fn a_connection_that_breaks_is_followed_by_one_of_the_same_session() {
    let dir = tempfile::tempdir().unwrap();
    // The first connection answers one question.
    let hellos = daemon(dir.path(), |connection, asked| {
        (connection > 1 || asked.get("ticket") == Some(&json!("1"))).then(|| echo(asked))
    });
    let exchange = Exchange::start(dir.path().to_owned()).unwrap();
    assert_eq!(exchange.ask(&lost("1")).unwrap()["ticket"], "1");
    assert_eq!(exchange.ask(&lost("2")).unwrap()["ticket"], "2", "it is asked again");
    let hellos: Vec<Vec<String>> = hellos.try_iter().collect();
    let name = hellos[0][1].clone();
    assert_eq!(hellos[0], ["mcp".to_owned(), name.clone()]);
    assert_eq!(hellos[1..], [["mcp".to_owned(), name, "again".to_owned()]]);
}

#[test]
fn an_answer_is_taken_for_no_other_question_s() {
    let dir = tempfile::tempdir().unwrap();
    // The first connection has missed an answer: it says that of the question before.
    let hellos = daemon(dir.path(), |connection, asked| {
        let mut said = echo(asked);
        if connection == 1 && asked.get("ticket") == Some(&json!("2")) {
            said = json!({ "ticket": "1", "number": 1 });
        }
        Some(said)
    });
    let exchange = Exchange::start(dir.path().to_owned()).unwrap();
    for ticket in ["1", "2", "3"] {
        assert_eq!(exchange.ask(&lost(ticket)).unwrap(), json!({ "ticket": ticket }));
    }
    assert_eq!(hellos.try_iter().count(), 2);
}

#[test]
fn a_daemon_that_takes_nobody_in_is_quoted() {
    let dir = tempfile::tempdir().unwrap();
    let _hellos = daemon(dir.path(), |_, _| Some(json!({ "ok": false, "error": "it is full" })));
    let exchange = Exchange::start(dir.path().to_owned()).unwrap();
    assert_eq!(exchange.ask(&lost("1")).unwrap_err().0, "it is full");
}

/// A question that waits, of so many bytes.
fn waiting(bytes: usize) -> Waiting {
    let (question, then) = (vec![b'x'; bytes], Box::new(drop));
    Waiting { question, number: 0, since: Instant::now(), is_repeated: false, then }
}

#[test]
fn no_more_questions_wait_than_there_is_room_for() {
    let mut state = State::default();
    for _ in 0..2 {
        assert!(state.check_room(DOOR_BYTES_MAX).is_ok());
        state.waiting.push_back(waiting(DOOR_BYTES_MAX));
    }
    assert!(state.check_room(1).is_err());
    let mut state = State::default();
    for _ in 0..WAITING_MAX {
        assert!(state.check_room(1).is_ok());
        state.waiting.push_back(waiting(1));
    }
    let refused = state.check_room(1).unwrap_err();
    assert!(refused.0.contains("too many"), "{refused}");
}
