//! Requests as bytes, so that the tests say exactly what goes over the wire.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

use crate::world::World;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

pub(crate) fn raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    said(TcpStream::connect(address).unwrap(), bytes)
}

/// The same of a server that may have gone; then the status is 0.
pub(crate) fn try_raw(address: SocketAddr, bytes: &[u8]) -> Answer {
    match TcpStream::connect(address) {
        Ok(stream) => said(stream, bytes),
        Err(_) => read(&[]),
    }
}

fn said(mut stream: TcpStream, bytes: &[u8]) -> Answer {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // A server that refuses early may have closed already.
    let _ = stream.write_all(bytes);
    let mut all = Vec::new();
    let _ = stream.read_to_end(&mut all);
    read(&all)
}

fn read(all: &[u8]) -> Answer {
    let at = all.windows(4).position(|it| it == b"\r\n\r\n").unwrap_or(all.len());
    let head = String::from_utf8_lossy(&all[..at]).into_owned();
    let rest = all.get(at + 4..).unwrap_or_default();
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let bytes = if chunked { dechunked(rest) } else { rest.to_vec() };
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok()).unwrap_or(0);
    let body = String::from_utf8_lossy(&bytes).into_owned();
    Answer { status, head, body, bytes }
}

fn dechunked(mut rest: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = rest.windows(2).position(|it| it == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if size == 0 {
            break;
        }
        out.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 4 + size..];
    }
    out
}

impl World {
    pub(crate) fn request(
        &self,
        (method, path): (&str, &str),
        token: Option<&str>,
        more: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !more.iter().any(|it| it.0.eq_ignore_ascii_case("host")) {
            head.push_str(&format!("Host: {}\r\n", self.address));
        }
        if let Some(token) = token {
            head.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        for (name, value) in more {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        raw(self.address, format!("{head}\r\n{body}").as_bytes())
    }

    pub(crate) fn get(&self, path: &str, token: Option<&str>) -> Answer {
        self.request(("GET", path), token, &[], "")
    }

    pub(crate) fn post(&self, path: &str, token: Option<&str>, body: &str) -> Answer {
        self.request(("POST", path), token, &[("Content-Type", "application/json")], body)
    }

    pub(crate) fn delete(&self, path: &str, token: Option<&str>) -> Answer {
        self.request(("DELETE", path), token, &[], "")
    }
}
