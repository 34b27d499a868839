//! Servers that tests start themselves, which remember every byte that reached them.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use testkit::tls::Certificate;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// How much of a request is remembered, in bytes.
const REMEMBERED_BYTES_MAX: usize = 256 << 10;

/// What a server says.
#[derive(Clone)]
pub(crate) enum Says {
    /// The request's target, and how long its body was.
    Echo,
    /// These bytes, whatever was asked.
    Bytes(&'static [u8]),
    /// A body of so many bytes.
    Big(usize),
    /// The files of a directory.
    Files(PathBuf),
    /// Nothing: it takes and keeps the connection.
    Nothing,
}

/// A server that has been started.
pub(crate) struct Origin {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Vec<u8>>>>,
    open: Arc<AtomicUsize>,
}

impl Origin {
    pub(crate) async fn plain(says: Says) -> Self {
        Self::start(says, None).await
    }

    pub(crate) async fn tls(says: Says, certificate: Certificate) -> Self {
        Self::start(says, Some(TlsAcceptor::from(certificate.server(&[])))).await
    }

    async fn start(says: Says, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, open) = (Arc::<Mutex<Vec<Vec<u8>>>>::default(), Arc::<AtomicUsize>::default());
        let origin = Self { port, seen: Arc::clone(&seen), open: Arc::clone(&open) };
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (says, seen, tls) = (says.clone(), Arc::clone(&seen), tls.clone());
                let open = Arc::clone(&open);
                tokio::spawn(async move {
                    let place = {
                        let mut seen = seen.lock().unwrap();
                        seen.push(Vec::new());
                        seen.len() - 1
                    };
                    open.fetch_add(1, Ordering::SeqCst);
                    match tls {
                        None => serve(stream, &says, &seen, place).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, &says, &seen, place).await;
                            }
                        }
                    }
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        origin
    }

    /// What came, connection by connection.
    pub(crate) fn seen(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().map(|it| String::from_utf8_lossy(it).into_owned()).collect()
    }

    /// The one request that came.
    pub(crate) fn only(&self) -> String {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }

    /// Connections that are open now.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::SeqCst)
    }
}

/// Serves one connection: one request after the other, until the other side is done.
async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    says: &Says,
    seen: &Mutex<Vec<Vec<u8>>>,
    place: usize,
) {
    let mut pending = Vec::new();
    loop {
        let Some(request) = take(&mut stream, &mut pending, seen, place).await else { return };
        let head = match says {
            Says::Nothing => continue,
            Says::Bytes(bytes) => {
                let _ = stream.write_all(bytes).await;
                let _ = stream.shutdown().await;
                return;
            }
            Says::Echo => {
                let body = format!("{} {} bytes\n", request.line, request.body_bytes);
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
            }
            Says::Big(bytes) => format!("HTTP/1.1 200 OK\r\ncontent-length: {bytes}\r\n\r\n"),
            Says::Files(root) => {
                let body = file(root, &request.line);
                let status = if body.is_some() { "200 OK" } else { "404 Not Found" };
                let body = body.unwrap_or_default();
                let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
                if stream.write_all(&[head.as_bytes(), &body].concat()).await.is_err() {
                    return;
                }
                continue;
            }
        };
        if stream.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        if let Says::Big(bytes) = says {
            let chunk = vec![b'x'; 64 << 10];
            let mut left = *bytes;
            while left > 0 {
                let now = left.min(chunk.len());
                if stream.write_all(&chunk[..now]).await.is_err() {
                    return;
                }
                left -= now;
            }
        }
    }
}

struct Took {
    line: String,
    body_bytes: usize,
}

/// Reads one request; none if the connection ends before.
async fn take<S: AsyncRead + Unpin>(
    stream: &mut S,
    pending: &mut Vec<u8>,
    seen: &Mutex<Vec<Vec<u8>>>,
    place: usize,
) -> Option<Took> {
    let head_end = loop {
        if let Some(at) = pending.windows(4).position(|it| it == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, pending, seen, place).await?;
    };
    let head = String::from_utf8_lossy(&pending[..head_end]).to_lowercase();
    let line = String::from_utf8_lossy(pending.split(|it| *it == b'\r').next()?).into_owned();
    pending.drain(..head_end);
    let mut body_bytes = 0;
    if head.contains("transfer-encoding: chunked") {
        loop {
            let line_end = loop {
                if let Some(at) = pending.windows(2).position(|it| it == b"\r\n") {
                    break at;
                }
                more(stream, pending, seen, place).await?;
            };
            let size = std::str::from_utf8(&pending[..line_end]).ok()?;
            let size = usize::from_str_radix(size.trim(), 16).ok()?;
            pending.drain(..line_end + 2);
            skip(stream, pending, seen, place, size + 2).await?;
            body_bytes += size;
            if size == 0 {
                break;
            }
        }
    } else if let Some((_, rest)) = head.split_once("content-length: ") {
        body_bytes = rest.lines().next()?.trim().parse().ok()?;
        skip(stream, pending, seen, place, body_bytes).await?;
    }
    Some(Took { line, body_bytes })
}

async fn skip<S: AsyncRead + Unpin>(
    stream: &mut S,
    pending: &mut Vec<u8>,
    seen: &Mutex<Vec<Vec<u8>>>,
    place: usize,
    mut bytes: usize,
) -> Option<()> {
    loop {
        let now = bytes.min(pending.len());
        pending.drain(..now);
        bytes -= now;
        if bytes == 0 {
            return Some(());
        }
        more(stream, pending, seen, place).await?;
    }
}

async fn more<S: AsyncRead + Unpin>(
    stream: &mut S,
    pending: &mut Vec<u8>,
    seen: &Mutex<Vec<Vec<u8>>>,
    place: usize,
) -> Option<()> {
    let mut buffer = vec![0; 64 << 10];
    let read = stream.read(&mut buffer).await.ok().filter(|it| *it > 0)?;
    pending.extend_from_slice(&buffer[..read]);
    let mut seen = seen.lock().unwrap();
    let room = REMEMBERED_BYTES_MAX.saturating_sub(seen[place].len());
    seen[place].extend_from_slice(&buffer[..read.min(room)]);
    Some(())
}

fn file(root: &Path, line: &str) -> Option<Vec<u8>> {
    let path = line.split(' ').nth(1)?.split('?').next()?;
    std::fs::read(root.join(path.trim_start_matches('/'))).ok()
}
