//! Words: quotes, escapes and what is expanded.

use super::cursor::{Cursor, Read};
use super::escape::ansi_c;
use super::{Part, Script, Unreadable, Word};

/// What ends a word outside quotes.
const ENDS: &[u8] = b" \t\r\n;&|()<>\0";

impl Cursor<'_> {
    /// A word, if one begins here.
    pub(super) fn word(&mut self) -> Read<Option<Word>> {
        let parts = self.word_until(ENDS)?;
        Ok((!parts.is_empty()).then_some(Word { parts }))
    }

    /// Parts up to one of `ends`, which stays. What is quoted or expanded can contain them.
    pub(super) fn word_until(&mut self, ends: &[u8]) -> Read<Vec<Part>> {
        self.enter()?;
        let mut parts = Vec::new();
        let mut bare = String::new();
        loop {
            let next = self.peek();
            let opens_group = next == b'(' && bare.ends_with(['?', '*', '+', '@', '!']);
            if matches!(next, b'<' | b'>') && self.peek_at(1) == b'(' && ends.contains(&b'<') {
                flush(&mut bare, &mut parts);
                self.skip(2);
                let script = self.script_until_paren()?;
                parts.push(Part::Process { script, is_input: next == b'<' });
                continue;
            }
            if opens_group {
                self.pattern_group(&mut bare)?;
                continue;
            }
            if ends.contains(&next) || self.is_done() {
                break;
            }
            match next {
                b'\\' => {
                    self.skip(1);
                    match self.next_char() {
                        Some('\n') => {}
                        Some(letter) => {
                            flush(&mut bare, &mut parts);
                            parts.push(Part::Quoted(letter.to_string()));
                        }
                        None => bare.push('\\'),
                    }
                }
                b'\'' | b'"' | b'$' | b'`' => {
                    flush(&mut bare, &mut parts);
                    self.special(&mut parts, ends)?;
                }
                _ => bare.extend(self.next_char()),
            }
        }
        flush(&mut bare, &mut parts);
        self.leave();
        Ok(parts)
    }

    /// `@(a|b)` of extended patterns is part of the word.
    fn pattern_group(&mut self, bare: &mut String) -> Read<()> {
        let from = self.at();
        let mut depth = 0_usize;
        while let Some(letter) = self.next_char() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                bare.push_str(self.since(from));
                return Ok(());
            }
        }
        Err(Unreadable("a pattern has no end"))
    }

    /// One part that begins with a quote, `$` or a backtick.
    fn special(&mut self, parts: &mut Vec<Part>, ends: &[u8]) -> Read<()> {
        match self.peek() {
            b'\'' => {
                self.skip(1);
                let end = self.rest().find('\'').ok_or(Unreadable("a quote has no end"))?;
                let text = self.rest().get(..end).unwrap_or_default().to_owned();
                self.skip(end + 1);
                parts.push(Part::Quoted(text));
            }
            b'"' => {
                self.skip(1);
                parts.push(Part::Double(self.quoted_parts(b'"')?));
                self.skip(1);
            }
            b'`' => parts.push(Part::Substitution(self.backticks(false)?)),
            _ => match self.peek_at(1) {
                b'\'' => {
                    self.skip(2);
                    let text = self.until_quote()?;
                    parts.push(Part::Quoted(ansi_c(text)));
                }
                b'"' => self.skip(1),
                _ => parts.push(self.dollar(ends)?),
            },
        }
        Ok(())
    }

    /// The inside of `$'…'`, as written.
    fn until_quote(&mut self) -> Read<&str> {
        let from = self.at();
        loop {
            match self.next_char() {
                Some('\\') => drop(self.next_char()),
                Some('\'') => {
                    let inside = self.since(from);
                    return Ok(inside.strip_suffix('\'').unwrap_or(inside));
                }
                Some(_) => {}
                None => return Err(Unreadable("a quote has no end")),
            }
        }
    }

    /// What stands in double quotes, up to `end`, which stays; 0 is the end of the text.
    pub(super) fn quoted_parts(&mut self, end: u8) -> Read<Vec<Part>> {
        self.enter()?;
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            if self.is_done() {
                if end == 0 {
                    break;
                }
                return Err(Unreadable("a quote has no end"));
            }
            let next = self.peek();
            if next == end {
                break;
            }
            match next {
                b'\\' => self.escape_in_quotes(&mut text, end),
                b'$' if !matches!(self.peek_at(1), b'"' | b'\'') => {
                    flush_quoted(&mut text, &mut parts);
                    parts.push(self.dollar(b"\"")?);
                }
                b'`' => {
                    flush_quoted(&mut text, &mut parts);
                    parts.push(Part::Substitution(self.backticks(end == b'"')?));
                }
                _ => text.extend(self.next_char()),
            }
        }
        flush_quoted(&mut text, &mut parts);
        self.leave();
        Ok(parts)
    }

    fn escape_in_quotes(&mut self, text: &mut String, end: u8) {
        self.skip(1);
        match self.next_char() {
            Some('\n') => {}
            Some(letter @ ('$' | '`' | '\\')) => text.push(letter),
            Some('"') if end == b'"' => text.push('"'),
            Some('}') if end == b'}' => text.push('}'),
            Some(other) => {
                text.push('\\');
                text.push(other);
            }
            None => text.push('\\'),
        }
    }

    /// `$…` of any kind; a lone `$` is text.
    fn dollar(&mut self, ends: &[u8]) -> Read<Part> {
        let quoted = ends == b"\"";
        self.skip(1);
        match self.peek() {
            b'(' if self.peek_at(1) == b'(' => {
                let from = self.at();
                self.skip(2);
                if let Some(inside) = self.arithmetic_until("))") {
                    return Ok(Part::Arithmetic(inside));
                }
                // `$( (…) …)` written without the blank.
                self.seek(from + 1);
                Ok(Part::Substitution(self.script_until_paren()?))
            }
            b'(' => {
                self.skip(1);
                Ok(Part::Substitution(self.script_until_paren()?))
            }
            b'[' => {
                self.skip(1);
                let inside = self.arithmetic_until("]");
                inside.map(Part::Arithmetic).ok_or(Unreadable("arithmetic has no end"))
            }
            b'{' => {
                self.skip(1);
                self.enter()?;
                let part = self.parameter(quoted)?;
                self.leave();
                Ok(part)
            }
            next if next.is_ascii_alphabetic() || next == b'_' => {
                let length = self.rest().bytes().take_while(|it| is_name(*it)).count();
                let name = self.rest().get(..length).unwrap_or_default().to_owned();
                self.skip(length);
                Ok(super::param::plain(name))
            }
            next if next.is_ascii_digit() || b"@*#?-$!".contains(&next) => {
                self.skip(1);
                Ok(super::param::plain(char::from(next).to_string()))
            }
            _ => Ok(Part::Quoted("$".to_owned())),
        }
    }

    /// After `$((`, `((` or `$[`: the expression, if `end` closes it.
    pub(super) fn arithmetic_until(&mut self, end: &str) -> Option<String> {
        let from = self.at();
        let mut depth = 0_usize;
        while !self.is_done() {
            if depth == 0 && self.rest().starts_with(end) {
                let inside = self.since(from).to_owned();
                self.skip(end.len());
                return Some(inside);
            }
            match self.next_char() {
                Some('(' | '[') => depth += 1,
                Some(')' | ']') => depth = depth.checked_sub(1)?,
                Some('\\') => drop(self.next_char()),
                Some(_) | None => {}
            }
        }
        None
    }

    /// The inside of backticks is unescaped once and read as a text of its own.
    fn backticks(&mut self, in_quotes: bool) -> Read<Script> {
        self.skip(1);
        let mut inside = String::new();
        loop {
            match self.next_char() {
                Some('`') => break,
                Some('\\') => match self.next_char() {
                    Some(letter @ ('`' | '\\' | '$')) => inside.push(letter),
                    Some('"') if in_quotes => inside.push('"'),
                    Some(other) => {
                        inside.push('\\');
                        inside.push(other);
                    }
                    None => return Err(Unreadable("backticks have no end")),
                },
                Some(other) => inside.push(other),
                None => return Err(Unreadable("backticks have no end")),
            }
        }
        self.enter()?;
        let script = Cursor::new(&inside, self.depth()).whole()?;
        self.leave();
        Ok(script)
    }
}

pub(super) fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn flush(bare: &mut String, parts: &mut Vec<Part>) {
    if !bare.is_empty() {
        parts.push(Part::Bare(std::mem::take(bare)));
    }
}

fn flush_quoted(text: &mut String, parts: &mut Vec<Part>) {
    if !text.is_empty() {
        parts.push(Part::Quoted(std::mem::take(text)));
    }
}
