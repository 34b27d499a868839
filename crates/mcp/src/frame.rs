//! Framing on pipes: one message per line, and a line has a limit.

use crate::limits::{ID_BYTES_MAX, MESSAGE_BYTES_MAX};
use crate::message::Id;
use std::io::{self, BufRead};

/// A line of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line, without its end.
    Line(Vec<u8>),
    /// A line that was too long and was thrown away; with its id, where one could be found.
    TooLong(Option<Id>),
}

/// Reads the next line that is not empty; `None` at the end of the stream. What stands after the last line end is no
/// message: it may be half of one.
pub fn read(stream: &mut impl BufRead) -> io::Result<Option<Frame>> {
    read_bounded(stream, MESSAGE_BYTES_MAX)
}

/// Finds the id of a message that cannot be parsed, so that whoever waits for it can be told.
#[must_use]
pub fn find_id(line: &[u8]) -> Option<Id> {
    let mut finder = IdFinder::default();
    finder.take(line);
    finder.found()
}

pub(crate) fn read_bounded(stream: &mut impl BufRead, max: usize) -> io::Result<Option<Frame>> {
    let mut line = Vec::new();
    let mut overflow: Option<IdFinder> = None;
    loop {
        let available = match stream.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            return Ok(None);
        }
        let end = available.iter().position(|&byte| byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        let used = part.len() + usize::from(end.is_some());
        match &mut overflow {
            Some(finder) => finder.take(part),
            None if line.len() + part.len() > max => {
                let mut finder = IdFinder::default();
                finder.take(&line);
                finder.take(part);
                line = Vec::new();
                overflow = Some(finder);
            }
            None => line.extend_from_slice(part),
        }
        stream.consume(used);
        if end.is_none() {
            continue;
        }
        if let Some(finder) = overflow {
            return Ok(Some(Frame::TooLong(finder.found())));
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Ok(Some(Frame::Line(line)));
        }
        line.clear();
    }
}

/// A scan for the `id` of the outermost object, over bytes that are not kept.
#[derive(Default)]
struct IdFinder {
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// The string that is being read or was read last, at the outermost level.
    text: Vec<u8>,
    is_value: bool,
    is_id: bool,
    scalar: Vec<u8>,
    ids: Vec<Id>,
}

impl IdFinder {
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    /// The id, if there was exactly one.
    fn found(mut self) -> Option<Id> {
        let id = self.ids.pop()?;
        self.ids.is_empty().then_some(id)
    }

    fn step(&mut self, byte: u8) {
        let outermost = self.depth == 1;
        if outermost && self.is_id && self.is_value && self.scalar.len() <= ID_BYTES_MAX + 2 {
            let ends = !self.in_string && matches!(byte, b',' | b'}');
            if !ends {
                self.scalar.push(byte);
            }
        }
        if self.in_string {
            return self.step_in_string(byte, outermost);
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.text.clear();
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if outermost {
                    self.end_value();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if outermost => {
                self.is_value = true;
                self.is_id = self.text == b"id";
            }
            b',' if outermost => self.end_value(),
            _ => {}
        }
    }

    fn step_in_string(&mut self, byte: u8, outermost: bool) {
        if self.is_escaped {
            self.is_escaped = false;
        } else if byte == b'\\' {
            self.is_escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
            return;
        }
        if outermost && !self.is_value && self.text.len() <= ID_BYTES_MAX {
            self.text.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.is_id
            && let Ok(value) = serde_json::from_slice(&self.scalar)
            && let Some(id) = Id::parse(&value)
        {
            self.ids.push(id);
            self.ids.truncate(2);
        }
        self.scalar.clear();
        self.is_value = false;
        self.is_id = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn frames(text: &[u8], max: usize) -> Vec<Frame> {
        // A small buffer, so that lines come in parts.
        let mut stream = BufReader::with_capacity(7, text);
        let mut found = Vec::new();
        while let Some(frame) = read_bounded(&mut stream, max).unwrap() {
            found.push(frame);
        }
        found
    }

    #[test]
    fn lines_come_one_by_one_and_the_rest_of_a_broken_stream_is_no_message() {
        let line = |text: &str| Frame::Line(text.as_bytes().to_vec());
        let found = frames(b"{\"a\":1}\r\n\n  \n[]\nhalf", 100);
        assert_eq!(found, [line("{\"a\":1}"), line("[]")]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_its_id_is_found() {
        let long = "x".repeat(100);
        for (text, id) in [
            (format!("{{\"id\":7,\"result\":\"{long}\"}}\n{{}}\n"), Some(Id::Number(7))),
            (
                format!("{{\"result\":{{\"id\":9,\"t\":\"{long}\"}},\"id\":\"a\\\"b\"}}\n{{}}\n"),
                Some(Id::Text("a\"b".into())),
            ),
            (format!("{{\"id\":1,\"x\":\"{long}\",\"id\":2}}\n{{}}\n"), None),
            (format!("{{\"x\":\"\\\",\\\"id\\\":4,{long}\"}}\n{{}}\n"), None),
            (format!("{long}{long}\n{{}}\n"), None),
        ] {
            let found = frames(text.as_bytes(), 40);
            assert_eq!(found, [Frame::TooLong(id), Frame::Line(b"{}".to_vec())], "{text}");
        }
    }
}
