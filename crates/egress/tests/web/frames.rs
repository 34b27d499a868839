//! A server that speaks HTTP/2 by hand, so that it can say what no library would.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::tls::AUTHORITY;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RESET: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GO_AWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

/// What a client says first.
const PREFACE_BYTES: usize = 24;
/// `:status: 200`, by its number in the table that both sides know.
pub(crate) const STATUS_200: u8 = 0x88;

/// What is said to a client that has asked: once, or again and again until it goes.
#[derive(Clone)]
pub(crate) struct Script {
    /// Said once for each request, whose stream is given.
    pub(crate) once: fn(u32) -> Vec<u8>,
    /// Said without end after that, with pauses of this length. Nothing if it is empty.
    pub(crate) again: Vec<u8>,
    pub(crate) pause: Duration,
    /// Said when a client takes a request back.
    pub(crate) on_reset: Vec<u8>,
    /// Does it say that it is there?
    pub(crate) answers_pings: bool,
}

impl Script {
    pub(crate) fn once(once: fn(u32) -> Vec<u8>) -> Self {
        let (again, on_reset) = (Vec::new(), Vec::new());
        Self { once, again, pause: Duration::ZERO, on_reset, answers_pings: true }
    }

    pub(crate) fn again(once: fn(u32) -> Vec<u8>, again: Vec<u8>) -> Self {
        Self { again, ..Self::once(once) }
    }
}

pub(crate) struct Http2 {
    pub(crate) port: u16,
    connections: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
    /// Serves as long as it is held.
    _runtime: Runtime,
}

impl Http2 {
    /// Serves `a.example`; the n-th connection by the n-th script, the last again and again.
    pub(crate) fn new(scripts: Vec<Script>) -> Self {
        let acceptor = TlsAcceptor::from(AUTHORITY.vouch(&["a.example"]).server(&[b"h2"]));
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, open) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let (count, now) = (Arc::clone(&connections), Arc::clone(&open));
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst);
                let script = scripts.get(number).or(scripts.last()).unwrap().clone();
                let (acceptor, now) = (acceptor.clone(), Arc::clone(&now));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    now.fetch_add(1, Ordering::SeqCst);
                    let _ = serve(stream, &script).await;
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { port, connections, open, _runtime: runtime }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("https://a.example:{}{path}", self.port)
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// Connections that are open now.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

/// Reads frames, and answers each request as the script says.
async fn serve(mut stream: TlsStream<TcpStream>, script: &Script) -> std::io::Result<()> {
    let mut preface = [0; PREFACE_BYTES];
    stream.read_exact(&mut preface).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    stream.flush().await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).await?;
        let number = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match (head[3], head[4] & ACK) {
            (SETTINGS, 0) if script.answers_pings => {
                stream.write_all(&frame(SETTINGS, ACK, 0, &[])).await?;
            }
            (PING, 0) if script.answers_pings => {
                stream.write_all(&frame(PING, ACK, 0, &payload)).await?;
            }
            (HEADERS, _) => {
                stream.write_all(&(script.once)(number)).await?;
                stream.flush().await?;
                if !script.again.is_empty() {
                    return flood(stream, script).await;
                }
            }
            (RESET, _) => stream.write_all(&script.on_reset).await?,
            _ => {}
        }
        stream.flush().await?;
    }
}

/// Speaks without end, and reads whatever is said meanwhile.
async fn flood(stream: TlsStream<TcpStream>, script: &Script) -> std::io::Result<()> {
    let (mut from, mut to) = tokio::io::split(stream);
    let speaks = async {
        loop {
            to.write_all(&script.again).await?;
            to.flush().await?;
            tokio::time::sleep(script.pause).await;
        }
    };
    let mut sink = tokio::io::sink();
    tokio::select! {
        ended = speaks => ended,
        read = tokio::io::copy(&mut from, &mut sink) => read.map(drop),
    }
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The head of an answer that goes on.
pub(crate) fn ok(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &[STATUS_200])
}

/// A whole answer.
pub(crate) fn page(stream: u32) -> Vec<u8> {
    [ok(stream), frame(DATA, END_STREAM, stream, b"a page")].concat()
}

pub(crate) fn go_away(last: u32, code: u32, said: &[u8]) -> Vec<u8> {
    frame(GO_AWAY, 0, 0, &[&last.to_be_bytes()[..], &code.to_be_bytes(), said].concat())
}

/// A field that is in no table, its name and value as they are.
pub(crate) fn literal(name: &str, value: &str) -> Vec<u8> {
    // Longer ones would be written in several bytes.
    let short = |it: &str| u8::try_from(it.len()).ok().filter(|it| *it < 127).unwrap();
    let mut field = vec![0, short(name)];
    field.extend(name.bytes());
    field.push(short(value));
    field.extend(value.bytes());
    field
}
