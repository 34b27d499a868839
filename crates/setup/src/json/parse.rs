//! Reading JSON with places; comments and commas before a closing bracket where the reader of the file allows them.

use std::ops::Range;

use serde_json::Value;

use super::{Kind, Member, Node};

/// How deep values may lie in each other.
pub(crate) const DEPTH_MAX: usize = 128;

/// Does the program that owns the file allow comments in it?
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Comments {
    /// Plain JSON.
    Refused,
    /// Comments, and a comma after the last entry.
    Allowed,
}

/// What is wrong in a text, and where.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub(crate) struct JsonError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: String,
}

impl JsonError {
    pub(super) fn at(text: &str, at: usize, what: impl Into<String>) -> Self {
        let before = text.get(..text.floor_char_boundary(at)).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let last = before.rsplit('\n').next().unwrap_or_default();
        Self { line, column: last.chars().count() + 1, what: what.into() }
    }
}

/// Reads a whole text, which holds one object.
pub(super) fn parse(text: &str, comments: Comments) -> Result<Node, JsonError> {
    let root = value(text, comments)?;
    if !matches!(root.kind, Kind::Object(_)) {
        return Err(JsonError::at(text, root.span.start, "an object was expected here"));
    }
    Ok(root)
}

/// Reads a text that holds one value.
pub(super) fn value(text: &str, comments: Comments) -> Result<Node, JsonError> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut reader = Reader { text, at: start, comments };
    let root = reader.value(0)?;
    reader.skip()?;
    if reader.at < text.len() {
        return Err(reader.wrong("there is something after the value"));
    }
    Ok(root)
}

/// Where the next character stands that is neither blank nor comment.
pub(super) fn skipped(text: &str, at: usize, comments: Comments) -> usize {
    let mut reader = Reader { text, at, comments };
    match reader.skip() {
        Ok(()) => reader.at,
        Err(_) => text.len(),
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    comments: Comments,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, what: &str) -> JsonError {
        JsonError::at(self.text, self.at, what)
    }

    fn skip(&mut self) -> Result<(), JsonError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            self.at += blank;
            let rest = self.rest();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    // `/*/` is no whole comment.
                    Some(end) if end >= 2 => end + 2,
                    _ => match rest.get(3..).and_then(|it| it.find("*/")) {
                        Some(end) => end + 5,
                        None => return Err(self.wrong("this comment does not end")),
                    },
                }
            } else {
                return Ok(());
            };
            if self.comments == Comments::Refused {
                return Err(self.wrong("a comment, which this program does not allow in its file"));
            }
            self.at += comment;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, JsonError> {
        self.skip()?;
        if depth > DEPTH_MAX {
            return Err(self.wrong("values lie too deep in each other"));
        }
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Kind::Scalar(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err(self.wrong("the text ends where a value was expected")),
        };
        Ok(Node { span: start..self.at, kind })
    }

    fn object(&mut self, depth: usize) -> Result<Kind, JsonError> {
        let mut members: Vec<Member> = Vec::new();
        let mut known = std::collections::HashSet::new();
        self.at += 1;
        while !self.closes(b'}', members.is_empty())? {
            let key_start = self.at;
            if self.peek() != Some(b'"') {
                return Err(self.wrong("a name in quotes was expected here"));
            }
            let key = self.string()?;
            if !known.insert(key.clone()) {
                // Readers differ in which one counts.
                return Err(JsonError::at(self.text, key_start, format!("`{key}` stands twice")));
            }
            self.skip()?;
            if self.peek() != Some(b':') {
                return Err(self.wrong("a colon was expected here"));
            }
            self.at += 1;
            let value = self.value(depth + 1)?;
            members.push(Member { key, key_start, value });
        }
        Ok(Kind::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Kind, JsonError> {
        let mut elements = Vec::new();
        self.at += 1;
        while !self.closes(b']', elements.is_empty())? {
            elements.push(self.value(depth + 1)?);
        }
        Ok(Kind::Array(elements))
    }

    /// Takes the closing bracket, or what stands between two entries.
    fn closes(&mut self, bracket: u8, is_first: bool) -> Result<bool, JsonError> {
        self.skip()?;
        if self.peek() == Some(bracket) {
            self.at += 1;
            return Ok(true);
        }
        if is_first {
            return Ok(false);
        }
        if self.peek() != Some(b',') {
            return Err(self.wrong("a comma or a closing bracket was expected here"));
        }
        let comma = self.at;
        self.at += 1;
        self.skip()?;
        if self.peek() != Some(bracket) {
            return Ok(false);
        }
        if self.comments == Comments::Refused {
            return Err(JsonError::at(self.text, comma, "a comma before a closing bracket"));
        }
        self.at += 1;
        Ok(true)
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let mut is_escaped = false;
        let start = self.at;
        let end = self.rest().bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        });
        let Some(end) = end else { return Err(self.wrong("this text does not end")) };
        self.at = start + end + 2;
        self.decoded(start..self.at)
    }

    fn word(&mut self) -> Result<Kind, JsonError> {
        let start = self.at;
        let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(is_part).len();
        if self.at == start {
            return Err(self.wrong("a value was expected here"));
        }
        self.decoded(start..self.at).map(Kind::Scalar)
    }

    /// What a scalar means is for the library to say.
    fn decoded<T: serde::de::DeserializeOwned>(&self, span: Range<usize>) -> Result<T, JsonError> {
        let start = span.start;
        let text = self.text.get(span).unwrap_or_default();
        serde_json::from_str(text)
            .map_err(|_| JsonError::at(self.text, start, "this is no value of JSON"))
    }
}
