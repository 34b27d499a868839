//! Characters of our own inside expanded text: what is not known, and what is a pattern.
//!
//! They are of a private-use area; those that stand in the input are replaced before it is read, so
//! that nobody can forge one.

use crate::limits::MATCH_STEPS_MAX;

/// Text that only a run would show.
pub(super) const HOLE: char = '\u{E000}';
/// A variable that this text does not set: most likely nothing.
pub(super) const UNSET: char = '\u{E001}';
/// `*`, `?` and `[` that were not quoted.
const STAR: char = '\u{E002}';
const ANY: char = '\u{E003}';
const CLASS: char = '\u{E004}';
/// What follows came from somebody else's machine.
pub(super) const NETWORK: char = '\u{E007}';
/// Behind a hole: a program of its own made it of a text that is known, and is not followed.
pub(super) const CODED: char = '\u{E009}';
/// Where words are split that came out of an expansion; only while a word is expanded.
pub(super) const SPLIT: char = '\u{E005}';
/// Behind a hole: what was found has a name of what a work makes again.
pub(super) const REMADE: char = '\u{E008}';
const MARKS: std::ops::RangeInclusive<char> = '\u{E000}'..='\u{E00F}';

/// Replaces marks that are not ours.
pub(super) fn without_forged(text: &str) -> Option<String> {
    let forged = |it: char| MARKS.contains(&it);
    text.contains(forged).then(|| text.replace(forged, "\u{FFFD}"))
}

/// Makes patterns of the letters that are patterns outside quotes.
pub(super) fn with_patterns(text: &str) -> String {
    if !text.contains(['*', '?', '[']) {
        return text.to_owned();
    }
    text.chars().map(pattern).collect()
}

pub(super) fn pattern(letter: char) -> char {
    match letter {
        '*' => STAR,
        '?' => ANY,
        '[' => CLASS,
        other => other,
    }
}

/// Every mark begins with this byte.
fn may_have_marks(text: &str) -> bool {
    text.as_bytes().contains(&0xee)
}

/// As it would be written.
pub(super) fn shown(text: &str) -> String {
    if !may_have_marks(text) {
        return text.to_owned();
    }
    // Which one it is, only a run would show.
    if text.contains(REMADE) {
        return "$…".to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            HOLE => shown.push_str("$…"),
            UNSET | NETWORK | CODED => {}
            STAR => shown.push('*'),
            ANY => shown.push('?'),
            CLASS => shown.push('['),
            other => shown.push(other),
        }
    }
    shown
}

/// With patterns as letters; what is not set is nothing.
pub(super) fn plain(text: &str) -> String {
    if !may_have_marks(text) {
        return text.to_owned();
    }
    text.chars()
        .filter(|it| !matches!(*it, UNSET | NETWORK | CODED))
        .map(|it| match it {
            STAR => '*',
            ANY => '?',
            CLASS => '[',
            other => other,
        })
        .collect()
}

/// A variable that is not set, without quotes: no argument at all.
pub(super) const GONE: &str = "\u{E001}\u{E001}";

/// Is there anything that only a run would show?
pub(super) fn has_hole(text: &str) -> bool {
    may_have_marks(text) && text.contains(HOLE)
}

pub(super) fn has_pattern(text: &str) -> bool {
    may_have_marks(text) && text.contains([STAR, ANY, CLASS])
}

/// Quoted for the normal form, where it must be. Patterns that are patterns stay bare.
pub(super) fn quoted(text: &str) -> String {
    let is_plain =
        |it: char| it.is_alphanumeric() || "-_./=:,@%+^~".contains(it) || MARKS.contains(&it);
    if text == "{}" || (!text.is_empty() && text.chars().all(is_plain)) {
        return shown(text);
    }
    format!("'{}'", shown(text).replace('\'', "'\\''"))
}

/// Does a pattern match a text?
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let mut steps = MATCH_STEPS_MAX;
    matches_within(pattern, text, &mut steps)
}

/// The same with a number of steps that several comparisons share; at 0, nothing is known.
pub(super) fn matches_within(pattern: &str, text: &str, steps: &mut usize) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    match_from(&pattern, &text, steps)
}

/// From left to right; where it does not fit, the last `*` takes one letter more. That finds a way if there is one.
fn match_from(pattern: &[char], text: &[char], steps: &mut usize) -> bool {
    let (mut rest, mut left) = (pattern, text);
    let mut star: Option<(&[char], &[char])> = None;
    loop {
        let Some(fewer) = steps.checked_sub(1) else { return false };
        *steps = fewer;
        match rest.split_first() {
            None if left.is_empty() => return true,
            Some((&STAR, after)) => {
                star = Some((after, left));
                rest = after;
                continue;
            }
            Some((&UNSET, after)) => {
                rest = after;
                continue;
            }
            Some(_) | None => {}
        }
        if let Some((after, behind)) = one(rest, left) {
            (rest, left) = (after, behind);
        } else if let Some((after, [_, behind @ ..])) = star {
            star = Some((after, behind));
            (rest, left) = (after, behind);
        } else {
            return false;
        }
    }
}

/// What is left of both if the first of the pattern stands for the first letter.
fn one<'a>(pattern: &'a [char], text: &'a [char]) -> Option<(&'a [char], &'a [char])> {
    let (first, rest) = pattern.split_first()?;
    let (letter, behind) = text.split_first()?;
    match (*first, class(rest).filter(|_| *first == CLASS)) {
        (ANY | HOLE, _) => Some((rest, behind)),
        (_, Some((inside, after))) => in_class(inside, *letter).then_some((after, behind)),
        // What has no end is a letter.
        (CLASS, None) => (*letter == '[').then_some((rest, behind)),
        (other, None) => (other == *letter).then_some((rest, behind)),
    }
}

/// The inside of `[…]` and what follows it.
fn class(pattern: &[char]) -> Option<(&[char], &[char])> {
    let negated = usize::from(matches!(pattern.first(), Some('!' | '^')));
    let after = pattern.get(negated + 1..)?;
    let end = after.iter().position(|it| *it == ']')? + negated + 1;
    Some((pattern.get(..end)?, pattern.get(end + 1..)?))
}

fn in_class(inside: &[char], letter: char) -> bool {
    let (negated, mut rest) = match inside.split_first() {
        Some(('!' | '^', rest)) => (true, rest),
        Some(_) | None => (false, inside),
    };
    let mut found = false;
    while let Some((first, after)) = rest.split_first() {
        rest = match after {
            ['-', last, ..] => {
                found |= (*first..=*last).contains(&letter);
                after.get(2..).unwrap_or_default()
            }
            _ => {
                found |= *first == letter;
                after
            }
        };
    }
    found != negated
}
