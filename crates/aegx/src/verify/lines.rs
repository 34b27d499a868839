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

/// A chunk is about this long, unless a line is longer or the file ends.
const CHUNK_BYTES: usize = 1 << 20;
/// What is kept of a line may be longer than the line, so a chunk has no more than this many. Honest
/// lines have over 200 bytes.
const CHUNK_LINES_MAX: u64 = CHUNK_BYTES as u64 / 64;

/// The longest line that is read; a bound on memory, far above any honest record.
pub const LINE_BYTES_MAX: usize = 16 << 20;

pub(crate) enum ReadError {
    Io(io::Error),
    LineTooLong { line: u64 },
}

impl ReadError {
    /// The finding about the file `name`.
    pub(crate) fn into_finding(self, name: &str) -> Finding {
        match self {
            Self::Io(error) => Finding::of_unreadable(name, error),
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
        let mut bytes = std::mem::take(&mut self.carry);
        bytes.reserve((2 * CHUNK_BYTES).saturating_sub(bytes.len()));
        let mut whole = memchr::memrchr(b'\n', &bytes);
        while whole.is_none() && !self.done {
            if bytes.len() > LINE_BYTES_MAX {
                self.done = true;
                return Err(ReadError::LineTooLong { line: self.next_line });
            }
            let searched = bytes.len();
            let read = (&mut self.input)
                .take(CHUNK_BYTES as u64)
                .read_to_end(&mut bytes)
                .map_err(ReadError::Io)?;
            self.done = read == 0;
            let fresh = bytes.get(searched..).unwrap_or_default();
            whole = memchr::memrchr(b'\n', fresh).map(|last| searched + last);
        }
        let mut ends = 0;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &bytes) {
            // Where it stands in what was read does not matter.
            if end - start > LINE_BYTES_MAX {
                self.done = true;
                return Err(ReadError::LineTooLong { line: self.next_line + ends });
            }
            start = end + 1;
            ends += 1;
            if ends == CHUNK_LINES_MAX {
                whole = Some(end);
                break;
            }
        }
        if let Some(last) = whole {
            self.carry = bytes.split_off(last + 1);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths and numbers of all lines, and whether each had its end.
    fn cut(bytes: &[u8]) -> Vec<(u64, usize, bool)> {
        let mut chunks = Chunks::new(bytes);
        let mut lines = Vec::new();
        while let Ok(Some(chunk)) = chunks.next() {
            assert!(chunk.lines <= CHUNK_LINES_MAX);
            assert_eq!(chunk.lines, chunk.lines().count() as u64);
            lines.extend(chunk.lines().map(|it| (it.number, it.text.len(), it.ended)));
        }
        assert_eq!(chunks.lines_read(), lines.len() as u64);
        lines
    }

    #[test]
    fn however_long_the_lines_are_none_is_lost_or_cut() {
        for length in [0, 1, 63, 300, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1] {
            for tail in [0, 1, 5] {
                let count = (2 << 20) / (length + 1);
                let mut bytes = [vec![b'x'; length], vec![b'\n']].concat().repeat(count);
                bytes.extend(vec![b'y'; tail]);
                let mut want: Vec<_> =
                    (1..).zip(vec![length; count]).map(|(n, l)| (n, l, true)).collect();
                if tail > 0 {
                    want.push((count as u64 + 1, tail, false));
                }
                assert!(cut(&bytes) == want, "lines of {length}, the last of {tail}");
            }
        }
        assert_eq!(cut(b""), []);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_wherever_it_stands() {
        for before in [0, 1, 1000, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1] {
            for (length, ended) in [(LINE_BYTES_MAX, true), (LINE_BYTES_MAX, false)] {
                let mut bytes = [vec![b'x'; before], vec![b'\n'], vec![b'y'; length]].concat();
                bytes.extend(ended.then_some(b'\n'));
                let want = [(1, before, true), (2, length, ended)];
                assert!(cut(&bytes) == want, "{length} behind {before}");
                bytes.insert(before + 1, b'y');
                assert_eq!(too_long(&bytes), Some(2), "{} behind {before}", length + 1);
            }
        }
    }

    /// Number of the line that is refused.
    fn too_long(bytes: &[u8]) -> Option<u64> {
        let mut chunks = Chunks::new(bytes);
        loop {
            match chunks.next() {
                Ok(Some(_)) => {}
                Err(ReadError::LineTooLong { line }) => return Some(line),
                Ok(None) | Err(ReadError::Io(_)) => return None,
            }
        }
    }
}
