//! What stands around the JSON of a line: line ends, blanks, encoding.

use super::finding::{Code, Finding};
use super::lines::Line;
use super::report::Findings;
use crate::archive::Rules;

/// Takes the blanks off a line as upstream does; `None` if nothing is left.
pub(crate) fn unwrap<'a>(
    line: &Line<'a>,
    at: &str,
    rules: Rules,
    findings: &mut Findings,
) -> Option<&'a str> {
    let mut strict = |code, detail| {
        if rules == Rules::Strict {
            findings.add(Finding::new(code, at, detail));
        }
    };
    if !line.ended {
        strict(Code::FinalNewline, "the last line has no newline");
    }
    let Ok(text) = std::str::from_utf8(line.text) else {
        findings.add(Finding::new(Code::FileUnreadable, at, "the line is not UTF-8"));
        return None;
    };
    let without_return = text.strip_suffix('\r').unwrap_or(text);
    if without_return.len() < text.len() {
        strict(Code::LineEnding, "the line ends with a carriage return");
    }
    let trimmed = without_return.trim();
    if trimmed.is_empty() {
        strict(Code::BlankLine, "the line is blank");
        return None;
    }
    if trimmed.len() < without_return.len() {
        strict(Code::LineWhitespace, "white space around the line");
    }
    Some(trimmed)
}
