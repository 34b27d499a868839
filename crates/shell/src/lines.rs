//! `sort`, `grep`, `paste`, `fold`, `expr`, `awk` and decompression on text that is known.

use std::io::Read;

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::limits::VALUE_BYTES_MAX;
use super::sed::compiled;

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

/// `paste -s`, with `-d`.
pub(super) fn paste(args: &[String], text: &str) -> Option<Vec<u8>> {
    let mut serial = false;
    let mut by = "\t".to_owned();
    let mut rest = args.iter().filter(|it| *it != "-");
    while let Some(arg) = rest.next() {
        let letters = arg.strip_prefix('-')?;
        let letters = letters.strip_prefix('s').inspect(|_| serial = true).unwrap_or(letters);
        if let Some(glued) = letters.strip_prefix('d') {
            by = if glued.is_empty() { rest.next()?.clone() } else { glued.to_owned() };
        } else if !letters.is_empty() {
            return None;
        }
    }
    if !serial || by.chars().count() > 1 {
        return None;
    }
    let by = if by == "\\0" { String::new() } else { by };
    Some(format!("{}\n", text.lines().collect::<Vec<_>>().join(&by)).into_bytes())
}

/// `fold -w N`, `fold -N`.
pub(super) fn fold(args: &[String], text: &str) -> Option<Vec<u8>> {
    let digits: String = args.concat().chars().filter(char::is_ascii_digit).collect();
    let known = args.iter().all(|it| {
        let letters = it.trim_start_matches('-').trim_start_matches(['w', 'b']);
        letters.bytes().all(|it| it.is_ascii_digit())
    });
    let width = if digits.is_empty() { 80 } else { digits.parse::<usize>().ok()? };
    if !known || width == 0 {
        return None;
    }
    let mut output = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        for (index, letter) in bare.chars().enumerate() {
            if index > 0 && index.is_multiple_of(width) {
                output.push('\n');
            }
            output.push(letter);
        }
        output.push_str(line.get(bare.len()..).unwrap_or_default());
    }
    Some(output.into_bytes())
}

/// `expr substr TEXT FROM LENGTH`, `expr length TEXT`, arithmetic of two numbers.
pub(super) fn expr(args: &[String]) -> Option<Vec<u8>> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["substr", text, from, length] => {
            let (from, length) = (from.parse::<usize>().ok()?, length.parse::<usize>().ok()?);
            text.chars().skip(from.checked_sub(1)?).take(length).collect()
        }
        ["length", text] => text.chars().count().to_string(),
        [a, sign @ ("+" | "-" | "*" | "/" | "%"), b] => {
            let (a, b) = (a.parse::<i64>().ok()?, b.parse::<i64>().ok()?);
            let value = match *sign {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                "/" => a.checked_div(b),
                _ => a.checked_rem(b),
            };
            value?.to_string()
        }
        _ => return None,
    };
    Some(format!("{result}\n").into_bytes())
}

/// `awk '{print $2 "x" substr($0,3,4)}'`: programs that print fields and literals of every line.
pub(super) fn awk(args: &[String], text: &str) -> Option<Vec<u8>> {
    let mut by: Option<String> = None;
    let mut program = None;
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if let Some(glued) = arg.strip_prefix("-F") {
            by = Some(if glued.is_empty() { rest.next()?.clone() } else { glued.to_owned() });
        } else if arg.starts_with('-') || program.is_some() {
            return None;
        } else {
            program = Some(arg);
        }
    }
    let inside = program?.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let ends = if inside.starts_with("printf") { "" } else { "\n" };
    let items = inside.strip_prefix("printf").or_else(|| inside.strip_prefix("print"))?;
    let mut output = String::new();
    for line in text.lines() {
        let fields: Vec<&str> = match by.as_deref() {
            None | Some(" ") => line.split_whitespace().collect(),
            Some(by) if by.chars().count() == 1 => line.split(by).collect(),
            Some(_) => return None,
        };
        output.push_str(&awk_items(items.trim(), line, &fields)?);
        output.push_str(ends);
    }
    Some(output.into_bytes())
}

fn awk_items(mut rest: &str, line: &str, fields: &[&str]) -> Option<String> {
    let mut output = String::new();
    if rest.is_empty() {
        return Some(line.to_owned());
    }
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('$') {
            let digits = after.bytes().take_while(u8::is_ascii_digit).count();
            let number: usize = after.get(..digits)?.parse().ok()?;
            let field = number.checked_sub(1).map(|it| fields.get(it).copied().unwrap_or(""));
            output.push_str(field.unwrap_or(line));
            rest = after.get(digits..)?;
        } else if let Some(after) = rest.strip_prefix('"') {
            let end = after.find('"')?;
            let literal = after.get(..end)?;
            if literal.contains(['\\', '%']) {
                return None;
            }
            output.push_str(literal);
            rest = after.get(end + 1..)?;
        } else if let Some(after) = rest.strip_prefix("substr($0,") {
            let end = after.find(')')?;
            let (from, length) = after.get(..end)?.split_once(',')?;
            let (from, length): (usize, usize) =
                (from.trim().parse().ok()?, length.trim().parse().ok()?);
            output.extend(line.chars().skip(from.checked_sub(1)?).take(length));
            rest = after.get(end + 1..)?;
        } else if let Some(after) = rest.strip_prefix(',') {
            output.push(' ');
            rest = after;
        } else {
            rest = rest.strip_prefix(' ')?;
        }
    }
    Some(output)
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
