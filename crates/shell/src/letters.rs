//! `tr`, `cut`, `head` and `tail` on text that is known.

use crate::syntax::ansi_c;

/// `tr SET SET`, `tr -d SET`.
pub(super) fn tr(args: &[String], text: &str) -> Option<Vec<u8>> {
    let deletes = args.first().is_some_and(|it| matches!(it.as_str(), "-d" | "--delete"));
    let sets: Vec<&String> =
        args.iter().filter(|it| !it.starts_with('-') || it.len() == 1).collect();
    let options = args.iter().filter(|it| it.starts_with('-') && it.len() > 1).count();
    if options > usize::from(deletes) {
        return None;
    }
    let from = set(sets.first()?);
    let changed: String = if deletes {
        text.chars().filter(|it| !from.contains(it)).collect()
    } else {
        let to = set(sets.get(1)?);
        let last = *to.last()?;
        let change = |letter: char| match from.iter().rposition(|it| *it == letter) {
            Some(at) => to.get(at).copied().unwrap_or(last),
            None => letter,
        };
        text.chars().map(change).collect()
    };
    Some(changed.into_bytes())
}

/// Letters of a set: escapes, classes, ranges.
fn set(text: &str) -> Vec<char> {
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
                set.extend(*first..=*last);
                tail
            }
            _ => {
                set.push(*first);
                after
            }
        };
    }
    set
}

/// `cut -c 1-3`, `cut -d: -f2`.
pub(super) fn cut(args: &[String], text: &str) -> Option<Vec<u8>> {
    let value = |flag: &str| -> Option<String> {
        let at = args.iter().position(|it| it.starts_with(flag))?;
        let glued = args.get(at)?.strip_prefix(flag)?;
        if glued.is_empty() { args.get(at + 1).cloned() } else { Some(glued.to_owned()) }
    };
    let mut output = String::new();
    for line in text.lines() {
        let cut = if let Some(list) = value("-c").or_else(|| value("-b")) {
            let letters: Vec<char> = line.chars().collect();
            chosen(&list, letters.len())?.iter().filter_map(|it| letters.get(*it)).collect()
        } else {
            let list = value("-f")?;
            let by = value("-d").and_then(|it| it.chars().next()).unwrap_or('\t');
            let parts: Vec<&str> = line.split(by).collect();
            let chosen = chosen(&list, parts.len())?;
            let kept: Vec<&str> = chosen.iter().filter_map(|it| parts.get(*it).copied()).collect();
            kept.join(&by.to_string())
        };
        output.push_str(&cut);
        output.push('\n');
    }
    Some(output.into_bytes())
}

/// `1,3-5,7-` as places that count from 0.
fn chosen(list: &str, size: usize) -> Option<Vec<usize>> {
    let mut places = Vec::new();
    for part in list.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let from: usize = if from.is_empty() { 1 } else { from.parse().ok()? };
        let to: usize = if to.is_empty() { size } else { to.parse().ok()? };
        places.extend((from.max(1)..=to.min(size)).map(|it| it - 1));
    }
    Some(places)
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
