//! What goes to stdout and stderr. A closed pipe is no reason to fail.

use std::error::Error;
use std::io::{self, Write};

use aegx::Sorted;
use aegx::verify::printable;
use serde_json::Value;

/// One line for people or scripts.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// One JSON object on a line of its own.
pub(crate) fn json(value: &Value) {
    line(&Sorted(value).to_string());
}

/// An error, with the program's name as others print it.
pub(crate) fn error(text: &str) {
    // It may name files that others named.
    let _ = writeln!(io::stderr(), "aegx: {}", printable(text));
}

/// A line for people beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// An error with everything that caused it, on one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
