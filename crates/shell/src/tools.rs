//! What commands print that only turn text into text: so that encoded commands show what they are.

use data_encoding::{BASE32, BASE64, Encoding, HEXLOWER_PERMISSIVE};

use crate::engine::forgotten;
use crate::limits::VALUE_BYTES_MAX;
use crate::marks::CODED;
use crate::{
    Call, Engine, HOLE, NETWORK, Output, State, Words, from_network, letters, lines, listed, marks,
    paths, printing, text, unknown,
};

/// These print what somebody else's machine sent.
static FETCHING: Words = Words::named("tools.FETCHING");

/// What they make of a text is not followed, though it could be known.
static FOLLOWED_NOWHERE: Words = Words::named("tools.FOLLOWED_NOWHERE");

/// These print nothing when they succeed.
static SILENT: Words = Words::named("tools.SILENT");

/// Why it is not known what a command prints.
pub(super) enum Unprinted {
    /// Only a run would show it.
    Unknown,
    /// It is more than one value may be.
    TooLong,
}

/// What a command prints, if that is known.
pub(super) type Printed = Result<Output, Unprinted>;

impl Engine {
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
        let output = match listed::printed(self, call, state) {
            Some(output) => Ok(output),
            None if !self.turn_text(call.stdin.map_or(0, <[u8]>::len)) => Err(Unprinted::TooLong),
            None => pure(call, state),
        };
        let output = output.unwrap_or_else(|why| {
            if matches!(why, Unprinted::TooLong) {
                self.too_much();
            }
            let shows_args = matches!(call.name.as_str(), "echo" | "printf");
            let network = call.stdin.is_some_and(|it| text(it).contains(NETWORK))
                || (shows_args && call.args.iter().any(|it| it.contains(NETWORK)));
            let is_known = call.stdin.is_some_and(|it| !marks::has_hole(&text(it)));
            match network {
                true => from_network(),
                false if is_known && FOLLOWED_NOWHERE.contains(&call.name.as_str()) => {
                    format!("{HOLE}{CODED}").into_bytes()
                }
                false => unknown(),
            }
        });
        if output.len() > VALUE_BYTES_MAX || !self.turn_text(output.len()) {
            self.too_much();
            return forgotten(&output);
        }
        self.reveal(call, &output);
        output
    }

    /// What is printed, or that it is not known.
    pub(super) fn known_or_not(&mut self, printed: Printed) -> Output {
        if matches!(printed, Err(Unprinted::TooLong)) {
            self.too_much();
        }
        printed.unwrap_or_else(|_| unknown())
    }
}

fn pure(call: &Call<'_>, state: &State) -> Printed {
    if call.name == "printf" {
        return printing::printf(call.args);
    }
    if let Some(output) = without_input(call) {
        return output.ok_or(Unprinted::Unknown);
    }
    let args = call.plain();
    let is_program =
        matches!(call.name.as_str(), "tr" | "sed" | "gsed" | "grep" | "egrep" | "fgrep" | "paste");
    let input = input(call, state, is_program).ok_or(Unprinted::Unknown)?;
    let known = text(&input);
    let is_same = matches!(call.name.as_str(), "cat" | "tee" | "pv" | "sponge" | "less" | "more");
    if is_same || listed::passes(&call.name, &known) {
        return Ok(input);
    }
    if marks::has_hole(&known) {
        return Err(Unprinted::Unknown);
    }
    if call.name == "tr" {
        return letters::tr(args, &known);
    }
    converted(call, input, &known).ok_or(Unprinted::Unknown)
}

/// What a program makes of a text that it reads.
fn converted(call: &Call<'_>, input: Output, known: &str) -> Option<Output> {
    let args = call.plain();
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
        "rev" => Some(each(known, |it| it.chars().rev().collect())),
        "tac" => Some(reversed(known)),
        "head" | "tail" | "ghead" => letters::ends(args, known, call.name == "tail"),
        "cut" => letters::cut(args, known),
        "grep" | "egrep" | "fgrep" => lines::grep(args, &call.name, known),
        "uniq" if known.lines().count() <= 1 => Some(input),
        "sort" => lines::sort(args, known),
        _ => None,
    }
}

/// What is printed by those that read nothing; the outer `None`: it is none of them.
fn without_input(call: &Call<'_>) -> Option<Option<Output>> {
    let args = call.plain();
    Some(match call.name.as_str() {
        _ if super::settings::prints_settings(call) => Some(Output::new()),
        "echo" => Some(printing::echo(call)),
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
        // The rest would only make it longer than one value may be.
        if all.len() > VALUE_BYTES_MAX {
            break;
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
    // More numbers than one value has room for are some numbers: who only prints them is asked nothing.
    while output.len() <= VALUE_BYTES_MAX {
        if (step > 0 && at > last) || (step < 0 && at < last) {
            return Some(output.into_bytes());
        }
        output.push_str(&format!("{at}\n"));
        at = at.checked_add(step)?;
    }
    None
}
