//! Cuts a stream into chunks of whole lines, so that several threads can read one file.

use std::io::{self, Read};

use super::finding::{Code, Finding};

/// Whole lines of one file.
pub(crate) struct Chunk {
    /// Number of the first line, from 1.
    pub(crate) first_line: u64,
    /// The lines with their ends; the last line of a file may lack its own.
    pub(crate) bytes: Vec<u8>,
    /// How many lines these are.
    pub(crate) lines: u64,
}

/// Reads chunks one after the other.
pub(crate) struct Chunks<R> {
    input: R,
    carry: Vec<u8>,
    next_line: u64,
    done: bool,
}

/// A chunk is at least this long, unless the file ends.
const CHUNK_BYTES: usize = 1 << 20;

/// The longest line that is read; a bound on memory, far above any honest record.
pub const LINE_BYTES_MAX: usize = 64 << 20;

pub(crate) enum ReadError {
    Io(io::Error),
    LineTooLong { line: u64 },
}

impl ReadError {
    /// The finding about the file `name`.
    pub(crate) fn into_finding(self, name: &str) -> Finding {
        match self {
            Self::Io(error) => Finding::new(Code::FileUnreadable, name, error),
            Self::LineTooLong { line } => {
                let detail = format!("longer than {LINE_BYTES_MAX} bytes");
                Finding::new(Code::LineTooLong, format!("{name}:{line}"), detail)
            }
        }
    }
}

impl<R: Read> Chunks<R> {
    pub(crate) fn new(input: R) -> Self {
        Self { input, carry: Vec::new(), next_line: 1, done: false }
    }

    /// Number of lines handed out so far.
    pub(crate) fn lines_read(&self) -> u64 {
        self.next_line - 1
    }

    pub(crate) fn next(&mut self) -> Result<Option<Chunk>, ReadError> {
        if self.done {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.carry);
        bytes.reserve((2 * CHUNK_BYTES).saturating_sub(bytes.len()));
        loop {
            let searched = bytes.len();
            let read = (&mut self.input)
                .take(CHUNK_BYTES as u64)
                .read_to_end(&mut bytes)
                .map_err(ReadError::Io)?;
            if read == 0 {
                self.done = true;
                break;
            }
            let fresh = bytes.get(searched..).unwrap_or_default();
            if let Some(last) = memchr::memrchr(b'\n', fresh) {
                self.carry = bytes.split_off(searched + last + 1);
                break;
            }
            if bytes.len() > LINE_BYTES_MAX {
                self.done = true;
                return Err(ReadError::LineTooLong { line: self.next_line });
            }
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let ends = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        let lines = ends + u64::from(!bytes.ends_with(b"\n"));
        let first_line = self.next_line;
        self.next_line += lines;
        Ok(Some(Chunk { first_line, bytes, lines }))
    }
}

/// One line of a chunk.
pub(crate) struct Line<'a> {
    /// From 1.
    pub(crate) number: u64,
    /// Without the newline.
    pub(crate) text: &'a [u8],
    /// Did it have one?
    pub(crate) ended: bool,
}

impl Chunk {
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let mut rest = self.bytes.as_slice();
        let mut number = self.first_line;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let (text, tail, ended) = match memchr::memchr(b'\n', rest) {
                Some(at) => (rest.get(..at)?, rest.get(at + 1..)?, true),
                None => (rest, rest.get(rest.len()..)?, false),
            };
            rest = tail;
            number += 1;
            Some(Line { number: number - 1, text, ended })
        })
    }
}
