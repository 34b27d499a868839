//! A language model of a test's own, on loopback: it speaks as servers of the shape of `OpenAI` do, and says what it is told to.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

/// What it is asked.
pub struct Asked {
    /// Is something to be looked at, rather than answered?
    pub is_get: bool,
    /// What was sent along.
    pub body: Vec<u8>,
}

/// What it answers.
pub struct Told {
    /// The media type.
    pub kind: &'static str,
    /// The body.
    pub text: String,
}

/// Starts a server that answers by `answer`, as long as the test lives; returns its port. Without an answer the connection ends.
///
/// # Panics
/// If there is no port.
pub fn serve(answer: impl Fn(&Asked) -> Option<Told> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let answer = Arc::clone(&answer);
            // Whoever asked may be dead by now.
            thread::spawn(move || connection(stream, &*answer));
        }
    });
    port
}

fn connection(
    mut stream: TcpStream,
    answer: &(impl Fn(&Asked) -> Option<Told> + ?Sized),
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut first = String::new();
        reader.read_line(&mut first).ok()?;
        let mut body = vec![0; usize::try_from(head(&mut reader)?).ok()?];
        reader.read_exact(&mut body).ok()?;
        let Told { kind, text } = answer(&Asked { is_get: first.starts_with("GET "), body })?;
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}", text.len());
        stream.write_all(format!("{head}\r\n\r\n{text}").as_bytes()).ok()?;
    }
}

/// Reads to the end of a head, and returns how much follows it.
pub fn head(reader: &mut impl BufRead) -> Option<u64> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            return Some(length);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
}

/// An answer in one piece, which took so many tokens: those of the question, and its own.
#[must_use]
pub fn chat(delta: &Value, question: u64, own: u64) -> Told {
    let reason = if delta.get("tool_calls").is_some() { "tool_calls" } else { "stop" };
    let usage = json!({"prompt_tokens": question, "completion_tokens": own});
    let piece = json!({"choices": [{"delta": delta}]});
    let end = json!({"choices": [{"delta": {}, "finish_reason": reason}], "usage": usage});
    let text = format!("data: {piece}\n\ndata: {end}\n\ndata: [DONE]\n\n");
    Told { kind: "text/event-stream", text }
}
