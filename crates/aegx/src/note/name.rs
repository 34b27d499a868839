//! Names of keys.

use std::fmt;

/// The name of a key, as a signature line carries it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NoteName(String);

impl NoteName {
    /// Takes a name that can stand in a signature line and in a key.
    pub fn new(name: &str) -> Result<Self, NameRefused> {
        if name.is_empty() {
            return Err(NameRefused::Empty);
        }
        match name.chars().find(|c| *c == '+' || *c < ' ' || c.is_whitespace()) {
            Some(character) => Err(NameRefused::Character(character.into())),
            None => Ok(Self(name.to_owned())),
        }
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NoteName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Why a text is not the name of a key. Does not show the text: it may be part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameRefused {
    /// Nothing.
    #[error("the name is empty")]
    Empty,
    /// White space, `+` or a control character; here as its code point.
    #[error("the name holds the character U+{0:04X}")]
    Character(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_space_no_plus_and_no_control_character() {
        for good in ["a", "example.com/log", "日本", "a—b"] {
            assert_eq!(NoteName::new(good).unwrap().as_str(), good);
        }
        assert_eq!(NoteName::new(""), Err(NameRefused::Empty));
        for bad in ['+', ' ', '\t', '\n', '\0', '\u{1f}', '\u{85}', '\u{a0}', '\u{3000}'] {
            let refused = NoteName::new(&format!("a{bad}b"));
            assert_eq!(refused, Err(NameRefused::Character(bad.into())), "{bad:?}");
        }
        assert_eq!(
            NoteName::new("a b").unwrap_err().to_string(),
            "the name holds the character U+0020"
        );
    }
}
