//! Server-sent events, as bytes arrive: bounded, and refused where they are not text.

/// The longest line, in bytes.
pub const LINE_BYTES_MAX: usize = 1 << 20;
/// The longest event, all its lines of data together, in bytes.
pub const EVENT_BYTES_MAX: usize = 4 << 20;

/// The data of events, out of bytes that may be cut anywhere. Names of events are not kept: each API writes the kind of
/// an event into its data as well.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    data: String,
    has_data: bool,
    /// Whether the last byte ended a line with a carriage return, so that a line feed right behind it is part of that end.
    after_return: bool,
    /// Whether a byte order mark at the very beginning is out of the way.
    begun: bool,
}

/// Why bytes are no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// Over [`LINE_BYTES_MAX`].
    #[error("a line of the stream is longer than {LINE_BYTES_MAX} bytes")]
    Line,
    /// Over [`EVENT_BYTES_MAX`].
    #[error("an event of the stream is longer than {EVENT_BYTES_MAX} bytes")]
    Event,
    /// Not UTF-8, or with a null byte.
    #[error("the stream is not text")]
    NotText,
}

impl Events {
    /// Takes more bytes, and adds the data of the events that are whole now to `whole`, also of those before an error.
    ///
    /// # Errors
    /// If a line or an event is too long, or no text.
    pub fn push(&mut self, bytes: &[u8], whole: &mut Vec<String>) -> Result<(), SseError> {
        for byte in bytes {
            let follows = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if follows => {}
                b'\n' => self.end_line(whole)?,
                b'\r' => {
                    self.after_return = true;
                    self.end_line(whole)?;
                }
                byte if self.line.len() < LINE_BYTES_MAX => self.line.push(*byte),
                _ => return Err(SseError::Line),
            }
        }
        Ok(())
    }

    fn end_line(&mut self, whole: &mut Vec<String>) -> Result<(), SseError> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8(line).map_err(|_| SseError::NotText)?;
        if line.contains('\0') {
            return Err(SseError::NotText);
        }
        let line = match std::mem::replace(&mut self.begun, true) {
            false => line.strip_prefix('\u{feff}').unwrap_or(&line),
            true => line.as_str(),
        };
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                whole.push(std::mem::take(&mut self.data));
            }
            return Ok(());
        }
        // Comments begin with a colon, and so have an empty name.
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name != "data" {
            return Ok(());
        }
        let value = value.strip_prefix(' ').unwrap_or(value);
        if self.data.len().saturating_add(value.len()) >= EVENT_BYTES_MAX {
            return Err(SseError::Event);
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push('\n');
        }
        self.data.push_str(value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], step: usize) -> Result<Vec<String>, SseError> {
        let mut events = Events::default();
        let mut all = Vec::new();
        for piece in bytes.chunks(step) {
            events.push(piece, &mut all)?;
        }
        Ok(all)
    }

    #[test]
    fn events_are_the_same_wherever_their_bytes_are_cut() {
        let text = "\u{feff}: hello\nevent: a\ndata: one\ndata:two\n\ndata: é\r\n\r\ndata\r\rid: 4\n\ndata: cut".as_bytes();
        for step in 1..=text.len() {
            assert_eq!(read(text, step).unwrap(), ["one\ntwo", "é", ""], "{step}");
        }
    }

    #[test]
    fn what_is_too_long_or_no_text_is_refused_before_it_is_kept() {
        assert_eq!(read(b"data: \0\n\n", 1), Err(SseError::NotText));
        assert_eq!(read(b"data: \xff\n\n", 1), Err(SseError::NotText));
        let long = vec![b'a'; LINE_BYTES_MAX + 1];
        assert_eq!(read(&long, 1 << 16), Err(SseError::Line));
        let line = format!("data: {}\n", "a".repeat(LINE_BYTES_MAX - 10));
        assert_eq!(read(line.repeat(5).as_bytes(), 1 << 16), Err(SseError::Event));
    }
}
