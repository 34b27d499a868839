//! Names of skills: plain, short, and safe as the name of a folder anywhere.

use std::fmt;

/// The longest name, in bytes.
const NAME_BYTES_MAX: usize = 100;

/// A name of letters, digits, `-`, `_` and `.` in ASCII that begins and ends with a letter or digit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(String);

/// A text that names no skill.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a skill's name has from 1 to {NAME_BYTES_MAX} letters a-z, digits, `-`, `_` or `.`, and begins and ends with a letter or digit"
)]
pub struct SkillNameError;

impl SkillName {
    /// Exactly this name.
    ///
    /// # Errors
    /// If it is none. Nothing is cleaned away: two names never become one.
    pub fn parse(text: &str) -> Result<Self, SkillNameError> {
        let inner =
            text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'));
        let ends = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
        let long = !(1..=NAME_BYTES_MAX).contains(&text.len());
        let twice = text.contains("..");
        // Git's own, and names that stand for devices on some systems.
        let reserved = text.to_ascii_lowercase();
        let stem = reserved.split('.').next().unwrap_or_default();
        let device = matches!(stem, "con" | "prn" | "aux" | "nul")
            || matches!(stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt")), Some(it) if it.len() == 1);
        let lock = reserved.ends_with(".lock") || reserved == "git";
        let good = inner && ends(text.chars().next()) && ends(text.chars().next_back());
        if !good || long || twice || device || lock {
            return Err(SkillNameError);
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Could it be taken for the other?
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self != other && self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_word_or_none() {
        for good in ["a", "deploy", "Deploy-2", "web.search", "a_b", &"x".repeat(100)] {
            assert_eq!(SkillName::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            ".",
            "..",
            ".git",
            "git",
            "a/b",
            "../x",
            "a\\b",
            "a..b",
            "-a",
            "a-",
            "a ",
            " a",
            "a\0",
            "a\n",
            "é",
            "ａ",
            "a:b",
            "con",
            "NUL.md",
            "com1",
            "a.lock",
            "a\u{202e}b",
            "%2e%2e",
            "~",
            &"x".repeat(101),
        ] {
            assert!(SkillName::parse(bad).is_err(), "{bad:?}");
        }
    }
}
