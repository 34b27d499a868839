//! `${…}`: names, indices and what is done with the value.

use super::cursor::{Cursor, Read};
use super::word::is_name;
use super::{Change, Parameter, Part, Unreadable, Word};

/// `$name`.
pub(super) fn plain(name: String) -> Part {
    let parameter = Parameter { name, indirect: false, index: None, change: Change::None };
    Part::Parameter(Box::new(parameter))
}

impl Cursor<'_> {
    /// After `${`, to behind `}`.
    pub(super) fn parameter(&mut self, quoted: bool) -> Read<Part> {
        if matches!(self.peek(), b' ' | b'\t' | b'\n' | b'|') {
            // `${ command; }` runs a command.
            self.skip(1);
            let script = self.script_until(&["}"])?;
            self.expect_keyword_brace()?;
            return Ok(Part::Substitution(script));
        }
        let length = self.peek() == b'#' && !matches!(self.peek_at(1), b'}' | b':' | b'%' | b'=');
        let length = length && !(self.peek_at(1) == b'#' || self.peek_at(1) == b'/');
        // `${##}` is the length of `$#`.
        let length = length || self.rest().starts_with("##}");
        if length {
            self.skip(1);
        }
        let mut indirect =
            self.peek() == b'!' && (is_name(self.peek_at(1)) || b"@*#".contains(&self.peek_at(1)));
        if indirect {
            self.skip(1);
        }
        let name = self.parameter_name()?;
        let index = self.index()?;
        let mut change = if length { Change::Length } else { self.change(quoted)? };
        if indirect && matches!(self.peek(), b'*' | b'@') && self.peek_at(1) == b'}' {
            self.skip(1);
            indirect = false;
            change = Change::Names;
        }
        if !self.take("}") {
            return Err(Unreadable("an expansion has no end"));
        }
        Ok(Part::Parameter(Box::new(Parameter { name, indirect, index, change })))
    }

    fn expect_keyword_brace(&mut self) -> Read<()> {
        if self.take("}") { Ok(()) } else { Err(Unreadable("an expansion has no end")) }
    }

    fn parameter_name(&mut self) -> Read<String> {
        let length = self.rest().bytes().take_while(|it| is_name(*it)).count();
        let length = match length {
            0 if b"@*#?-$!".contains(&self.peek()) => 1,
            0 => return Err(Unreadable("an expansion has no name")),
            other => other,
        };
        let name = self.rest().get(..length).unwrap_or_default().to_owned();
        self.skip(length);
        Ok(name)
    }

    /// `[…]` after a name.
    pub(super) fn index(&mut self) -> Read<Option<Word>> {
        if self.peek() != b'[' {
            return Ok(None);
        }
        self.skip(1);
        let parts = self.word_until(b"]")?;
        if !self.take("]") {
            return Err(Unreadable("an index has no end"));
        }
        Ok(Some(Word { parts }))
    }

    fn change(&mut self, quoted: bool) -> Read<Change> {
        let first = self.peek();
        let second = self.peek_at(1);
        Ok(match first {
            b':' if b"-=+?".contains(&second) => {
                self.skip(2);
                let word = self.operand(b"}", quoted)?;
                Change::Default { sign: char::from(second), or_empty: true, word }
            }
            b'-' | b'=' | b'+' | b'?' => {
                self.skip(1);
                let word = self.operand(b"}", quoted)?;
                Change::Default { sign: char::from(first), or_empty: false, word }
            }
            b':' => {
                self.skip(1);
                let offset = self.operand(b":}", quoted)?;
                let length = self.take(":").then(|| self.operand(b"}", quoted)).transpose()?;
                Change::Slice { offset, length }
            }
            b'#' | b'%' => {
                let longest = second == first;
                self.skip(if longest { 2 } else { 1 });
                let pattern = self.operand(b"}", false)?;
                Change::Strip { suffix: first == b'%', longest, pattern }
            }
            b'/' => {
                self.skip(1);
                let sign = self.peek();
                let all = sign == b'/';
                let anchor = matches!(sign, b'#' | b'%').then(|| char::from(sign));
                if all || anchor.is_some() {
                    self.skip(1);
                }
                let pattern = self.operand(b"/}", false)?;
                let with =
                    if self.take("/") { self.operand(b"}", quoted)? } else { Word::default() };
                Change::Replace { all, anchor, pattern, with }
            }
            b'^' | b',' | b'~' => {
                let all = second == first;
                self.skip(if all { 2 } else { 1 });
                // A pattern that says which letters: taken for all of them.
                self.operand(b"}", false)?;
                Change::Case { sign: char::from(first), all }
            }
            b'@' if second.is_ascii_alphabetic() => {
                self.skip(2);
                Change::Transform(char::from(second))
            }
            _ => Change::None,
        })
    }

    /// A word inside `${…}`: blanks are part of it.
    fn operand(&mut self, ends: &[u8], quoted: bool) -> Read<Word> {
        let parts = self.word_until(ends)?;
        let parts = if quoted { vec![Part::Double(unbared(parts))] } else { parts };
        Ok(Word { parts })
    }
}

/// In double quotes nothing is bare.
fn unbared(parts: Vec<Part>) -> Vec<Part> {
    let quote = |it| match it {
        Part::Bare(text) => Part::Quoted(text),
        Part::Quoted(_)
        | Part::Double(_)
        | Part::Parameter(_)
        | Part::Substitution(_)
        | Part::Arithmetic(_)
        | Part::Process { .. } => it,
    };
    parts.into_iter().map(quote).collect()
}
