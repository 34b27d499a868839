//! Runs of letters and digits with single separators: what a number can stand in.

use std::cell::OnceCell;

use super::context::{Context, Near};

/// A run, in groups of letters and digits.
pub(super) struct Span {
    /// Where the groups stand, and how many letters and digits there are before each.
    groups: [Group; GROUPS_MAX],
    count: usize,
}

#[derive(Clone, Copy, Default)]
struct Group {
    start: usize,
    end: usize,
    /// Letters and digits of the groups before.
    chars_before: usize,
    /// Digits of the groups before, and in this one.
    digits_before: usize,
    digits: usize,
}

/// A part of a run: some groups in a row.
pub(super) struct Candidate<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) start: usize,
    pub(super) end: usize,
    compact: [u8; COMPACT_MAX],
    chars: usize,
    pub(super) letters: usize,
    near: OnceCell<Near>,
}

/// Groups in one run: an IBAN in fours has nine.
const GROUPS_MAX: usize = 10;
/// Letters and digits in one candidate.
pub(super) const COMPACT_MAX: usize = 40;

/// Goes through the runs of a text that have a digit in them.
pub(super) fn spans(text: &str) -> impl Iterator<Item = Span> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let digit = next_digit(bytes, at)?;
        let mut start = digit;
        // Back to the beginning of the word, but not into the run before.
        while start > at && bytes.get(start - 1).is_some_and(u8::is_ascii_alphanumeric) {
            start -= 1;
        }
        let (span, end) = Span::at(bytes, start);
        at = end.max(digit + 1);
        Some(span)
    })
}

/// Returns the place of the first digit from `at` on. Many bytes are looked at at once.
pub(super) fn next_digit(bytes: &[u8], mut at: usize) -> Option<usize> {
    const CHUNK_BYTES: usize = 64;
    let is_digit = |it: &u8| it.wrapping_sub(b'0') < 10;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk::<CHUNK_BYTES>) {
        if chunk.iter().fold(false, |any, it| any | is_digit(it)) {
            break;
        }
        at += CHUNK_BYTES;
    }
    bytes.get(at..)?.iter().position(is_digit).map(|it| at + it)
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | b'_' | b':')
}

impl Span {
    /// The run that begins at `start`, and where it was left.
    fn at(bytes: &[u8], start: usize) -> (Self, usize) {
        let mut span = Self { groups: [Group::default(); GROUPS_MAX], count: 0 };
        let (mut at, mut chars_before, mut digits_before) = (start, 0, 0);
        for group in &mut span.groups {
            let rest = bytes.get(at..).unwrap_or_default();
            let (mut chars, mut digits) = (0, 0);
            for byte in rest.iter().take_while(|it| it.is_ascii_alphanumeric()) {
                chars += 1;
                digits += usize::from(byte.is_ascii_digit());
            }
            if chars == 0 {
                break;
            }
            let end = at + chars;
            *group = Group { start: at, end, chars_before, digits_before, digits };
            span.count += 1;
            chars_before += chars;
            digits_before += digits;
            at = end;
            let marks = bytes.iter().skip(end).take(2).take_while(|it| is_separator(**it)).count();
            let next = bytes.get(end + marks);
            if marks == 0 || !next.is_some_and(u8::is_ascii_alphanumeric) {
                break;
            }
            at = end + marks;
        }
        (span, at)
    }

    /// Goes through the parts of the run that begin and end with a group and may be a number by what `is_wanted` says of
    /// their [`Outline`]; the longest of each beginning first.
    pub(super) fn candidates<'a>(
        &self,
        context: &'a Context<'a>,
        is_wanted: fn(Outline) -> bool,
    ) -> impl Iterator<Item = Candidate<'a>> {
        let groups = self.groups.get(..self.count).unwrap_or_default();
        groups.iter().enumerate().flat_map(move |(at, first)| {
            let last = groups.get(at..).unwrap_or_default().iter().rev();
            let like_iban = begins_like_iban(context.text.as_bytes(), *first);
            last.filter_map(move |last| {
                let chars = last.chars_before + (last.end - last.start) - first.chars_before;
                let digits = last.digits_before + last.digits - first.digits_before;
                let outline = Outline { chars, letters: chars - digits, like_iban };
                let fits = chars <= COMPACT_MAX && digits > 0 && is_wanted(outline);
                fits.then(|| Candidate::new(context, first.start, last.end, chars - digits))
            })
        })
    }
}

