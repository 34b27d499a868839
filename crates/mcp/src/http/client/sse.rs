//! Server-sent events: bytes in, events out, in bounds.

use super::limits::{ID_BYTES_MAX, RETRY_MAX, RETRY_MIN};
use std::time::Duration;

/// A reader of one stream of events.
#[derive(Debug)]
pub struct Parser {
    bytes_max: usize,
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    kind: Vec<u8>,
    /// Bytes since the last event.
    bytes: usize,
    is_after_return: bool,
    is_first_line: bool,
    last_id: Option<String>,
    retry: Option<Duration>,
}

/// An event that is longer than it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream has more than {0} bytes")]
pub struct TooLong(pub usize);

impl Parser {
    /// Makes a reader of events of at most so many bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            line: Vec::new(),
            data: None,
            kind: Vec::new(),
            bytes: 0,
            is_after_return: false,
            is_first_line: true,
            last_id: None,
            retry: None,
        }
    }

    /// Takes bytes, and hands over the data of each message that they complete. What a broken stream leaves half is none.
    ///
    /// # Errors
    /// If an event is too long. Then nothing more can be read.
    pub fn take(&mut self, bytes: &[u8], messages: &mut Vec<Vec<u8>>) -> Result<(), TooLong> {
        for &byte in bytes {
            let is_second_of_pair = byte == b'\n' && self.is_after_return;
            self.is_after_return = byte == b'\r';
            if is_second_of_pair {
                continue;
            }
            if byte == b'\n' || byte == b'\r' {
                self.end_line(messages);
                continue;
            }
            self.bytes = self.bytes.saturating_add(1);
            if self.bytes > self.bytes_max {
                return Err(TooLong(self.bytes_max));
            }
            self.line.push(byte);
        }
        Ok(())
    }

    /// Returns the id of the last event that had one: from there a stream can be taken up again.
    #[must_use]
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Returns how long the server wishes to be left alone before a stream is opened again, within our own bounds.
    #[must_use]
    pub fn retry(&self) -> Option<Duration> {
        self.retry.map(|it| it.clamp(RETRY_MIN, RETRY_MAX))
    }

    fn end_line(&mut self, messages: &mut Vec<Vec<u8>>) {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.is_first_line) && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.is_empty() {
            self.end_event(messages);
        } else if !line.starts_with(b":") {
            let colon = line.iter().position(|&it| it == b':').unwrap_or(line.len());
            let name = line.get(..colon).unwrap_or_default();
            let value = line.get(colon.saturating_add(1)..).unwrap_or_default();
            self.field(name, value.strip_prefix(b" ").unwrap_or(value));
        } else if self.data.is_none() && self.kind.is_empty() {
            // Comments keep a stream alive; many of them are no long event.
            self.bytes = 0;
        }
        line.clear();
        // The room is used again.
        self.line = line;
    }

    fn field(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"data" => {
                let data = self.data.get_or_insert_with(Vec::new);
                if !data.is_empty() {
                    data.push(b'\n');
                }
                data.extend_from_slice(value);
            }
            b"event" => self.kind = value.to_vec(),
            b"id" => {
                let is_plain = value.iter().all(|it| (0x20..0x7f).contains(it));
                if is_plain && value.len() <= ID_BYTES_MAX {
                    self.last_id =
                        String::from_utf8(value.to_vec()).ok().filter(|it| !it.is_empty());
                }
            }
            b"retry" => {
                let millis = str::from_utf8(value).ok().and_then(|it| it.parse().ok());
                self.retry = millis.map(Duration::from_millis).or(self.retry);
            }
            _ => {}
        }
    }

    fn end_event(&mut self, messages: &mut Vec<Vec<u8>>) {
        self.bytes = 0;
        let kind = std::mem::take(&mut self.kind);
        let data = self.data.take().filter(|it| !it.is_empty());
        if let Some(data) = data.filter(|_| kind.is_empty() || kind == b"message") {
            messages.push(data);
        }
    }
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8], piece: usize) -> (Vec<String>, Parser) {
        let (mut parser, mut found) = (Parser::new(64), Vec::new());
        for part in text.chunks(piece) {
            parser.take(part, &mut found).unwrap();
        }
        (found.into_iter().map(|it| String::from_utf8(it).unwrap()).collect(), parser)
    }

    #[test]
    fn events_are_the_same_however_they_are_cut_and_whatever_ends_their_lines() {
        let text = "\u{feff}: hi\nid: 7\nretry: 20\ndata: {\"a\":\ndata:1}\n\nevent: ping\ndata: no\n\n\
                    event: message\ndata: x\n\ndata\n\ndata: half";
        for end in ["\n", "\r", "\r\n"] {
            let text = text.replace('\n', end);
            for piece in 1..text.len() {
                let (found, parser) = read(text.as_bytes(), piece);
                assert_eq!(found, ["{\"a\":\n1}", "x"], "{end:?} {piece}");
                assert_eq!(parser.last_id(), Some("7"));
                assert_eq!(parser.retry(), Some(RETRY_MIN), "no server makes us hurry");
            }
        }
    }

    #[test]
    fn an_event_without_an_end_is_cut_and_comments_go_on_for_ever() {
        let mut parser = Parser::new(64);
        let mut found = Vec::new();
        for _ in 0..1000 {
            parser.take(b": still here\n", &mut found).unwrap();
        }
        assert_eq!(parser.take(&[b'x'; 65], &mut found), Err(TooLong(64)));
        let mut parser = Parser::new(64);
        let flood = b"data: 0123456789\n".repeat(10);
        assert_eq!(
            parser.take(&flood, &mut found),
            Err(TooLong(64)),
            "lines of one event count together"
        );
        assert!(found.is_empty());
    }

    #[test]
    fn ids_that_could_smuggle_a_header_are_not_kept() {
        for bad in ["a\u{0}b", "a\tb", "é"] {
            assert_eq!(read(format!("id: {bad}\n\n").as_bytes(), 3).1.last_id(), None, "{bad:?}");
        }
    }
}
