//! A body, read within bounds, however it is packed.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use flate2::{Decompress, FlushDecompress, Status as FlateStatus};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use tokio::time::timeout;

use crate::limits::Limits;
use crate::why::why;

/// What is unpacked at a time, in bytes.
const PIECE_BYTES: usize = 32 << 10;

/// Why a body could not be read, and how far it came.
#[derive(Debug, thiserror::Error)]
#[error("the body {what} after {wire_bytes} bytes")]
pub(crate) struct BodyError {
    what: String,
    wire_bytes: u64,
}

/// Reads all of `body`, which is packed as `encoding` says. `wire_bytes` counts what has come so far, also for
/// somebody who stops waiting.
pub(crate) async fn read(
    mut body: Incoming,
    encoding: Option<&str>,
    limits: &Limits,
    wire_bytes: &mut u64,
) -> Result<Vec<u8>, BodyError> {
    let broken = |what: String, wire_bytes: u64| BodyError { what, wire_bytes };
    let too_long = || format!("is longer than {} bytes: stopped", limits.wire_bytes);
    let most = limits.wire_bytes as u64;
    if body.size_hint().lower() > most {
        return Err(broken(too_long(), 0));
    }
    let mut unpacker = Unpacker::new(encoding, limits.body_bytes).map_err(|it| broken(it, 0))?;
    loop {
        let frame = timeout(limits.idle, body.frame()).await;
        let frame = match frame {
            Err(_) => {
                let what = format!("stood still for {} ms", limits.idle.as_millis());
                return Err(broken(what, *wire_bytes));
            }
            Ok(None) => break,
            Ok(Some(Err(error))) => {
                return Err(broken(format!("broke off ({})", why(&error)), *wire_bytes));
            }
            Ok(Some(Ok(frame))) => frame,
        };
        // Trailers say nothing that is read.
        let Ok(data) = frame.into_data() else { continue };
        *wire_bytes = wire_bytes.saturating_add(data.len() as u64);
        if *wire_bytes > most {
            return Err(broken(too_long(), *wire_bytes));
        }
        unpacker.write(&data).map_err(|it| broken(it, *wire_bytes))?;
    }
    if *wire_bytes == 0 {
        // Nothing is nothing, however it is packed.
        return Ok(Vec::new());
    }
    unpacker.finish().map_err(|it| broken(it, *wire_bytes))
}

/// Unpacks piece by piece into a buffer with an end.
enum Unpacker {
    Plain(Bounded),
    Gzip(MultiGzDecoder<Bounded>),
    /// `deflate` means zlib, and some send bare deflate: the first byte tells.
    Unknown(Bounded),
    Deflate(Inflater),
}

impl Unpacker {
    fn new(encoding: Option<&str>, room: usize) -> Result<Self, String> {
        let bounded = Bounded { bytes: Vec::new(), room, full: false };
        match encoding.map(|it| it.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Ok(Self::Plain(bounded)),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip(MultiGzDecoder::new(bounded))),
            Some("deflate") => Ok(Self::Unknown(bounded)),
            Some(known @ ("br" | "zstd" | "compress")) => {
                Err(format!("is packed as `{known}`, which nobody asked for: stopped"))
            }
            // A stranger's word is not repeated.
            Some(_) => Err("is packed in a way that nobody asked for: stopped".to_owned()),
        }
    }

    fn write(&mut self, data: &[u8]) -> Result<(), String> {
        if let (Self::Unknown(bounded), Some(first)) = (&mut *self, data.first()) {
            // The low half of a zlib stream's first byte is 8.
            *self = Self::Deflate(Inflater::new(std::mem::take(bounded), first & 0x0f == 8));
        }
        let written = match self {
            Self::Plain(to) | Self::Unknown(to) => to.write_all(data),
            Self::Gzip(to) => to.write_all(data),
            Self::Deflate(to) => to.write(data),
        };
        written.map_err(|error| self.bounded().said(&error))
    }

    fn finish(mut self) -> Result<Vec<u8>, String> {
        let ended = match &mut self {
            Self::Plain(_) | Self::Unknown(_) => Ok(()),
            Self::Gzip(to) => to.try_finish(),
            Self::Deflate(to) if to.ended => Ok(()),
            Self::Deflate(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        };
        ended.map_err(|error| self.bounded().said(&error))?;
        Ok(std::mem::take(&mut self.bounded_mut().bytes))
    }

    fn bounded(&self) -> &Bounded {
        match self {
            Self::Plain(to) | Self::Unknown(to) => to,
            Self::Gzip(to) => to.get_ref(),
            Self::Deflate(to) => &to.to,
        }
    }

    fn bounded_mut(&mut self) -> &mut Bounded {
        match self {
            Self::Plain(to) | Self::Unknown(to) => to,
            Self::Gzip(to) => to.get_mut(),
            Self::Deflate(to) => &mut to.to,
        }
    }
}

/// Unpacks deflate, and knows whether it has come to its end: the library's own writer does not say.
struct Inflater {
    state: Decompress,
    to: Bounded,
    piece: Vec<u8>,
    ended: bool,
}

impl Inflater {
    fn new(to: Bounded, zlib: bool) -> Self {
        Self { state: Decompress::new(zlib), to, piece: vec![0; PIECE_BYTES], ended: false }
    }

    fn write(&mut self, mut data: &[u8]) -> io::Result<()> {
        loop {
            if self.ended {
                // Something behind the end is part of nothing.
                let extra = io::Error::from(io::ErrorKind::InvalidData);
                return if data.is_empty() { Ok(()) } else { Err(extra) };
            }
            let (had, gave) = (self.state.total_in(), self.state.total_out());
            let status = self.state.decompress(data, &mut self.piece, FlushDecompress::None)?;
            let since =
                |now: u64, then: u64| usize::try_from(now.saturating_sub(then)).unwrap_or(0);
            let taken = since(self.state.total_in(), had);
            let given = since(self.state.total_out(), gave);
            self.to.write_all(self.piece.get(..given).unwrap_or_default())?;
            data = data.get(taken..).unwrap_or_default();
            self.ended = status == FlateStatus::StreamEnd;
            if !self.ended && given < self.piece.len() {
                if data.is_empty() {
                    return Ok(());
                }
                if taken == 0 && given == 0 {
                    return Err(io::ErrorKind::InvalidData.into());
                }
            }
        }
    }
}

/// A buffer that takes so many bytes and no more.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    room: usize,
    full: bool,
}

impl Bounded {
    fn said(&self, error: &io::Error) -> String {
        if self.full {
            return format!("unpacks to more than {} bytes: stopped", self.room);
        }
        format!("could not be unpacked ({error})")
    }
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
