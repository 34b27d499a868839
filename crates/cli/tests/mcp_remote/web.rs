//! A small HTTP server on loopback, whose answers a test writes as a function.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) verb: String,
    /// With its query.
    pub(super) path: String,
    /// Names in small letters.
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

impl Asked {
    pub(super) fn message(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub(super) fn method(&self) -> String {
        self.message()["method"].as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The value of a form.
    pub(super) fn form(&self, name: &str) -> String {
        let pairs = url::form_urlencoded::parse(self.body.as_bytes());
        pairs.into_owned().find(|it| it.0 == name).map(|it| it.1).unwrap_or_default()
    }
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) enum Reply {
    /// A whole one.
    Whole { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// A stream of events that ends, with or without having said so.
    Events { pieces: Vec<String>, is_cut: bool },
    /// Bytes as they are; then the connection is closed.
    Raw(Vec<u8>),
    /// Nothing, for long.
    Silence,
}

impl Reply {
    pub(super) fn json(body: &Value) -> Self {
        Self::status(200, body)
    }

    pub(super) fn status(status: u16, body: &Value) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self::Whole { status, headers, body: body.to_string().into_bytes() }
    }

    pub(super) fn empty(status: u16) -> Self {
        Self::Whole { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        if let Self::Whole { headers, .. } = &mut self {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    pub(super) fn events(messages: &[Value]) -> Self {
        let pieces = messages.iter().map(|it| format!("event: message\ndata: {it}\n\n")).collect();
        Self::Events { pieces, is_cut: false }
    }
}

type Answers = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A server, and what it was asked.
pub(super) struct Web {
    pub(super) port: u16,
    seen: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
}

impl Web {
    pub(super) fn start(answers: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        Self::at(listener, answers)
    }

    /// At a port that was known before its answers were.
    pub(super) fn at(
        listener: TcpListener,
        answers: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        let (kept, answers): (_, Arc<Answers>) = (Arc::clone(&seen), Arc::new(answers));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answers) = (Arc::clone(&kept), Arc::clone(&answers));
                counted.fetch_add(1, Ordering::SeqCst);
                thread::spawn(move || serve(&stream, &kept, &*answers));
            }
        });
        Self { port, seen, connections }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(super) fn seen(&self) -> Vec<Asked> {
        self.seen.lock().unwrap().clone()
    }

    /// Connections that were made so far.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Requests with this method of the protocol.
    pub(super) fn asked(&self, method: &str) -> Vec<Asked> {
        self.seen().into_iter().filter(|it| it.method() == method).collect()
    }
}

fn serve(stream: &TcpStream, seen: &Mutex<Vec<Asked>>, answers: &Answers) {
    let mut reader = BufReader::new(stream);
    while let Some(asked) = hear(&mut reader) {
        seen.lock().unwrap().push(asked.clone());
        // Who has heard enough may go.
        match say(stream, answers(&asked)) {
            Ok(true) if asked.header("connection") != "close" => {}
            Ok(_) | Err(_) => return,
        }
    }
}

fn hear(reader: &mut BufReader<&TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (verb, path) = (words.next()?, words.next()?);
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { verb, path, headers, body: String::from_utf8(body).ok()? })
}

/// Says it; may the connection serve another request?
fn say(mut stream: &TcpStream, reply: Reply) -> std::io::Result<bool> {
    match reply {
        Reply::Whole { status, headers, body } => {
            let fields: String =
                headers.iter().map(|it| format!("{}: {}\r\n", it.0, it.1)).collect();
            let length = body.len();
            let head =
                format!("HTTP/1.1 {status} Some\r\n{fields}content-length: {length}\r\n\r\n");
            stream.write_all(head.as_bytes())?;
            stream.write_all(&body)?;
            Ok(true)
        }
        Reply::Events { pieces, is_cut } => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                        transfer-encoding: chunked\r\n\r\n";
            stream.write_all(head.as_bytes())?;
            for piece in pieces {
                write!(stream, "{:x}\r\n{piece}\r\n", piece.len())?;
                stream.flush()?;
                thread::sleep(Duration::from_millis(20));
            }
            if !is_cut {
                stream.write_all(b"0\r\n\r\n")?;
            }
            Ok(!is_cut)
        }
        Reply::Raw(bytes) => stream.write_all(&bytes).map(|()| false),
        Reply::Silence => {
            thread::sleep(Duration::from_secs(120));
            Ok(false)
        }
    }
}
