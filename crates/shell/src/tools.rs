//! What commands print that only turn text into text: so that encoded commands show what they are.

use data_encoding::{BASE32, BASE64, Encoding, HEXLOWER_PERMISSIVE};

use crate::limits::{FIELDS_MAX, VALUE_BYTES_MAX};
use crate::marks::CODED;
use crate::syntax::{Bytes, letter, octal};
use crate::{
    Call, Engine, HOLE, NETWORK, Output, State, Words, from_network, letters, lines, listed, marks,
    paths, text, unknown,
};

/// These print what somebody else's machine sent.
static FETCHING: Words = Words::named("tools.FETCHING");

/// What they make of a text is not followed, though it could be known.
static FOLLOWED_NOWHERE: Words = Words::named("tools.FOLLOWED_NOWHERE");

/// These print nothing when they succeed.
static SILENT: Words = Words::named("tools.SILENT");

impl Engine<'_> {
    /// What the command prints.
    pub(super) fn printed(&mut self, call: &Call<'_>, state: &State) -> Output {
        let connects = call.name == "openssl" && call.has(&["s_client"]);
        if connects || FETCHING.contains(&call.name.as_str()) {
            return from_network();
        }
        if matches!(call.name.as_str(), "echo" | "printf" | "which") {
            self.status = Some(true);
        }
        if call.name == "tee" {
            for path in call.operands() {
                self.pour_into(path, call.stdin.unwrap_or_default(), state);
            }
        }
        // There may be other files that it matches.
        self.patterned |= call.args.iter().any(|it| marks::has_pattern(it))
            && !matches!(call.name.as_str(), "echo" | "printf" | "tr" | "grep" | "egrep" | "sed");
        let output = listed::printed(self, call, state).or_else(|| pure(call, state));
        let output = output.unwrap_or_else(|| {
            let network = call.stdin.is_some_and(|it| text(it).contains(NETWORK));
            let is_known = call.stdin.is_some_and(|it| !marks::has_hole(&text(it)));
            match network {
                true => from_network(),
                false if is_known && FOLLOWED_NOWHERE.contains(&call.name.as_str()) => {
                    format!("{HOLE}{CODED}").into_bytes()
                }
                false => unknown(),
            }
        });
        if output.len() > VALUE_BYTES_MAX {
            self.too_much();
            return unknown();
        }
        self.reveal(call, &output);
        output
    }
}

/// `None`: only a run would show it.
fn pure(call: &Call<'_>, state: &State) -> Option<Output> {
    if let Some(output) = without_input(call) {
        return output;
    }
    let args = call.plain();
    let is_program =
        matches!(call.name.as_str(), "tr" | "sed" | "gsed" | "grep" | "egrep" | "fgrep" | "paste");
    let input = input(call, state, is_program)?;
    let known = text(&input);
    let is_same = matches!(call.name.as_str(), "cat" | "tee" | "pv" | "sponge" | "less" | "more");
    if is_same || listed::passes(&call.name, &known) {
        return Some(input);
    }
    if marks::has_hole(&known) {
        return None;
    }
    match call.name.as_str() {
        "base64" | "gbase64" => coded(&BASE64, &input, decodes(call)),
        "basenc" => {
            let kinds =
                [("--base16", &HEXLOWER_PERMISSIVE), ("--base32", &BASE32), ("--base64", &BASE64)];
            let kind = kinds.iter().find(|it| call.has(&[it.0]))?;
            coded(kind.1, &input, decodes(call))
        }
        "base32" => coded(&BASE32, &input, decodes(call)),
        "openssl" if call.has(&["base64", "-base64", "-a"]) => {
            coded(&BASE64, &input, call.has(&["-d"]))
        }
        "gunzip" | "zcat" | "gzcat" | "unpigz" => lines::unpacked(&input),
        "gzip" | "pigz" if decodes(call) => lines::unpacked(&input),
        "xxd" if call.short('r') => coded(&HEXLOWER_PERMISSIVE, &input, true),
        "xxd" if call.short('p') => coded(&HEXLOWER_PERMISSIVE, &input, false),
        "rev" => Some(each(&known, |it| it.chars().rev().collect())),
        "tac" => Some(reversed(&known)),
        "head" | "tail" | "ghead" => letters::ends(args, &known, call.name == "tail"),
        "cut" => letters::cut(args, &known),
        "tr" => letters::tr(args, &known),
        "grep" | "egrep" | "fgrep" => lines::grep(args, &call.name, &known),
        "uniq" if known.lines().count() <= 1 => Some(input),
        "sort" => lines::sort(args, &known),
        _ => None,
    }
}

