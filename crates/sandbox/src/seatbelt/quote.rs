//! Paths as a profile has them.

use std::fmt::Write as _;

/// A path as a literal. What could end the literal or be read as something else is written by its number.
pub(super) fn literal(path: &str) -> String {
    let mut text = String::with_capacity(path.len() + 2);
    text.push('"');
    for character in path.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            // Parentheses and semicolons mean nothing within a literal; a line end is one to the eye.
            it if it.is_ascii_control() => {
                let _ = write!(text, "\\x{:02x}", u32::from(it));
            }
            it => text.push(it),
        }
    }
    text.push('"');
    text
}

/// A pattern for a path and what lies below it, whatever the case of its letters: most disks of a Mac do not tell `.GIT`
/// from `.git`, so that what is not there yet could be made under the other name. What a pattern would read as
/// something else is any one character: it denies a little more, and only where something is denied.
pub(super) fn pattern(path: &str) -> String {
    let mut text = String::from("#\"^");
    for character in path.chars() {
        match character {
            it if it.is_ascii_alphabetic() => {
                let (lower, upper) = (it.to_ascii_lowercase(), it.to_ascii_uppercase());
                let _ = write!(text, "[{lower}{upper}]");
            }
            '/' | '_' | '-' | ' ' | ',' | '=' | '@' | '0'..='9' => text.push(character),
            it if it.is_ascii() => text.push('.'),
            // As many bytes as it may take.
            _ => text.push_str(".+"),
        }
    }
    text.push_str("(/.*)?$\"");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_literal_but_its_end() {
        assert_eq!(literal("/a b/(c)"), "\"/a b/(c)\"");
        assert_eq!(literal("/a\"b\\c"), "\"/a\\\"b\\\\c\"");
        assert_eq!(literal("/a\nb\u{7f}"), "\"/a\\x0ab\\x7f\"");
        assert_eq!(literal("/\u{fc}"), "\"/\u{fc}\"");
    }

    #[test]
    fn a_pattern_has_no_quotes_and_no_backslashes_of_a_path() {
        assert_eq!(pattern("/w/.gIt"), "#\"^/[wW]/.[gG][iI][tT](/.*)?$\"");
        assert_eq!(pattern("/\"\\^$*"), "#\"^/.....(/.*)?$\"");
    }
}
