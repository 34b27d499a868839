//! `lazaret chat` at a terminal.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use serde_json::json;

use crate::program::lazaret;

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);
/// How long something is waited for that must not come.
const SHORT: Duration = Duration::from_secs(2);

struct Terminal {
    keys: File,
    screen: Receiver<Vec<u8>>,
    shown: String,
    child: Child,
}

impl Terminal {
    fn chat(home: &Path) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let ours = openpt(flags).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let theirs = || Stdio::from(ioctl_tiocgptpeer(&ours, flags).unwrap());
        let mut command = lazaret(home, &["chat"]);
        let child = command.stdin(theirs()).stdout(theirs()).stderr(theirs()).spawn().unwrap();
        let keys = File::from(ours);
        let mut reads = keys.try_clone().unwrap();
        let (shows, screen) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(count) = reads.read(&mut piece) {
                if shows.send(piece.iter().take(count).copied().collect()).is_err() {
                    return;
                }
            }
        });
        Self { keys, screen, shown: String::new(), child }
    }

    fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Is this shown in time? What stands before it is not looked at again.
    fn shows(&mut self, text: &str, within: Duration) -> bool {
        let until = Instant::now() + within;
        loop {
            if let Some((_, rest)) = self.shown.split_once(text) {
                self.shown = rest.to_owned();
                return true;
            }
            match self.screen.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(piece) => self.shown.push_str(&String::from_utf8_lossy(&piece)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
            }
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test need not be atomic")]
fn what_was_typed_before_a_question_is_no_answer_to_it() {
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let page = format!("http://127.0.0.1:{port}/hours");
    let config = format!(
        "providers: {{llm: mock, web: fetch, scheduler: cron}}\nmodels: {{mock: {{script: s.json}}}}\n\
         egress: {{inner: [{{host: 127.0.0.1, port: {port}}}]}}\n"
    );
    fs::write(home.path().join("config.yaml"), config).unwrap();
    let job = json!({"schedule": "* * * * *", "prompt": "water the plants"});
    let script = json!({"turns": [
        {"call": [{"name": "web_fetch", "input": {"url": page}}]},
        {"call": [{"name": "scheduler_add_cron", "input": job}]},
        {"say": "that is all"},
    ]});
    fs::write(home.path().join("s.json"), script.to_string()).unwrap();

    let mut terminal = Terminal::chat(home.path());
    assert!(terminal.shows("> ", LONG), "{}", terminal.shown);
    terminal.type_in(&format!("See {page}\r"));
    // While the page is fetched somebody types on; then comes the page, and with it the question.
    let (mut stream, _) = listener.accept().unwrap();
    BufReader::new(stream.try_clone().unwrap()).read_line(&mut String::new()).unwrap();
    terminal.type_in("yes\r");
    assert!(terminal.shows("yes", LONG), "{}", terminal.shown);
    let body = "<p>The library is open from 9 to 17, says the page.</p>".repeat(20);
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    drop(stream);
    assert!(terminal.shows("Type `yes`", LONG), "{}", terminal.shown);
    assert!(!terminal.shows("allowed, once", SHORT), "{}", terminal.shown);
    terminal.type_in("no\r");
    assert!(terminal.shows("refused", LONG), "{}", terminal.shown);
    assert!(terminal.shows("that is all", LONG), "{}", terminal.shown);
    assert!(terminal.shows("> ", LONG), "{}", terminal.shown);
    terminal.type_in("\u{4}");
    assert_eq!(terminal.child.wait().unwrap().code(), Some(0), "{}", terminal.shown);
}
