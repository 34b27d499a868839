//! A body, read within bounds, however it is packed.

use std::io::{self, Write};

use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

use crate::limits::Limits;

/// A body, and how many bytes it was on the way.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    pub(crate) wire_bytes: u64,
}

/// Why a body could not be read, and how far it came.
#[derive(Debug, thiserror::Error)]
#[error("the body {what} after {wire_bytes} bytes")]
pub(crate) struct BodyError {
    what: String,
    pub(crate) wire_bytes: u64,
}

/// Reads all of `body`, which is packed as `encoding` says.
pub(crate) async fn read(
    mut body: Incoming,
    encoding: Option<&str>,
    limits: &Limits,
) -> Result<Body, BodyError> {
    let mut wire_bytes = 0_u64;
    let broken = |what: String, wire_bytes: u64| BodyError { what, wire_bytes };
    let mut unpacker = Unpacker::new(encoding, limits.body_bytes).map_err(|it| broken(it, 0))?;
    loop {
        let frame = timeout(limits.idle, body.frame()).await;
        let frame = match frame {
            Err(_) => return Err(broken(format!("stood still for {:?}", limits.idle), wire_bytes)),
            Ok(None) => break,
            Ok(Some(Err(error))) => {
                return Err(broken(format!("broke off ({})", chain(&error)), wire_bytes));
            }
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers say nothing that is read.
        let Ok(data) = frame.into_data() else { continue };
        wire_bytes = wire_bytes.saturating_add(data.len() as u64);
        if wire_bytes > limits.wire_bytes as u64 {
            return Err(broken(format!("is longer than {} bytes", limits.wire_bytes), wire_bytes));
        }
        unpacker.write(&data).map_err(|it| broken(it, wire_bytes))?;
    }
    let bytes = unpacker.finish().map_err(|it| broken(it, wire_bytes))?;
    Ok(Body { bytes, wire_bytes })
}

/// Unpacks piece by piece into a buffer with an end.
enum Unpacker {
    Plain(Bounded),
    Gzip(MultiGzDecoder<Bounded>),
    /// `deflate` means zlib, and some send bare deflate: the first byte tells.
    Unknown(Bounded),
    Zlib(ZlibDecoder<Bounded>),
    Deflate(DeflateDecoder<Bounded>),
}

impl Unpacker {
    fn new(encoding: Option<&str>, room: usize) -> Result<Self, String> {
        let bounded = Bounded { bytes: Vec::new(), room, full: false };
        match encoding.map(|it| it.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Ok(Self::Plain(bounded)),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip(MultiGzDecoder::new(bounded))),
            Some("deflate") => Ok(Self::Unknown(bounded)),
            Some(other) => {
                Err(format!("is packed as `{}`", other.chars().take(20).collect::<String>()))
            }
        }
    }

    fn write(&mut self, data: &[u8]) -> Result<(), String> {
        if let (Self::Unknown(bounded), Some(first)) = (&mut *self, data.first()) {
            let bounded = std::mem::take(bounded);
            // The low half of a zlib stream's first byte is 8.
            *self = if first & 0x0f == 8 {
                Self::Zlib(ZlibDecoder::new(bounded))
            } else {
                Self::Deflate(DeflateDecoder::new(bounded))
            };
        }
        let written = match self {
            Self::Plain(to) | Self::Unknown(to) => to.write_all(data),
            Self::Gzip(to) => to.write_all(data),
            Self::Zlib(to) => to.write_all(data),
            Self::Deflate(to) => to.write_all(data),
        };
        written.map_err(|error| self.said(&error))
    }

    fn finish(self) -> Result<Vec<u8>, String> {
        let finished = match self {
            Self::Plain(to) | Self::Unknown(to) => Ok(to),
            Self::Gzip(to) => to.finish(),
            Self::Zlib(to) => to.finish(),
            Self::Deflate(to) => to.finish(),
        };
        match finished {
            Ok(to) if to.full => Err(format!("unpacks to more than {} bytes", to.room)),
            Ok(to) => Ok(to.bytes),
            Err(error) => Err(format!("could not be unpacked ({error})")),
        }
    }

    fn said(&self, error: &io::Error) -> String {
        let to = match self {
            Self::Plain(to) | Self::Unknown(to) => to,
            Self::Gzip(to) => to.get_ref(),
            Self::Zlib(to) => to.get_ref(),
            Self::Deflate(to) => to.get_ref(),
        };
        if to.full {
            return format!("unpacks to more than {} bytes", to.room);
        }
        format!("could not be unpacked ({error})")
    }
}

/// A buffer that takes so many bytes and no more.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    room: usize,
    full: bool,
}

impl Write for Bounded {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(data.len()) > self.room {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An error with what caused it, on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}
