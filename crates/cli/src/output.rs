//! What goes to stdout and stderr. A closed pipe is no reason to fail.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use aegx::Sorted;
use aegx::verify::{is_hidden, printable};
use indicatif::ProgressBar;
use serde_json::Value;
use vault::shape::redact;

/// Could something not be written, though somebody reads it?
static LOST: AtomicBool = AtomicBool::new(false);

/// One line for people or scripts. Answers whether anybody is still reading.
pub(crate) fn line(text: &str) -> bool {
    let written = writeln!(io::stdout(), "{text}");
    if written.as_ref().is_err_and(|it| it.kind() != io::ErrorKind::BrokenPipe) {
        LOST.store(true, Ordering::Relaxed);
    }
    written.is_ok()
}

/// Was a part of the result lost, by a full disk for one? A pipe that nobody reads on is no loss.
pub(crate) fn is_lost() -> bool {
    let flushed = io::stdout().flush();
    let is_lost = flushed.is_err_and(|it| it.kind() != io::ErrorKind::BrokenPipe);
    is_lost || LOST.load(Ordering::Relaxed)
}

/// How the program speaks, by its options.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manner {
    pub(crate) color: Color,
    pub(crate) quiet: bool,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Color {
    /// At a terminal, unless NO_COLOR is set.
    #[default]
    Auto,
    /// In files and pipes, too.
    Always,
    /// Nowhere.
    Never,
}

static MANNER: OnceLock<Manner> = OnceLock::new();

/// Speaks so from now on. Said once, before anything else is.
pub(crate) fn speak(manner: Manner) {
    let _ = MANNER.set(manner);
}

fn manner() -> Manner {
    MANNER.get().copied().unwrap_or_default()
}

/// Is nothing to be said where all is well?
pub(crate) fn is_quiet() -> bool {
    manner().quiet
}

/// Tells a person that something was done. A program that reads JSON was told already, and whoever wants quiet sees the
/// exit code.
pub(crate) fn told(is_json: bool, text: &str) {
    if !is_json && !is_quiet() {
        line(text);
    }
}

/// Tells what was done: a program by one JSON object, a person by a line.
pub(crate) fn done(is_json: bool, value: &Value, text: &str) {
    if is_json {
        json(value);
    } else {
        told(false, text);
    }
}

/// What a command was asked for: a program gets it as a JSON object, a person as text, also where all is quiet.
pub(crate) fn result(is_json: bool, value: &Value, text: &str) {
    if is_json {
        json(value);
    } else {
        line(text);
    }
}

/// A next step, beside the result.
pub(crate) fn hint(text: &str) {
    if !is_quiet() {
        note(text);
    }
}

/// One JSON object on a line of its own, flushed. What could act on a terminal is escaped.
pub(crate) fn json(value: &Value) -> bool {
    // Outside of strings there is nothing but ASCII, so that an escape is always in its place.
    let escape = |it: char| -> String {
        let mut units = [0; 2];
        it.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
    };
    let mut text = String::new();
    for it in Sorted(value).to_string().chars() {
        if is_hidden(it) { text.push_str(&escape(it)) } else { text.push(it) }
    }
    line(&text) && io::stdout().flush().is_ok()
}

/// An error.
pub(crate) fn error(text: &str) {
    let _ = writeln!(io::stderr(), "lazaret: {}", printable(&redact(text)));
}

/// A line for people beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(&redact(text)));
}

/// Is a person looking at stdout?
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Colours, where a person looks and has not forbidden them.
pub(crate) struct Paint {
    on: bool,
}

impl Paint {
    /// Without any, for programs.
    pub(crate) fn none() -> Self {
        Self { on: false }
    }

    pub(crate) fn for_stdout() -> Self {
        let on = match manner().color {
            Color::Auto => is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            Color::Always => true,
            Color::Never => false,
        };
        Self { on }
    }

    pub(crate) fn good(&self, text: &str) -> String {
        self.wrap("32", text)
    }

    pub(crate) fn bad(&self, text: &str) -> String {
        self.wrap("31", text)
    }

    pub(crate) fn strong(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn faint(&self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        if self.on { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// A number with its noun: `1 record`, `2 records`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A span of time, short: `45s`, `12m`, `3h`.
pub(crate) fn ago(seconds: i64) -> String {
    match seconds.max(0) {
        it @ 0..60 => format!("{it}s"),
        it @ 60..3600 => format!("{}m", it / 60),
        it @ 3600..172_800 => format!("{}h", it / 3600),
        it => format!("{}d", it / 86_400),
    }
}

/// Shows that something is going on; nothing in a pipe.
pub(crate) fn spinner(text: &'static str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    ProgressBar::new_spinner().with_message(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_time_are_short() {
        let told =
            [(-5, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (3600, "1h"), (200_000, "2d")];
        for (seconds, text) in told {
            assert_eq!(ago(seconds), text);
        }
    }
}
