//! What goes to stdout and stderr. A closed pipe is no reason to fail.

use std::io::{self, Write};

use serde_json::Value;

/// One line for people or scripts.
pub(crate) fn line(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// One JSON object on a line of its own.
pub(crate) fn json(value: &Value) {
    line(&value.to_string());
}

/// An error, with the program's name as others print it.
pub(crate) fn error(text: &str) {
    let _ = writeln!(io::stderr(), "aegx: {text}");
}

/// A line for people beside the result.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}
