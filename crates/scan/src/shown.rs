//! A text without what is not seen in it, or without what programs write between the letters of a value; and the way back.

use std::borrow::Cow;

use unicode_normalization::char::decompose_compatible;

use crate::text::resolve;

/// A text without some of its characters.
pub(crate) struct Shown<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Offset here, offset there.
    jumps: Vec<(usize, usize)>,
}

/// A place in a text, and the character that it stands for, if any.
type Piece = (usize, usize, Option<char>);

/// The longest tag or comment inside of a value, in bytes.
const TAG_BYTES_MAX: usize = 64;
/// Marks in a row that only change how letters look.
const MARKS_MAX: usize = 3;
/// Spaces between a string and the sign that joins it to the next one.
const JOINT_SPACES_MAX: usize = 80;

impl<'a> Shown<'a> {
    /// Takes invisible characters out of `text`.
    pub(crate) fn of(text: &'a str) -> Self {
        if text.is_ascii() {
            return Self { text: Cow::Borrowed(text), jumps: Vec::new() };
        }
        let hidden = text.char_indices().filter(|it| crate::is_invisible(it.1));
        Self::without(text, hidden.map(|(at, it)| (at, at + it.len_utf8(), None)).collect())
    }

    /// Returns the passages of `text` in which something keeps a value from being read as it is, without it, each with its place:
    /// invisible characters, escapes of letters that nobody has to escape, wide and ornate letters, markup inside of words, and what
    /// joins strings in programs. A passage has so many bytes around what was taken out.
    pub(crate) fn of_values(text: &'a str, around: usize) -> Vec<(usize, Self)> {
        let pieces = pieces(text);
        let mut passages: Vec<(usize, usize, Vec<Piece>)> = Vec::new();
        for (start, end, instead) in pieces {
            let from = text.floor_char_boundary(start.saturating_sub(around));
            let to = text.ceil_char_boundary(end.saturating_add(around).min(text.len()));
            match passages.last_mut() {
                Some(last) if from <= last.1 => {
                    last.1 = to.max(last.1);
                    last.2.push((start - last.0, end - last.0, instead));
                }
                Some(_) | None => {
                    passages.push((from, to, vec![(start - from, end - from, instead)]));
                }
            }
        }
        let shown = |(from, to, pieces): (usize, usize, Vec<Piece>)| {
            (from, Self::without(text.get(from..to).unwrap_or_default(), pieces))
        };
        passages.into_iter().map(shown).collect()
    }

    /// Puts characters in the place of pieces, which are in order.
    fn without(text: &'a str, pieces: Vec<Piece>) -> Self {
        if pieces.is_empty() {
            return Self { text: Cow::Borrowed(text), jumps: Vec::new() };
        }
        let (mut shown, mut jumps, mut from) =
            (String::with_capacity(text.len()), Vec::<(usize, usize)>::new(), 0);
        for (start, end, instead) in pieces {
            // Of pieces that overlap the first one counts.
            let Some(before) = text.get(from..start) else { continue };
            shown.push_str(before);
            shown.extend(instead);
            from = end;
            match jumps.last_mut() {
                // Of several jumps at one place the last one counts.
                Some(last) if last.0 == shown.len() => last.1 = end,
                Some(_) | None => jumps.push((shown.len(), end)),
            }
        }
        shown.push_str(text.get(from..).unwrap_or_default());
        Self { text: Cow::Owned(shown), jumps }
    }

    /// Returns the place in the original at which what stands here at `at` begins.
    pub(crate) fn original(&self, at: usize) -> usize {
        let jump = self.jumps.partition_point(|it| it.0 <= at).checked_sub(1);
        jump.and_then(|it| self.jumps.get(it)).map_or(at, |(here, there)| there + (at - here))
    }

    /// Returns the place in the original at which what ends here at `at` ends: what is not seen behind it stays outside.
    pub(crate) fn original_end(&self, at: usize) -> usize {
        let jump = self.jumps.partition_point(|it| it.0 < at).checked_sub(1);
        jump.and_then(|it| self.jumps.get(it)).map_or(at, |(here, there)| there + (at - here))
    }
}

/// What keeps values from being read as they are, in order.
fn pieces(text: &str) -> Vec<Piece> {
    let bytes = text.as_bytes();
    let mut all: Vec<Piece> = Vec::new();
    all.extend(memchr::memchr3_iter(b'%', b'&', b'\\', bytes).filter_map(|it| escaped(text, it)));
    all.extend(memchr::memchr3_iter(b'*', b'<', b'`', bytes).filter_map(|it| marked(text, it)));
    all.extend(memchr::memchr3_iter(b'+', b'&', b'\n', bytes).filter_map(|it| joint(bytes, it)));
    all.extend(memchr::memchr_iter(b'.', bytes).filter_map(|it| joint(bytes, it)));
    if !text.is_ascii() {
        let wide = text.char_indices().filter(|it| !it.1.is_ascii());
        all.extend(wide.filter_map(|(at, it)| {
            let plain = if crate::is_invisible(it) { None } else { Some(plain(it)?) };
            Some((at, at + it.len_utf8(), plain))
        }));
    }
    all.sort_unstable();
    all
}

