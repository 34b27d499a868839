//! A server of bare sockets, which says whatever a test wants it to say.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Answers one request on a connection; `false` closes it.
type Answer = dyn Fn(&str, &mut TcpStream) -> bool + Send + Sync;

pub(crate) struct Origin {
    pub(crate) port: u16,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: Mutex<usize>,
    heads: Mutex<Vec<String>>,
}

impl Origin {
    /// Gives each request to `answer`: its head, and the socket.
    pub(crate) fn raw(
        answer: impl Fn(&str, &mut TcpStream) -> bool + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Seen::default());
        let (all, answer): (_, Arc<Answer>) = (Arc::clone(&seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                *all.connections.lock().unwrap() += 1;
                let (all, answer) = (Arc::clone(&all), Arc::clone(&answer));
                thread::spawn(move || serve(stream, &all, &*answer));
            }
        });
        Self { port, seen }
    }

    /// Answers each path with a whole answer.
    pub(crate) fn paths(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::raw(move |head, stream| {
            let path = head.split(' ').nth(1).unwrap_or_default();
            stream.write_all(&answer(path)).is_ok()
        })
    }

    /// Says these bytes to whoever comes, and closes.
    pub(crate) fn says(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref().to_vec();
        Self::raw(move |_, stream| {
            let _ = stream.write_all(&bytes);
            false
        })
    }

    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    pub(crate) fn connections(&self) -> usize {
        *self.seen.connections.lock().unwrap()
    }

    /// The heads of all requests so far.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.seen.heads.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, seen: &Seen, answer: &Answer) {
    loop {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read(&mut byte) {
                Ok(1) => head.push(byte[0]),
                Ok(_) | Err(_) => return,
            }
        }
        let head = String::from_utf8(head).unwrap();
        seen.heads.lock().unwrap().push(head.clone());
        if !answer(&head, &mut stream) {
            // What the other side still sends is read, so that what we said is not lost with a reset.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
            return;
        }
    }
}

/// An answer with a body.
pub(crate) fn answer(status: u16, fields: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status} Said\r\ncontent-length: {}\r\n", body.len());
    fields.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    [head.as_bytes(), b"\r\n", body].concat()
}

pub(crate) fn html(body: &str) -> Vec<u8> {
    answer(200, &[("content-type", "text/html; charset=utf-8")], body)
}

pub(crate) fn redirect(status: u16, location: &str) -> Vec<u8> {
    answer(status, &[("location", location)], "you will be sent on")
}

/// The value of a field in a head.
pub(crate) fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|it| {
        let (found, value) = it.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
