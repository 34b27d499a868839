//! Texts of servers as people are shown them: nothing that breaks out of a line, a table or an attribute.

use crate::limits::{SHOWN_DESCRIPTION_BYTES_MAX, SHOWN_LOG_CHARS_MAX};

/// Returns a tool's name with everything but letters, digits, `_` and `-` replaced.
#[must_use]
pub fn tool_name(name: &str) -> String {
    replaced(name, |it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-'))
}

/// Returns a server's id with everything but letters, digits, `_`, `-` and `.` replaced.
#[must_use]
pub fn server_id(id: &str) -> String {
    replaced(id, |it| it.is_ascii_alphanumeric() || matches!(it, '_' | '-' | '.'))
}

/// Returns a description without control and invisible characters, cut to its limit.
///
/// Whether it tries to instruct the model is for the scanner to say, not for this function.
#[must_use]
pub fn description(text: &str) -> String {
    let visible: String = text.chars().filter(|&it| it == '\n' || !is_invisible(it)).collect();
    truncated(&visible, SHOWN_DESCRIPTION_BYTES_MAX).to_owned()
}

/// Returns a value as it may stand within one line of a log.
#[must_use]
pub fn log_value(text: &str) -> String {
    let escaped = text.replace('\n', "\\n").replace('\r', "\\r");
    escaped.chars().filter(|&it| !is_invisible(it)).take(SHOWN_LOG_CHARS_MAX).collect()
}

/// Returns the beginning of a text that has at most so many bytes, cut between characters.
#[must_use]
pub fn truncated(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let end = (0..=bytes_max).rev().find(|&it| text.is_char_boundary(it)).unwrap_or(0);
    text.get(..end).unwrap_or_default()
}

fn replaced(text: &str, keeps: impl Fn(char) -> bool) -> String {
    if text.is_empty() {
        return UNNAMED.to_owned();
    }
    text.chars().map(|it| if keeps(it) { it } else { '_' }).collect()
}

/// Controls, and characters that no screen shows: zero widths, directions, tags, variation selectors.
fn is_invisible(it: char) -> bool {
    it.is_control()
        || matches!(it, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(it, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
        || matches!(it, '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

const UNNAMED: &str = "_unnamed";
