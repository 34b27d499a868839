//! `tr`, `cut`, `head` and `tail` on text that is known.

use std::collections::{HashMap, HashSet};

use crate::limits::SET_LETTERS_MAX;
use crate::syntax::ansi_c;
use crate::tools::{Printed, Unprinted};

/// `tr SET SET`, `tr -d SET`.
pub(super) fn tr(args: &[String], text: &str) -> Printed {
    let deletes = args.first().is_some_and(|it| matches!(it.as_str(), "-d" | "--delete"));
    let sets: Vec<&String> =
        args.iter().filter(|it| !it.starts_with('-') || it.len() == 1).collect();
    let options = args.iter().filter(|it| it.starts_with('-') && it.len() > 1).count();
    let (Some(from), false) = (sets.first(), options > usize::from(deletes)) else {
        return Err(Unprinted::Unknown);
    };
    let from = set(from)?;
    let to = match sets.get(1).filter(|_| !deletes) {
        Some(to) => set(to)?,
        None => Vec::new(),
    };
    let changed: String = match to.last() {
        Some(last) => {
            // Of a letter that stands there twice, the last one counts.
            let pairs = from.iter().zip(to.iter().chain(std::iter::repeat(last)));
            let changes: HashMap<char, char> = pairs.map(|it| (*it.0, *it.1)).collect();
            text.chars().map(|it| changes.get(&it).copied().unwrap_or(it)).collect()
        }
        None if deletes => {
            let gone: HashSet<char> = from.into_iter().collect();
            text.chars().filter(|it| !gone.contains(it)).collect()
        }
        None => return Err(Unprinted::Unknown),
    };
    Ok(changed.into_bytes())
}

/// Letters of a set: escapes, classes, ranges.
fn set(text: &str) -> Result<Vec<char>, Unprinted> {
    let text = text
        .replace("[:lower:]", "a-z")
        .replace("[:upper:]", "A-Z")
        .replace("[:digit:]", "0-9")
        .replace("[:space:]", " \\t\\n")
        .replace("[:alpha:]", "A-Za-z")
        .replace("[:alnum:]", "0-9A-Za-z");
    let letters: Vec<char> = ansi_c(&text).chars().collect();
    let mut set = Vec::new();
    let mut rest = letters.as_slice();
    while let Some((first, after)) = rest.split_first() {
        rest = match after {
            ['-', last, tail @ ..] if first <= last => {
                set.extend((*first..=*last).take(SET_LETTERS_MAX + 1));
                tail
            }
            _ => {
                set.push(*first);
                after
            }
        };
        if set.len() > SET_LETTERS_MAX {
            return Err(Unprinted::TooLong);
        }
    }
    Ok(set)
}

/// `cut -c 1-3`, `cut -d: -f2`.
pub(super) fn cut(args: &[String], text: &str) -> Option<Vec<u8>> {
    let value = |flag: &str| -> Option<String> {
        let at = args.iter().position(|it| it.starts_with(flag))?;
        let glued = args.get(at)?.strip_prefix(flag)?;
        if glued.is_empty() { args.get(at + 1).cloned() } else { Some(glued.to_owned()) }
    };
    let by_letter = value("-c").or_else(|| value("-b"));
    let chosen = match &by_letter {
        Some(list) => chosen(list)?,
        None => chosen(&value("-f")?)?,
    };
    let by = value("-d").and_then(|it| it.chars().next()).unwrap_or('\t');
    let mut output = String::new();
    for line in text.lines() {
        if by_letter.is_some() {
            let letters: Vec<char> = line.chars().collect();
            output.extend(kept(&chosen, &letters));
        } else {
            let parts: Vec<&str> = line.split(by).collect();
            let kept: Vec<&str> = kept(&chosen, &parts).copied().collect();
            output.push_str(&kept.join(&by.to_string()));
        }
        output.push('\n');
    }
    Some(output.into_bytes())
}

/// `1,3-5,7-` as ranges that count from 0, in order, none of which is in another: each place is printed once.
fn chosen(list: &str) -> Option<Vec<(usize, usize)>> {
    let mut ranges = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from: usize = if from.is_empty() { 1 } else { from.parse().ok()? };
        let to: usize = if to.is_empty() { usize::MAX } else { to.parse().ok()? };
        ranges.push((from.saturating_sub(1), to));
    }
    ranges.sort_unstable();
    let mut reached = 0;
    for range in &mut ranges {
        range.0 = range.0.max(reached);
        reached = reached.max(range.1);
    }
    ranges.retain(|it| it.0 < it.1);
    Some(ranges)
}

fn kept<'a, T>(ranges: &'a [(usize, usize)], all: &'a [T]) -> impl Iterator<Item = &'a T> {
    let within = ranges.iter().take_while(|it| it.0 < all.len());
    within.flat_map(|it| all.get(it.0..it.1.min(all.len())).unwrap_or_default())
}

/// `head -c 3`, `head -n 1`, `tail -1`.
pub(super) fn ends(args: &[String], text: &str, last: bool) -> Option<Vec<u8>> {
    let mut count = 10;
    let mut bytes = false;
    let mut from_start = false;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let letters = arg.strip_prefix('-').unwrap_or_default();
        let value = if let Some(glued) = letters.strip_prefix('c') {
            bytes = true;
            if glued.is_empty() { rest.next()?.clone() } else { glued.to_owned() }
        } else if let Some(glued) = letters.strip_prefix('n') {
            if glued.is_empty() { rest.next()?.clone() } else { glued.to_owned() }
        } else if letters.starts_with(|it: char| it.is_ascii_digit()) {
            letters.to_owned()
        } else {
            continue;
        };
        from_start = value.starts_with('+');
        count = value.trim_start_matches('+').parse::<usize>().ok()?;
    }
    let pieces: Vec<&str> = if bytes {
        text.split("").filter(|it| !it.is_empty()).collect()
    } else {
        text.split_inclusive('\n').collect()
    };
    let from = match (last, from_start) {
        (true, true) => count.saturating_sub(1),
        (true, false) => pieces.len().saturating_sub(count),
        (false, _) => 0,
    };
    let to = if last { pieces.len() } else { count.min(pieces.len()) };
    Some(pieces.get(from.min(to)..to)?.concat().into_bytes())
}
