//! Lines of bounded length. A longer one is skipped, not kept.

use std::io::{self, BufRead, Read as _};

/// Reads lines into one buffer.
pub(crate) struct Lines<R> {
    input: R,
    bytes_max: usize,
    buffer: Vec<u8>,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// A line without its end.
    Whole(&'a [u8]),
    /// One over the limit; it has been skipped.
    TooLong,
    /// There are no more.
    End,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R, bytes_max: usize) -> Self {
        Self { input, bytes_max, buffer: Vec::new() }
    }

    /// The next line.
    pub(crate) fn next(&mut self) -> io::Result<Line<'_>> {
        self.buffer.clear();
        // One more for the end of the line, which does not count.
        let limit = self.bytes_max as u64 + 1;
        self.input.by_ref().take(limit).read_until(b'\n', &mut self.buffer)?;
        if self.buffer.is_empty() {
            return Ok(Line::End);
        }
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
        } else if self.buffer.len() > self.bytes_max {
            self.buffer.clear();
            self.input.skip_until(b'\n')?;
            return Ok(Line::TooLong);
        }
        Ok(Line::Whole(&self.buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_is_whole() {
        let mut lines = Lines::new(&b"abcd\nabcde\nabcdefghij\n\nx"[..], 4);
        assert_eq!(lines.next().unwrap(), Line::Whole(b"abcd"));
        assert_eq!(lines.next().unwrap(), Line::TooLong);
        assert_eq!(lines.next().unwrap(), Line::TooLong);
        assert_eq!(lines.next().unwrap(), Line::Whole(b""));
        assert_eq!(lines.next().unwrap(), Line::Whole(b"x"));
        assert_eq!(lines.next().unwrap(), Line::End);
        assert_eq!(Lines::new(&b"abcde"[..], 4).next().unwrap(), Line::TooLong);
    }
}
