//! Cuts the text of a style sheet into tokens, as the standard says.

use std::borrow::Cow;

use super::css::Token;

/// Reads a text token by token.
pub(super) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Where the next token begins, what it is, and where it ends.
    pub(super) fn token(&mut self) -> Option<(usize, Token<'a>, usize)> {
        while self.rest().starts_with("/*") {
            let end = self.text.get(self.at + 2..).and_then(|it| it.find("*/"));
            self.at = end.map_or(self.text.len(), |it| self.at + it + 4);
        }
        let first = self.byte(0)?;
        let start = self.at;
        let token = match first {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                while self.byte(0).is_some_and(is_blank) {
                    self.at += 1;
                }
                Token::Space
            }
            b'"' | b'\'' => self.string(first),
            b'#' if self.is_name(1) || self.is_escape(1) => {
                let valid = self.begins_name(1);
                self.at += 1;
                Token::Hash(self.name(), valid)
            }
            b'@' if self.begins_name(1) => {
                self.at += 1;
                Token::At(self.name())
            }
            b'<' if self.rest().starts_with("<!--") => {
                self.at += 4;
                Token::Mark
            }
            b'-' if self.rest().starts_with("-->") => {
                self.at += 3;
                Token::Mark
            }
            _ if self.begins_number() => self.number(),
            _ if self.begins_name(0) => self.named(),
            _ => {
                let sign = self.rest().chars().next()?;
                self.at += sign.len_utf8();
                Token::Sign(sign)
            }
        };
        Some((start, token, self.at))
    }

    fn is_name(&self, ahead: usize) -> bool {
        self.byte(ahead).is_some_and(|it| {
            it.is_ascii_alphanumeric() || it == b'-' || it == b'_' || it >= 0x80 || it == 0
        })
    }

    fn is_escape(&self, ahead: usize) -> bool {
        self.byte(ahead) == Some(b'\\') && self.byte(ahead + 1).is_none_or(|it| !is_line_end(it))
    }

    fn begins_name(&self, ahead: usize) -> bool {
        let starts = |at| {
            self.is_escape(at)
                || (self.is_name(at)
                    && self.byte(at).is_some_and(|it| !it.is_ascii_digit() && it != b'-'))
        };
        match self.byte(ahead) {
            Some(b'-') => self.byte(ahead + 1) == Some(b'-') || starts(ahead + 1),
            Some(_) | None => starts(ahead),
        }
    }

    fn begins_number(&self) -> bool {
        let digit = |at| self.byte(at).is_some_and(|it| it.is_ascii_digit());
        let sign = usize::from(matches!(self.byte(0), Some(b'+' | b'-')));
        digit(sign) || (self.byte(sign) == Some(b'.') && digit(sign + 1))
    }

    fn digits(&mut self) {
        while self.byte(0).is_some_and(|it| it.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Token<'a> {
        let start = self.at;
        self.at += usize::from(matches!(self.byte(0), Some(b'+' | b'-')));
        self.digits();
        if self.byte(0) == Some(b'.') && self.byte(1).is_some_and(|it| it.is_ascii_digit()) {
            self.at += 1;
            self.digits();
        }
        let sign = usize::from(matches!(self.byte(1), Some(b'+' | b'-')));
        if matches!(self.byte(0), Some(b'e' | b'E'))
            && self.byte(1 + sign).is_some_and(|it| it.is_ascii_digit())
        {
            self.at += 1 + sign;
            self.digits();
        }
        let value = self.text.get(start..self.at).and_then(|it| it.parse().ok()).unwrap_or(0.0);
        if self.byte(0) == Some(b'%') {
            self.at += 1;
            Token::Share(value)
        } else if self.begins_name(0) {
            let unit = self.name();
            let plain = !unit.bytes().any(|it| it.is_ascii_uppercase());
            Token::Length(value, if plain { unit } else { unit.to_ascii_lowercase().into() })
        } else {
            Token::Number(value)
        }
    }

    fn named(&mut self) -> Token<'a> {
        let name = self.name();
        if self.byte(0) != Some(b'(') {
            return Token::Word(name);
        }
        self.at += 1;
        let first = self.rest().bytes().find(|it| !is_blank(*it));
        if name.eq_ignore_ascii_case("url") && !matches!(first, Some(b'"' | b'\'')) {
            return self.address();
        }
        Token::Call(name)
    }

    /// A name, with its escapes resolved.
    fn name(&mut self) -> Cow<'a, str> {
        let start = self.at;
        let mut owned: Option<String> = None;
        let mut done = start;
        loop {
            if self.is_name(0) {
                self.at += 1;
            } else if self.is_escape(0) {
                let text = owned.get_or_insert_default();
                text.push_str(self.text.get(done..self.at).unwrap_or_default());
                text.push(self.escape());
                done = self.at;
            } else {
                break;
            }
        }
        let last = self.text.get(done..self.at).unwrap_or_default();
        match owned {
            Some(text) => Cow::Owned(text + last),
            None => Cow::Borrowed(last),
        }
    }

    /// `\64 ` or `\:`.
    fn escape(&mut self) -> char {
        self.at += 1;
        let (mut code, mut digits) = (0, 0);
        while let Some(digit) = self.byte(0).and_then(|it| char::from(it).to_digit(16))
            && digits < 6
        {
            (code, digits) = (code * 16 + digit, digits + 1);
            self.at += 1;
        }
        if digits == 0 {
            let one = self.rest().chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
            self.at = (self.at + one.len_utf8()).min(self.text.len());
            return one;
        }
        if self.rest().starts_with("\r\n") {
            self.at += 2;
        } else if self.byte(0).is_some_and(is_blank) {
            self.at += 1;
        }
        char::from_u32(code).filter(|it| *it != '\0').unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn string(&mut self, quote: u8) -> Token<'a> {
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.byte(0) {
                None => return Token::Text(text.into()),
                Some(it) if it == quote => {
                    self.at += 1;
                    return Token::Text(text.into());
                }
                Some(it) if is_line_end(it) => return Token::Broken,
                Some(b'\\') if self.is_escape(0) && self.byte(1).is_some() => {
                    text.push(self.escape());
                }
                // An escaped end of line is nothing.
                Some(b'\\') => {
                    self.at += if self.rest().starts_with("\\\r\n") { 3 } else { 2 };
                    self.at = self.at.min(self.text.len());
                }
                Some(_) => {
                    let one = self.rest().chars().next().unwrap_or_default();
                    self.at += one.len_utf8();
                    text.push(one);
                }
            }
        }
    }

    /// An address without quotes, or what is left of a broken one.
    fn address(&mut self) -> Token<'a> {
        let mut text = String::new();
        let mut broken = false;
        while let Some(one) = self.rest().chars().next() {
            if self.is_escape(0) {
                text.push(self.escape());
                continue;
            }
            self.at += one.len_utf8();
            match one {
                ')' => break,
                '"' | '\'' | '(' | '\\' => broken = true,
                _ if one.is_ascii_whitespace() => {
                    while self.byte(0).is_some_and(is_blank) {
                        self.at += 1;
                    }
                    broken |= !text.is_empty() && !matches!(self.byte(0), Some(b')') | None);
                }
                _ if one.is_control() => broken = true,
                _ => text.push(one),
            }
        }
        if broken { Token::Broken } else { Token::Url(text.into()) }
    }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c')
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r' | b'\x0c')
}
