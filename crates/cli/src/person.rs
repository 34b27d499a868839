//! The person at the terminal.

use std::io::{self, BufRead, IsTerminal};

use crate::failure::Failure;
use crate::output;

/// Shows the person what it is about and asks them for a `yes`. Where nobody sits at a terminal, nobody
/// can be asked.
pub(crate) fn says_yes(lines: &[String], what_for: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage("this asks a person: run it at a terminal, or say --yes"));
    }
    for line in lines {
        output::note(line);
    }
    output::note(&format!("Type `yes` to {what_for}:"));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(Failure::unable)?;
    Ok(answer.trim() == "yes")
}