/// What is printed by those that read nothing; the outer `None`: it is none of them.
fn without_input(call: &Call<'_>) -> Option<Option<Output>> {
    let args = call.plain();
    Some(match call.name.as_str() {
        _ if super::settings::prints_settings(call) => Some(Output::new()),
        "echo" => Some(echo(call)),
        "printf" => printf(call.args),
        "which" => call.operands().last().map(|it| format!("/usr/bin/{it}\n").into_bytes()),
        "mktemp" => Some(format!("/tmp/tmp.{}\n", marks::HOLE).into_bytes()),
        "seq" => seq(args),
        name if SILENT.contains(&name) && !call.short('v') => Some(Output::new()),
        "basename" => call.operands().first().map(|it| {
            let last = it.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            format!("{last}\n").into_bytes()
        }),
        _ => return None,
    })
}

/// What is read: stdin, or files whose content is known.
fn input(call: &Call<'_>, state: &State, is_program: bool) -> Option<Output> {
    let files = if is_program { &[] } else { call.args };
    let is_file = |it: &&String| {
        let known = it.contains('/') || state.files.contains_key(&paths::resolved(it, state));
        known && !it.starts_with('-') && !paths::is_stdin(it)
    };
    let files: Vec<&String> = files.iter().filter(is_file).collect();
    if files.is_empty() || call.name == "tee" {
        return call.stdin.map(<[u8]>::to_vec);
    }
    let mut all = Output::new();
    for file in files {
        let path = paths::resolved(file, state);
        match state.files.get(&path) {
            Some(content) => all.extend(content),
            None => all.extend(matching(&path, state)?),
        }
    }
    Some(all)
}

/// The files that a pattern stands for, as far as they are known: in the order of their bytes, and where
/// languages sort otherwise, in that order, too.
fn matching(pattern: &str, state: &State) -> Option<Output> {
    if !marks::has_pattern(pattern) {
        return None;
    }
    let found = state.files.iter().filter(|it| marks::matches(pattern, it.0));
    let mut found: Vec<(&String, &Output)> = found.collect();
    let all = |found: &[(&String, &Output)]| -> Output {
        found.iter().flat_map(|it| it.1.iter().copied()).collect()
    };
    let mut output = all(&found);
    found.sort_by_key(|it| it.0.replace('\n', "\u{10ffff}"));
    let other = all(&found);
    if other != output {
        output.push(b'\n');
        output.extend(other);
    }
    (!output.is_empty()).then_some(output)
}

pub(super) fn decodes(call: &Call<'_>) -> bool {
    call.short('d') || call.short('D') || call.has(&["--decode"])
}

/// Base64 and the like: decoding ignores line ends and missing padding.
fn coded(encoding: &Encoding, input: &[u8], decode: bool) -> Option<Output> {
    if !decode {
        return Some(format!("{}\n", encoding.encode(input)).into_bytes());
    }
    let mut clean: Vec<u8> = input.iter().copied().filter(u8::is_ascii_graphic).collect();
    if let Ok(bytes) = encoding.decode(&clean) {
        return Some(bytes);
    }
    while clean.last() == Some(&b'=') {
        clean.pop();
    }
    while !clean.len().is_multiple_of(if *encoding == BASE64 { 4 } else { 8 }) {
        clean.push(b'=');
    }
    encoding.decode(&clean).ok()
}

fn each(text: &str, change: impl Fn(&str) -> String) -> Output {
    let mut output = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        output.push_str(&change(bare));
        if bare.len() < line.len() {
            output.push('\n');
        }
    }
    output.into_bytes()
}

fn reversed(text: &str) -> Output {
    let lines: Vec<&str> = text.lines().rev().collect();
    lines.iter().flat_map(|it| [it.as_bytes(), b"\n"].concat()).collect()
}

fn echo(call: &Call<'_>) -> Output {
    let mut escapes = false;
    let mut line_end = true;
    let mut args = call.args;
    while let Some((first, rest)) = args.split_first() {
        let flags = first.strip_prefix('-').unwrap_or_default();
        if flags.is_empty() || !flags.chars().all(|it| "neE".contains(it)) {
            break;
        }
        escapes |= flags.contains('e');
        line_end &= !flags.contains('n');
        args = rest;
    }
    let is_network = args.iter().any(|it| it.contains(NETWORK));
    let joined = args.iter().map(|it| marks::plain(it)).collect::<Vec<_>>().join(" ");
    let mut output = if escapes { escaped(&joined) } else { joined };
    if line_end {
        output.push('\n');
    }
    if is_network {
        output.insert(0, NETWORK);
    }
    output.into_bytes()
}

/// Escapes as `echo -e` and `printf` know them.
fn escaped(text: &str) -> String {
    let mut output = Bytes::default();
    let mut rest = text.chars();
    while let Some(found) = rest.next() {
        if found != '\\' {
            output.push(found);
            continue;
        }
        let before = rest.clone();
        match rest.next() {
            Some('c') => break,
            Some('0') => octal(&mut rest, 3, &mut output),
            Some('1'..='7') => {
                rest = before;
                octal(&mut rest, 3, &mut output);
            }
            Some(kind) => letter(kind, &mut rest, &mut output),
            None => output.push('\\'),
        }
    }
    output.text()
}