/// What is known of a part of a run before anybody reads it.
#[derive(Clone, Copy)]
pub(super) struct Outline {
    /// Letters and digits.
    pub(super) chars: usize,
    pub(super) letters: usize,
    /// May it begin with two letters and two digits?
    pub(super) like_iban: bool,
}

/// Tells whether a group may be the first one of an IBAN: two letters, then two digits, as far as it goes.
fn begins_like_iban(bytes: &[u8], group: Group) -> bool {
    let word = bytes.get(group.start..group.end).unwrap_or_default();
    let (country, check) = word.split_at(word.len().min(2));
    country.iter().all(u8::is_ascii_alphabetic) && check.iter().take(2).all(u8::is_ascii_digit)
}

impl<'a> Candidate<'a> {
    fn new(context: &'a Context<'a>, start: usize, end: usize, letters: usize) -> Self {
        let (compact, near) = ([0; COMPACT_MAX], OnceCell::new());
        let mut all = Self { context, start, end, compact, chars: 0, letters, near };
        let bytes = context.text.as_bytes().get(start..end).unwrap_or_default();
        let chars = bytes.iter().filter(|it| it.is_ascii_alphanumeric());
        for (to, from) in all.compact.iter_mut().zip(chars) {
            *to = from.to_ascii_uppercase();
            all.chars += 1;
        }
        all
    }

    /// Letters and digits alone, in upper case.
    pub(super) fn compact(&self) -> &[u8] {
        self.compact.get(..self.chars).unwrap_or_default()
    }

    /// Returns it as it is written.
    pub(super) fn written(&self) -> &[u8] {
        self.context.text.as_bytes().get(self.start..self.end).unwrap_or_default()
    }

    /// Tells whether the text is nothing else: then somebody asks about just this.
    pub(super) fn is_alone(&self) -> bool {
        self.context.trimmed_len == self.end - self.start
    }

    /// Tells whether there is a mark in it that no number has.
    pub(super) fn has_odd_mark(&self) -> bool {
        self.written().iter().any(|it| matches!(it, b':' | b'_'))
    }

    /// Returns the words that stand shortly before, or just behind.
    pub(super) fn near(&self) -> Near {
        *self.near.get_or_init(|| self.context.near(self.start, self.end))
    }

    /// Tells whether letters, digits or a point with a digit go on before or behind it.
    pub(super) fn is_part_of_more(&self) -> bool {
        let bytes = self.context.text.as_bytes();
        let at = |place: Option<usize>| place.and_then(|it| bytes.get(it)).copied();
        let before = at(self.start.checked_sub(1));
        let behind = (at(Some(self.end)), at(Some(self.end + 1)));
        let joins = |mark: Option<u8>| matches!(mark, Some(b'.' | b'-' | b'_' | b'/' | b':'));
        let digit = |byte: Option<u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric());
        let goes_on = digit(behind.0) || (joins(behind.0) && digit(behind.1));
        let came = digit(before)
            || (joins(before) && before != Some(b':') && digit(at(self.start.checked_sub(2))));
        goes_on || came
    }

    /// Tells whether another group with digits stands next to it: then it is a part of something longer.
    pub(super) fn is_in_number(&self) -> bool {
        let bytes = self.context.text.as_bytes();
        let before = self.start.checked_sub(2).and_then(|it| bytes.get(it..self.start));
        let behind = bytes.get(self.end..self.end + 2);
        matches!(before, Some([digit, b' ' | b'-']) if digit.is_ascii_digit())
            || matches!(behind, Some([b' ' | b'-', digit]) if digit.is_ascii_digit())
    }
}
