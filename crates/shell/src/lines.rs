//! `sort`, `grep` and decompression on text that is known.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use regex::{Regex, RegexBuilder};

use crate::limits::{PATTERN_BYTES_MAX, VALUE_BYTES_MAX};

/// `sort`, `sort -n`, `-r`, `-u`; other orders are not known.
pub(super) fn sort(args: &[String], text: &str) -> Option<Vec<u8>> {
    let flags: String = args.iter().filter_map(|it| it.strip_prefix('-')).collect();
    if args.iter().any(|it| !it.starts_with('-')) || !flags.chars().all(|it| "nrug".contains(it)) {
        return None;
    }
    let number = |line: &str| -> i64 {
        let line = line.trim_start();
        let end = line.find(|it: char| !it.is_ascii_digit() && it != '-').unwrap_or(line.len());
        line.get(..end).and_then(|it| it.parse().ok()).unwrap_or(0)
    };
    let mut lines: Vec<&str> = text.lines().collect();
    if flags.contains(['n', 'g']) {
        lines.sort_by(|a, b| number(a).cmp(&number(b)).then(a.cmp(b)));
    } else {
        lines.sort_unstable();
    }
    if flags.contains('u') {
        lines.dedup();
    }
    if flags.contains('r') {
        lines.reverse();
    }
    Some(lines.iter().flat_map(|it| [it.as_bytes(), b"\n"].concat()).collect())
}

/// `grep PATTERN` on stdin, with `-v`, `-o`, `-i`, `-E`, `-F`, `-x`.
pub(super) fn grep(args: &[String], name: &str, text: &str) -> Option<Vec<u8>> {
    let mut flags = String::new();
    let mut pattern = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.strip_prefix('-').filter(|it| !it.is_empty()) {
            Some("e") => pattern = Some(rest.next()?.as_str()),
            Some(letters) => flags.push_str(letters),
            None if pattern.is_none() => pattern = Some(arg),
            None => return None,
        }
    }
    if !flags.chars().all(|it| "voiEFxa".contains(it)) {
        return None;
    }
    let has = |it: char| flags.contains(it);
    let pattern = pattern?;
    let fixed = has('F') || name == "fgrep";
    let pattern = if fixed { regex::escape(pattern) } else { pattern.to_owned() };
    let pattern = if has('x') { format!("^({pattern})$") } else { pattern };
    let pattern = compiled(&pattern, has('E') || fixed || has('x') || name == "egrep", has('i'))?;
    let mut output = String::new();
    for line in text.lines() {
        if has('o') && !has('v') {
            for found in pattern.find_iter(line).filter(|it| !it.is_empty()) {
                output.push_str(found.as_str());
                output.push('\n');
            }
        } else if pattern.is_match(line) != has('v') {
            output.push_str(line);
            output.push('\n');
        }
    }
    Some(output.into_bytes())
}

/// A pattern of `grep` as one of ours; `None` where the two differ too much.
pub(super) fn compiled(pattern: &str, extended: bool, folds: bool) -> Option<Regex> {
    let pattern = translated(pattern, extended)?;
    let mut builder = RegexBuilder::new(&pattern);
    builder.case_insensitive(folds).size_limit(PATTERN_BYTES_MAX).build().ok()
}

fn translated(pattern: &str, extended: bool) -> Option<String> {
    let mut out = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next()? {
                it @ ('(' | ')' | '{' | '}' | '|' | '+' | '?') => {
                    if extended {
                        out.push('\\');
                    }
                    out.push(it);
                }
                '0'..='9' => return None,
                it if it.is_ascii_alphanumeric() && !"nwWsSbBt".contains(it) => return None,
                it => out.extend(['\\', it]),
            },
            '(' | ')' | '{' | '}' | '|' | '+' | '?' if !extended => out.extend(['\\', letter]),
            '*' if out.is_empty() || out.ends_with('(') => out.push_str("\\*"),
            '[' => {
                let rest = letters.as_str();
                let skip = usize::from(rest.starts_with('^')) + 1;
                let end = rest.get(skip..)?.find(']')? + skip;
                let inside = rest.get(..end)?;
                if inside.contains('[') {
                    return None;
                }
                let escaped = inside.replace('\\', "\\\\").replace('&', "\\&").replace('~', "\\~");
                out.push_str(&format!("[{escaped}]"));
                letters = rest.get(end + 1..)?.chars();
            }
            it => out.push(it),
        }
    }
    Some(out)
}

/// What was packed with `gzip` or as a stream of `zlib`, up to the size of one value.
pub(super) fn unpacked(data: &[u8]) -> Option<Vec<u8>> {
    if data.starts_with(&[0x1f, 0x8b]) {
        return whole(MultiGzDecoder::new(data));
    }
    whole(ZlibDecoder::new(data)).or_else(|| whole(DeflateDecoder::new(data)))
}

fn whole(reader: impl Read) -> Option<Vec<u8>> {
    let mut output = Vec::new();
    let most = u64::try_from(VALUE_BYTES_MAX).ok()?;
    reader.take(most).read_to_end(&mut output).ok()?;
    (!output.is_empty() && output.len() < VALUE_BYTES_MAX).then_some(output)
}
