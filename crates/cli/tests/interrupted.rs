//! Whoever interrupts a turn does not wait for the model: neither for one that says nothing, nor for one that says little.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::io::{BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::model::head;
use testkit::program::Run as _;

use crate::program::lazaret;

/// What a turn may take after it was interrupted: less than anything waits for what does not come.
const ENDS_WITHIN: Duration = Duration::from_secs(4);

/// A model server that tells when it was asked, and then says a letter now and then, or nothing at all.
fn model(drips: bool) -> (u16, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (says, hears) = mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let says = says.clone();
            thread::spawn(move || {
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let length = head(&mut reader).unwrap();
                reader.take(length).read_to_end(&mut Vec::new()).unwrap();
                let (mut stream, begun) = (stream, Instant::now());
                if drips {
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
                    stream.write_all(head.as_bytes()).unwrap();
                }
                let _ = says.send(());
                let letter = json!({"choices": [{"delta": {"content": "w "}}]});
                while begun.elapsed() < 10 * ENDS_WITHIN {
                    thread::sleep(Duration::from_millis(100));
                    if drips && write!(stream, "data: {letter}\n\n").is_err() {
                        break;
                    }
                }
            });
        }
    });
    (port, hears)
}

#[test]
fn a_turn_ends_soon_whatever_the_model_does() {
    for drips in [false, true] {
        let (port, asked) = model(drips);
        let home = tempfile::tempdir().unwrap();
        let settings = format!(
            "providers: {{llm: local}}\nmodels: {{default: local/m, local: {{url: \"http://127.0.0.1:{port}\"}}}}\n"
        );
        #[expect(clippy::disallowed_methods, reason = "files of a test need not be atomic")]
        fs::write(home.path().join("config.yaml"), settings).unwrap();
        let mut command = lazaret(home.path(), &["run", "main", "hello", "--json"]);
        let child = command.start();
        asked.recv_timeout(Duration::from_secs(60)).unwrap();
        thread::sleep(Duration::from_millis(300));
        let interrupted = Instant::now();
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(interrupted.elapsed() < ENDS_WITHIN, "{drips}: {:?}", interrupted.elapsed());
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &told["interrupted"]), (Some(3), &json!(true)), "{told}");
        assert!(told["usage"]["inputTokens"].as_u64().unwrap() > 0, "{told}");
        let runs = fs::read_to_string(home.path().join("runs.jsonl")).unwrap();
        assert_eq!(runs.lines().count(), 1, "{runs}");
    }
}
