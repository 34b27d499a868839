//! Redirections: to and from files, here-documents, here-strings.

use super::cursor::{Cursor, Read};
use super::{Part, Redirect, RedirectKind, Unreadable, Word};

/// From long to short.
const OPERATORS: [(&str, RedirectKind); 11] = [
    ("&>>", RedirectKind::WriteBoth),
    ("<<<", RedirectKind::HereText),
    ("<<", RedirectKind::HereText),
    ("&>", RedirectKind::WriteBoth),
    (">>", RedirectKind::Write),
    (">|", RedirectKind::Write),
    (">&", RedirectKind::Duplicate),
    ("<&", RedirectKind::Duplicate),
    ("<>", RedirectKind::ReadWrite),
    (">", RedirectKind::Write),
    ("<", RedirectKind::Read),
];

impl Cursor<'_> {
    /// A redirection, if one begins here.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let start = self.at();
        let fd = self.descriptor();
        let next = (self.peek(), self.peek_at(1));
        // `<(…)` and `>(…)` are words.
        if matches!(next, (b'<' | b'>', b'(')) {
            self.seek(start);
            return Ok(None);
        }
        let found = OPERATORS.iter().find(|it| self.rest().starts_with(it.0));
        let Some((sign, kind)) = found else {
            self.seek(start);
            return Ok(None);
        };
        self.skip(sign.len());
        if *sign == "<<" {
            let target = self.here_document()?;
            return Ok(Some(Redirect { fd, kind: *kind, target }));
        }
        self.blanks();
        let mut target = self.word()?.ok_or(Unreadable("a redirection has no target"))?;
        if *sign == "<<<" {
            target.parts.push(Part::Quoted("\n".to_owned()));
        }
        let fd = fd.or(matches!(*sign, "<" | "<&" | "<>" | "<<<").then_some(0));
        Ok(Some(Redirect { fd, kind: *kind, target }))
    }

    /// `2` of `2>`, `{name}` of `{name}>`; nothing is taken if no redirection follows.
    fn descriptor(&mut self) -> Option<u32> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let after = self.peek_at(digits);
        if digits > 0 && matches!(after, b'<' | b'>') {
            let fd = self.rest().get(..digits).and_then(|it| it.parse().ok());
            self.skip(digits);
            return Some(fd.unwrap_or(u32::MAX));
        }
        let named = self.rest().strip_prefix('{').and_then(|it| it.split_once('}'));
        if let Some((name, after)) = named
            && !name.is_empty()
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
            && after.starts_with(['<', '>'])
        {
            self.skip(name.len() + 2);
            return Some(u32::MAX);
        }
        None
    }

    /// After `<<`: the delimiter here, the text from the next line on.
    fn here_document(&mut self) -> Read<Word> {
        let strip = self.take("-");
        self.blanks();
        let from = self.at();
        let word = self.word()?.ok_or(Unreadable("a here-document has no delimiter"))?;
        let raw = self.since(from);
        let is_quoted = raw.contains(['\'', '"', '\\']);
        let delimiter = literal(&word).ok_or(Unreadable("a here-document has an odd delimiter"))?;
        let line_end = self.rest().find('\n').map(|it| self.at() + it);
        let (line_end, start) = match (self.resume, line_end) {
            (Some((end, to)), _) => (end, to),
            (None, Some(end)) => (end, end + 1),
            (None, None) => return Err(Unreadable("a here-document has no text")),
        };
        let (end, after) = self.find_end(start, &delimiter, strip)?;
        self.resume = Some((line_end, after));
        let parts = self.within(start, end, |inner| {
            if is_quoted {
                let text = inner.rest().to_owned();
                return Ok(vec![Part::Quoted(text)]);
            }
            inner.quoted_parts(0)
        })?;
        Ok(Word { parts: vec![Part::Double(parts)] })
    }

    /// Where the text ends, and where the line after its delimiter begins.
    fn find_end(&mut self, start: usize, delimiter: &str, strip: bool) -> Read<(usize, usize)> {
        let here = self.at();
        self.seek(start);
        let text = self.rest();
        self.seek(here);
        let mut at = start;
        for line in text.split_inclusive('\n') {
            let bare = line.trim_end_matches('\n');
            let bare = if strip { bare.trim_start_matches('\t') } else { bare };
            if bare == delimiter {
                return Ok((at, at + line.len()));
            }
            at += line.len();
        }
        Err(Unreadable("a here-document has no end"))
    }
}

fn literal(word: &Word) -> Option<String> {
    let mut text = String::new();
    for part in &word.parts {
        match part {
            Part::Bare(it) | Part::Quoted(it) => text.push_str(it),
            Part::Double(parts) => {
                text.push_str(&literal(&Word { parts: parts.clone() })?);
            }
            Part::Parameter(_)
            | Part::Substitution(_)
            | Part::Arithmetic(_)
            | Part::Process { .. } => return None,
        }
    }
    Some(text)
}
