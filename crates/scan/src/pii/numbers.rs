//! Numbers of people and firms, by the rule file.

use std::ops::Range;
use std::sync::LazyLock;

use super::checks::{Check, Digits, check};
use super::context::PHONE_WORDS;
use super::span::{COMPACT_MAX, Candidate, Outline};
use super::{Confidence, Personal};

struct Rule {
    id: &'static str,
    form: &'static [u8],
    /// The check digits, if it has any.
    check: Option<Check>,
    /// The places of its words among all words.
    words: Range<usize>,
    /// Are the separators part of the form?
    separated: bool,
    /// Places that must be digits, and those that must be letters, separators left out: a bit for each.
    digits: u64,
    letters: u64,
}

/// The rules, by how many letters and digits their numbers have.
struct Rules {
    by_chars: [Vec<Rule>; COMPACT_MAX + 1],
    /// For each of these, how many letters there may be: a bit for each number.
    letters: [u64; COMPACT_MAX + 1],
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut all =
        Rules { by_chars: std::array::from_fn(|_| Vec::new()), letters: [0; COMPACT_MAX + 1] };
    let mut words = PHONE_WORDS.end;
    for line in lines() {
        let Some(rule) = rule(line, &mut words) else { continue };
        let chars = rule.form.iter().filter(|it| it.is_ascii_alphanumeric()).count();
        let (least, digits) =
            (rule.letters.count_ones() as usize, rule.digits.count_ones() as usize);
        if let (Some(letters), Some(rules)) =
            (all.letters.get_mut(chars), all.by_chars.get_mut(chars))
        {
            (least..=chars.saturating_sub(digits)).for_each(|count| *letters |= 1 << count);
            rules.push(rule);
        }
    }
    all
});

fn lines() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("../../rules/pii/numbers.rules").lines().map(str::trim);
    lines.filter(|it| !it.is_empty() && !it.starts_with('#'))
}

/// Goes through the words of the rules, in their order.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    lines().flat_map(words_of)
}

fn words_of(line: &'static str) -> impl Iterator<Item = &'static str> {
    let words = line.split(" |").nth(4).unwrap_or_default().trim();
    words.split(", ").filter(|it| !it.is_empty())
}

/// The rule of a line. Its words stand at `words` among all, which is set behind them.
fn rule(line: &'static str, words: &mut usize) -> Option<Rule> {
    let first = *words;
    *words += words_of(line).count();
    let mut fields = line.split(" |").map(str::trim);
    let (id, _, form) = (fields.next()?, fields.next()?, fields.next()?);
    let check = match fields.next()? {
        "-" => None,
        name => Some(check(name)?),
    };
    let separated = form.bytes().any(|it| !it.is_ascii_alphanumeric());
    let places = |is: fn(u8) -> bool| {
        let chars = form.bytes().filter(u8::is_ascii_alphanumeric);
        chars.enumerate().filter(|it| is(it.1)).fold(0, |all, it| all | 1_u64 << it.0)
    };
    let digits = places(|it| it == b'd' || it.is_ascii_digit());
    let letters = places(|it| it.is_ascii_uppercase() && it != b'X');
    let form = form.as_bytes();
    Some(Rule { id, form, check, words: first..*words, separated, digits, letters })
}

/// Tells whether a rule may fit something of this outline.
pub(super) fn may_fit(outline: Outline) -> bool {
    RULES.letters.get(outline.chars).is_some_and(|it| (it >> outline.letters) & 1 == 1)
}

/// Returns the number that a part of a run is, by the first rule that fits.
pub(super) fn find(candidate: &Candidate<'_>) -> Option<Personal> {
    if candidate.has_odd_mark() {
        return None;
    }
    let compact = candidate.compact();
    let rules = RULES.by_chars.get(compact.len())?;
    let letters = places(compact, u8::is_ascii_alphabetic);
    let digits = places(compact, u8::is_ascii_digit);
    let has_form = |it: &&Rule| {
        it.digits & !digits == 0 && it.letters & !letters == 0 && it.has_form(candidate)
    };
    let values = Digits::of(compact);
    let rule = rules.iter().filter(has_form).find(|it| it.fits(candidate, &values))?;
    let (id, kind, confidence) = (rule.id, kind(rule.id), rule.confidence());
    Some(Personal { rule: id, kind, confidence, start: candidate.start, end: candidate.end })
}

/// A bit for each byte of this kind.
fn places(bytes: &[u8], is: fn(&u8) -> bool) -> u64 {
    bytes.iter().rev().fold(0, |all, it| all << 1 | u64::from(is(it)))
}

impl Rule {
    fn has_form(&self, candidate: &Candidate<'_>) -> bool {
        let value = if self.separated { candidate.written() } else { candidate.compact() };
        value.len() == self.form.len()
            && value.iter().zip(self.form).all(|(byte, class)| is_in(*class, *byte))
    }

    /// Returns what a number that fits has on its side.
    fn confidence(&self) -> Confidence {
        match (self.check.is_some(), self.words.is_empty()) {
            (true, _) => Confidence::Checked,
            (false, true) => Confidence::Form,
            (false, false) => Confidence::Words,
        }
    }

    /// Tells whether its check digits are right, and what stands around it speaks for it.
    fn fits(&self, candidate: &Candidate<'_>, digits: &Digits) -> bool {
        let alone = self.check.is_some() && candidate.is_alone();
        let is_called_so = || match self.words.is_empty() {
            true => !candidate.is_in_number(),
            false => candidate.near().has(self.words.clone()),
        };
        let passes = || self.check.is_none_or(|it| it(candidate.compact(), digits.as_slice()));
        (alone || is_called_so()) && passes()
    }
}

fn is_in(class: u8, byte: u8) -> bool {
    match class {
        b'd' => byte.is_ascii_digit(),
        b'L' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_alphanumeric(),
        b'X' => byte.is_ascii_digit() || byte.eq_ignore_ascii_case(&b'X'),
        _ => byte.eq_ignore_ascii_case(&class),
    }
}

/// What is shown in the place of a number.
fn kind(id: &'static str) -> &'static str {
    if id.starts_with("ssn") {
        "ssn"
    } else if id.starts_with("passport") {
        "passport"
    } else if id.starts_with("mobile") {
        "phone"
    } else {
        "national_id"
    }
}

/// The lines of a passport that machines read.
pub(super) fn passport_line(text: &str, all: &mut Vec<Personal>) {
    for start in memchr::memmem::find_iter(text.as_bytes(), b"P<") {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest
            .bytes()
            .take(44)
            .take_while(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || *it == b'<')
            .count();
        let line = rest.get(..length).unwrap_or_default();
        if length >= 16 && line.contains("<<") {
            all.push(Personal {
                rule: "passport-line",
                kind: "passport",
                confidence: Confidence::Form,
                start,
                end: start + length,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_rule_with_a_check_that_exists() {
        let rules: Vec<&Rule> = RULES.by_chars.iter().flatten().collect();
        assert_eq!(rules.len(), lines().count());
        for rule in rules {
            let line = lines().find(|it| it.split(" |").next() == Some(rule.id)).unwrap();
            assert_eq!(rule.words.len(), words_of(line).count(), "{line}");
        }
    }
}