/// `printf`; `None` where the result goes into a variable or the format is not understood.
pub(super) fn printf(args: &[String]) -> Option<Output> {
    let plain: Vec<String> = args.iter().map(|it| marks::plain(it)).collect();
    let plain = if plain.first().is_some_and(|it| it == "--") { plain.get(1..)? } else { &plain };
    let (format, mut values) = plain.split_first()?;
    if format == "-v" {
        return None;
    }
    let mut output = String::new();
    if args.iter().any(|it| it.contains(NETWORK)) {
        output.push(NETWORK);
    }
    for _ in 0..FIELDS_MAX {
        let before = values.len();
        output.push_str(&formatted(format, &mut values)?);
        if values.is_empty() || values.len() == before {
            break;
        }
    }
    Some(output.into_bytes())
}

fn formatted(format: &str, values: &mut &[String]) -> Option<String> {
    let mut output = String::new();
    let mut rest = format.chars();
    let mut plain = String::new();
    let mut next = || -> String {
        let (first, after) =
            values.split_first().map_or((String::new(), &[][..]), |(a, b)| (a.clone(), b));
        *values = after;
        first
    };
    while let Some(found) = rest.next() {
        if found != '%' {
            plain.push(found);
            if found == '\\' {
                plain.extend(rest.next());
            }
            continue;
        }
        output.push_str(&escaped(&std::mem::take(&mut plain)));
        let spec: String = rest
            .as_str()
            .chars()
            .take_while(|it| it.is_ascii_digit() || "-+ #.'*".contains(*it))
            .collect();
        rest.by_ref().take(spec.len()).for_each(drop);
        let spec = if spec.contains('*') { spec.replacen('*', &next(), 1) } else { spec };
        let (width, precision) = spec
            .split_once('.')
            .map_or((spec.as_str(), None), |(a, b)| (a, Some(b.parse::<usize>().unwrap_or(0))));
        let cut = |text: String| match precision {
            Some(most) => text.chars().take(most).collect(),
            None => text,
        };
        let before = output.chars().count();
        match rest.next()? {
            '%' => output.push('%'),
            's' => output.push_str(&cut(next())),
            'b' => output.push_str(&escaped(&cut(next()))),
            'q' => output.push_str(&marks::quoted(&next())),
            'c' => output.extend(next().chars().next()),
            'd' | 'i' | 'u' => output.push_str(&integer(&next())?.to_string()),
            'x' => output.push_str(&format!("{:x}", integer(&next())?)),
            'X' => output.push_str(&format!("{:X}", integer(&next())?)),
            'o' => output.push_str(&format!("{:o}", integer(&next())?)),
            _ => return None,
        }
        let made: String = output.chars().skip(before).collect();
        output.truncate(output.len() - made.len());
        output.push_str(&padded(&made, width)?);
    }
    output.push_str(&escaped(&plain));
    Some(output)
}

/// With blanks or zeros up to the width: `%5s`, `%-5s`, `%03o`.
fn padded(text: &str, spec: &str) -> Option<String> {
    let flags: String = spec.chars().take_while(|it| "-+ #0'".contains(*it)).collect();
    let digits = spec.get(flags.len()..)?;
    let width = if digits.is_empty() { 0 } else { digits.parse::<usize>().ok()? };
    if width > FIELDS_MAX || flags.contains(['+', '#', ' ', '\'']) {
        return None;
    }
    Some(if flags.contains('-') {
        format!("{text:<width$}")
    } else if flags.contains('0') && !text.starts_with('-') {
        format!("{text:0>width$}")
    } else {
        format!("{text:>width$}")
    })
}

/// `65`, `0x41`, `0101`, `'A`.
fn integer(text: &str) -> Option<i64> {
    if let Some(letter) = text.strip_prefix(['\'', '"']) {
        return letter.chars().next().map(|it| i64::from(u32::from(it)));
    }
    if text.is_empty() {
        return Some(0);
    }
    super::arithmetic::evaluate(text, &mut State::default())
}

fn seq(args: &[String]) -> Option<Output> {
    let numbers: Vec<i64> = args.iter().map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let (first, step, last) = match numbers.as_slice() {
        [last] => (1, 1, *last),
        [first, last] => (*first, 1, *last),
        [first, step, last] => (*first, *step, *last),
        _ => return None,
    };
    if step == 0 {
        return None;
    }
    let (mut output, mut at) = (String::new(), first);
    for _ in 0..FIELDS_MAX {
        if (step > 0 && at > last) || (step < 0 && at < last) {
            break;
        }
        output.push_str(&format!("{at}\n"));
        at = at.checked_add(step)?;
    }
    Some(output.into_bytes())
}
