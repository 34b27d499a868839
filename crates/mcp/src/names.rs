//! Names of servers, and of their tools and prompts where several servers stand behind one client.
//!
//! Such a name is `server__tool`. A server's name has no `__` and neither begins nor ends with `_`, so the first
//! `__` divides the name in one way only, whatever the tool is called.

use crate::limits::{SERVER_NAME_CHARS_MAX, TOOL_NAME_CHARS_MAX};

/// A refusal of a server's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` cannot name a server: use 1 to {SERVER_NAME_CHARS_MAX} letters, digits, `-`, `.` and `_`, no `__`, and no `_` at either end"
)]
pub struct BadServerName(pub String);

/// Checks a server's name.
pub fn check_server(name: &str) -> Result<(), BadServerName> {
    let fits = !name.is_empty()
        && name.len() <= SERVER_NAME_CHARS_MAX
        && name.chars().all(is_name_char)
        && !name.contains(SEPARATOR)
        && !name.starts_with('_')
        && !name.ends_with('_');
    if fits { Ok(()) } else { Err(BadServerName(crate::shown::log_value(name))) }
}

/// Whether the protocol lets a tool have this name.
#[must_use]
pub fn is_tool_name(name: &str) -> bool {
    !name.is_empty() && name.len() <= TOOL_NAME_CHARS_MAX && name.chars().all(is_name_char)
}

/// Returns the name that the client sees; `None` where it would be too long.
#[must_use]
pub fn prefixed(server: &str, name: &str) -> Option<String> {
    let whole = format!("{server}{SEPARATOR}{name}");
    (whole.chars().count() <= TOOL_NAME_CHARS_MAX).then_some(whole)
}

/// Splits a name that the client used into the server's and the tool's.
#[must_use]
pub fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(SEPARATOR)
}

fn is_name_char(it: char) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '-')
}

/// What stands between a server's name and its tool's.
pub const SEPARATOR: &str = "__";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefixed_name_divides_in_one_way() {
        for server in ["files", "a.b-c", "x_y"] {
            check_server(server).unwrap();
            for tool in ["read", "__read", "a__b", "_"] {
                let whole = prefixed(server, tool).unwrap();
                assert_eq!(split(&whole), Some((server, tool)));
            }
        }
        assert_eq!(prefixed("files", &"x".repeat(122)), None);
    }

    #[test]
    fn names_that_would_not_divide_are_refused() {
        for name in ["", "_a", "a_", "a__b", "a b", "a/b", &"x".repeat(33), "ä"] {
            check_server(name).unwrap_err();
        }
    }
}
