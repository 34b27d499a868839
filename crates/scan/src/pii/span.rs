//! Runs of letters and digits with single separators: what a number can stand in.

/// A run, in groups of letters and digits.
pub(super) struct Span<'a> {
    pub(super) text: &'a str,
    /// Where the groups stand.
    groups: Vec<(usize, usize)>,
}

/// A part of a run: some groups in a row.
pub(super) struct Candidate<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Letters and digits alone, in upper case.
    pub(super) compact: Vec<u8>,
}

/// Groups in one run: an IBAN in fours has nine.
const GROUPS_MAX: usize = 10;
/// Letters and digits in one candidate.
const COMPACT_MAX: usize = 40;
/// How far before a number words are looked for, in bytes.
const CONTEXT_BYTES: usize = 64;

/// Returns the runs of `text` that have a digit in them.
pub(super) fn spans(text: &str) -> Vec<Span<'_>> {
    let bytes = text.as_bytes();
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(digit) = bytes.get(at..).and_then(|it| it.iter().position(u8::is_ascii_digit)) {
        let mut start = at + digit;
        // Back to the beginning of the word, but not into the run before.
        while start > at && bytes.get(start - 1).is_some_and(u8::is_ascii_alphanumeric) {
            start -= 1;
        }
        let (groups, end) = groups(bytes, start);
        if !groups.is_empty() {
            all.push(Span { text, groups });
        }
        at = end.max(at + digit + 1);
    }
    all
}

fn groups(bytes: &[u8], start: usize) -> (Vec<(usize, usize)>, usize) {
    let (mut groups, mut at) = (Vec::new(), start);
    while groups.len() < GROUPS_MAX {
        let length = bytes.iter().skip(at).take_while(|it| it.is_ascii_alphanumeric()).count();
        if length == 0 {
            break;
        }
        groups.push((at, at + length));
        let end = at + length;
        at = end;
        let separator = bytes.iter().skip(end).take(2).take_while(|it| is_separator(**it)).count();
        let next = bytes.get(end + separator);
        if separator == 0 || !next.is_some_and(u8::is_ascii_alphanumeric) {
            break;
        }
        at = end + separator;
    }
    (groups, at)
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | b'_' | b':')
}

impl<'a> Span<'a> {
    /// Returns every part of the run that begins and ends with a group, the longest of each beginning first.
    pub(super) fn candidates(&self) -> impl Iterator<Item = Candidate<'a>> {
        let count = self.groups.len();
        (0..count).flat_map(move |first| {
            (first..count).rev().filter_map(move |last| self.candidate(first, last))
        })
    }

    fn candidate(&self, first: usize, last: usize) -> Option<Candidate<'a>> {
        let (start, _) = *self.groups.get(first)?;
        let (_, end) = *self.groups.get(last)?;
        let bytes = self.text.as_bytes().get(start..end)?;
        let compact: Vec<u8> = bytes
            .iter()
            .filter(|it| it.is_ascii_alphanumeric())
            .map(u8::to_ascii_uppercase)
            .take(COMPACT_MAX + 1)
            .collect();
        (compact.len() <= COMPACT_MAX && compact.iter().any(u8::is_ascii_digit))
            .then_some(Candidate { text: self.text, start, end, compact })
    }
}

impl Candidate<'_> {
    /// Returns it as it is written.
    pub(super) fn written(&self) -> &[u8] {
        self.text.as_bytes().get(self.start..self.end).unwrap_or_default()
    }

    /// Tells whether the text is nothing else: then somebody asks about just this.
    pub(super) fn is_alone(&self) -> bool {
        self.text.trim().len() == self.end - self.start
    }

    /// Tells whether one of the words stands shortly before, or just behind.
    pub(super) fn is_near(&self, words: &[&str]) -> bool {
        if words.is_empty() {
            return true;
        }
        let from = self.text.floor_char_boundary(self.start.saturating_sub(CONTEXT_BYTES));
        let to = self.text.ceil_char_boundary((self.end + CONTEXT_BYTES / 2).min(self.text.len()));
        let around = self.text.get(from..to).unwrap_or_default().to_lowercase();
        words.iter().any(|it| has_word(&around, it))
    }

    /// Tells whether letters, digits or a point with a digit go on before or behind it.
    pub(super) fn is_part_of_more(&self) -> bool {
        let bytes = self.text.as_bytes();
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
}

impl Candidate<'_> {
    /// Tells whether another group with digits stands next to it: then it is a part of something longer.
    pub(super) fn is_in_number(&self) -> bool {
        let bytes = self.text.as_bytes();
        let before = self.start.checked_sub(2).and_then(|it| bytes.get(it..self.start));
        let behind = bytes.get(self.end..self.end + 2);
        matches!(before, Some([digit, b' ' | b'-']) if digit.is_ascii_digit())
            || matches!(behind, Some([b' ' | b'-', digit]) if digit.is_ascii_digit())
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let letter = |it: Option<char>| it.is_some_and(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|it| it.chars().next_back());
        let behind = text.get(at + word.len()..).and_then(|it| it.chars().next());
        !letter(before) && !letter(behind)
    })
}