/// An escape of a letter or a digit, or the end of a line that is none.
fn escaped(text: &str, at: usize) -> Option<Piece> {
    let rest = text.get(at..)?;
    if let Some(next) = rest.strip_prefix("\\\n") {
        let indent = next.len() - next.trim_start_matches([' ', '\t']).len();
        return Some((at, at + 2 + indent, None));
    }
    let (found, length) = resolve(rest)?;
    // `\n` and the like are spaces; what has to be escaped is no part of a value.
    is_of_value(found).then_some((at, at + length, Some(found)))
}

fn is_of_value(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '_' | '-')
}

/// The ASCII letter or digit that another character is a form of.
fn plain(found: char) -> Option<char> {
    let (mut first, mut count) = (None, 0);
    decompose_compatible(found, |it| {
        first.get_or_insert(it);
        count += 1;
    });
    first.filter(|it| count == 1 && is_of_value(*it))
}

/// Markup between two letters: `**`, ` `` `, a tag, a comment.
fn marked(text: &str, at: usize) -> Option<Piece> {
    let bytes = text.as_bytes();
    let is_letter = |it: &&u8| it.is_ascii_alphanumeric() || **it == b'_';
    at.checked_sub(1).and_then(|it| bytes.get(it)).filter(is_letter)?;
    let rest = text.get(at..)?;
    let length = match *bytes.get(at)? {
        b'<' => {
            let near = rest.get(..rest.floor_char_boundary(TAG_BYTES_MAX))?;
            near.find(if near.starts_with("<!--") { "-->" } else { ">" })
                .map(|it| it + if near.starts_with("<!--") { 3 } else { 1 })?
        }
        mark => bytes.get(at..)?.iter().take(MARKS_MAX).take_while(|it| **it == mark).count(),
    };
    bytes.get(at + length).filter(is_letter)?;
    Some((at, at + length, None))
}

/// Quotes around a sign that joins strings, or around the end of a line, with what lies between them: `" + "`, `'.'`.
fn joint(bytes: &[u8], at: usize) -> Option<Piece> {
    let is_space = |it: &&u8| matches!(**it, b' ' | b'\t' | b'\n' | b'\r');
    let before = bytes.get(..at)?.iter().rev().take(JOINT_SPACES_MAX);
    let start = at.checked_sub(before.take_while(is_space).count() + 1)?;
    let quote = bytes.get(start).filter(|it| matches!(it, b'"' | b'\'' | b'`'))?;
    let behind = bytes.get(at + 1..)?.iter().take(JOINT_SPACES_MAX);
    let next = at + 1 + behind.take_while(is_space).count();
    (bytes.get(next) == Some(quote)).then_some((start, next + 1, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_put_together_and_every_place_is_known() {
        for (text, shown) in [
            ("\"AK\" + \"IA\"", "\"AKIA\""),
            ("'AK'.'IA'", "'AKIA'"),
            ("AK\\\n   IA", "AKIA"),
            ("%41\\x4b&#73;\\u0041", "AKIA"),
            ("ＡＫ𝙸\u{200b}A", "AKIA"),
            ("A**K**I<b>A</b>X <!-- B<!-- c -->D", "AKIAX <!-- BD"),
            ("a%20b %zz \\n é ½ \"a\", \"b\"", "a%20b %zz \\n é ½ \"a\", \"b\""),
            ("3 + 4 & 5.", "3 + 4 & 5."),
        ] {
            let read = Shown::of_values(text, 100).pop();
            assert_eq!(read.map_or(text.into(), |it| it.1.text), shown, "{text}");
        }
        let text = "x %41B\" + \"C y";
        let (_, shown) = Shown::of_values(text, 100).pop().unwrap();
        assert_eq!(shown.text, "x ABC y");
        assert_eq!(text.get(shown.original(2)..shown.original_end(5)), Some("%41B\" + \"C"));
        let far = format!("a%41{}b%41", " ".repeat(100));
        let read = Shown::of_values(&far, 2);
        let read: Vec<(usize, &str)> = read.iter().map(|it| (it.0, &*it.1.text)).collect();
        assert_eq!(read, [(0, "aA  "), (103, " bA")]);
    }
}
