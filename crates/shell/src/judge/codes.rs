//! Code that runs what it reads, and modules that are commands of their own.

use crate::spelled::literals;
use crate::steps::has_word;
use crate::{Call, Engine, Rule, State, Words, names, text};

/// How code of other languages reads what it is given, in lower case.
static READING: Words = Words::named("judge.codes.READING");
/// How it runs a text.
static RUNNING: Words = Words::named("judge.codes.RUNNING");
/// They are also methods of what runs nothing: a pattern is `exec`uted, a document is `load`ed.
const METHODS: [&str; 3] = ["exec(", "load(", "eval("];
/// Modules of Python that are commands.
const COMMANDS: [&str; 7] = ["pip", "pipx", "uv", "twine", "poetry", "pdm", "build"];

impl Engine {
    /// `exec(input())`: whoever gives it something says what is run.
    pub(in super::super) fn judge_read_in(&mut self, code: &str, call: &Call<'_>, state: &State) {
        if !runs_what_it_reads(code) {
            return;
        }
        self.ask(Rule::Dynamic, "its code runs what it reads");
        if let Some(stdin) = call.stdin {
            self.code_of(&text(stdin), state);
        }
    }

    /// `python3 -m pip install NAME` is `pip install NAME`.
    pub(in super::super) fn judge_module(&mut self, call: &Call<'_>, state: &State) {
        let is_python = names::interpreter(&call.name).is_some_and(|it| it.starts_with("py"));
        let at = call.plain().iter().position(|it| it == "-m").filter(|_| is_python);
        let Some(rest) = at.and_then(|it| call.args.get(it + 1..)) else { return };
        if rest.first().is_some_and(|it| COMMANDS.contains(&it.as_str())) {
            self.quietly(|it| it.call(rest.to_vec(), &mut state.clone(), call.stdin));
        }
    }
}

fn runs_what_it_reads(code: &str) -> bool {
    let lower = code.to_lowercase();
    if !READING.iter().any(|it| has_word(&lower, it)) {
        return false;
    }
    RUNNING.iter().any(|running| {
        lower.match_indices(running).any(|(at, _)| {
            let before = lower.get(..at).unwrap_or_default();
            let argument = lower.get(at + running.len()..).unwrap_or_default().trim_start();
            is_call(running, before, &lower) && is_read(argument)
        })
    })
}

/// Is it the whole name of what runs a text, and no method of something else?
fn is_call(running: &str, before: &str, code: &str) -> bool {
    match before.chars().next_back() {
        Some('.') => !METHODS.contains(&running) || code.contains("child_process"),
        Some(letter) => !letter.is_alphanumeric() && letter != '_',
        None => true,
    }
}

/// What is run is no literal and no block of code, and what is read is all of it or has a name.
fn is_read(argument: &str) -> bool {
    let end = argument.find([';', '\n']).unwrap_or(argument.len());
    let argument = argument.get(..end).unwrap_or_default();
    let is_fixed = argument.starts_with(['{', '\'', '"', '`', '[', ')']) || argument.is_empty();
    let reads = READING.iter().any(|it| has_word(argument, it));
    let is_name = argument.starts_with(|it: char| it.is_ascii_alphabetic() || "$_@".contains(it));
    !is_fixed && (reads || (is_name && literals(argument).is_empty()))
}
