//! A place in the text, and what every reader of it needs.

use super::Unreadable;
use crate::limits::{DEPTH_MAX, NODES_MAX};

/// Reads one text from left to right.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    nodes: usize,
    /// Here-documents stand between the end of this line and the second place.
    pub(super) resume: Option<(usize, usize)>,
    /// Where the names of commands begin, for comparison with other parsers.
    pub(super) names: Vec<usize>,
}

pub(super) type Read<T> = Result<T, Unreadable>;

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, depth: usize) -> Self {
        Self { text, at: 0, depth, nodes: 0, resume: None, names: Vec::new() }
    }

    /// Reads a part of the same text with `read`; places stay what they are.
    pub(super) fn within<T>(
        &mut self,
        from: usize,
        to: usize,
        read: impl FnOnce(&mut Self) -> Read<T>,
    ) -> Read<T> {
        let text = self.text;
        let before = (self.at, self.resume.take());
        self.text = text.get(..to).unwrap_or(text);
        self.at = from.min(self.text.len());
        let result = read(self);
        self.text = text;
        (self.at, self.resume) = before;
        result
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The byte here, 0 at the end: a text with a 0 in it is refused before.
    pub(super) fn peek(&self) -> u8 {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn since(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    pub(super) fn is_done(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    pub(super) fn seek(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    /// Takes `word` if it stands here.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        if found {
            self.skip(word.len());
        }
        found
    }

    pub(super) fn next_char(&mut self) -> Option<char> {
        let found = self.rest().chars().next()?;
        self.skip(found.len_utf8());
        Some(found)
    }

    /// One more level and one more node, or it is too much.
    pub(super) fn enter(&mut self) -> Read<()> {
        self.depth += 1;
        self.nodes += 1;
        if self.depth > DEPTH_MAX {
            return Err(Unreadable("it is nested too deeply"));
        }
        if self.nodes > NODES_MAX {
            return Err(Unreadable("it has too many parts"));
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Blanks, continued lines and comments; not line ends.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' | b'\r' => self.skip(1),
                b'\\' if self.peek_at(1) == b'\n' => self.skip(2),
                b'#' if self.begins_word() => {
                    let end = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.skip(end);
                }
                _ => return,
            }
        }
    }

    fn begins_word(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|it| self.text.as_bytes().get(it));
        before.is_none_or(|it| b" \t\r\n;&|()<>`".contains(it))
    }

    /// Blanks and line ends; steps over here-documents.
    pub(super) fn lines(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if self.peek() != b'\n' {
                return Ok(());
            }
            self.newline()?;
        }
    }

    pub(super) fn newline(&mut self) -> Read<()> {
        let here = self.at;
        self.skip(1);
        match self.resume {
            Some((end, to)) if end == here => {
                self.seek(to);
                self.resume = None;
                Ok(())
            }
            Some((end, _)) if end < here => Err(Unreadable("a here-document begins in quotes")),
            Some(_) | None => Ok(()),
        }
    }

    /// Is the word here exactly this reserved word?
    pub(super) fn at_keyword(&self, word: &str) -> bool {
        let Some(after) = self.rest().strip_prefix(word) else { return false };
        let next = after.bytes().next().unwrap_or(b'\n');
        b" \t\r\n;&|()<>".contains(&next)
            || (next == b'\\' && after.as_bytes().get(1) == Some(&b'\n'))
    }

    pub(super) fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.skip(word.len());
        }
        found
    }

    pub(super) fn expect_keyword(&mut self, word: &'static str) -> Read<()> {
        if self.take_keyword(word) {
            return Ok(());
        }
        Err(Unreadable("a compound command has no end"))
    }
}
