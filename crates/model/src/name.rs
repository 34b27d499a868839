//! Names of sessions, agents and kinds of record. Cloning one costs next to nothing.

use std::fmt;
use std::sync::Arc;

/// The longest name.
pub const NAME_BYTES_MAX: usize = 128;

/// Why a text is no name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing there.
    #[error("{what} cannot be empty")]
    Empty {
        /// What was to be named.
        what: &'static str,
    },
    /// Over [`NAME_BYTES_MAX`].
    #[error("{what} has at most {NAME_BYTES_MAX} bytes, this one has {bytes}")]
    TooLong {
        /// What was to be named.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// Somebody may make a file or a folder of it.
    #[error(
        "no part of {what} between `:` is empty, begins or ends with a dot, has two dots side by side or is a device's name"
    )]
    Part {
        /// What was to be named.
        what: &'static str,
    },
    /// A character that could be taken for another, for a path, or for nothing.
    #[error("{what} has only letters, digits and `-_.:@` from ASCII, not `{found}`")]
    Character {
        /// What was to be named.
        what: &'static str,
        /// The first such character, escaped.
        found: String,
    },
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Takes `text` as it stands, or not at all.
            ///
            /// # Errors
            /// If it is empty, too long, holds anything but ASCII letters, digits and `-_.:@`, or if a part of it
            /// between colons could not be the name of a file everywhere: `..`, `.x`, `con`.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                check(text, $what).map(|()| Self(text.into()))
            }

            /// The name.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

name! {
    /// A session: one run of one agent for one user.
    SessionId, "the name of a session"
}
name! {
    /// An agent.
    AgentId, "the name of an agent"
}
name! {
    /// A person that agents work for.
    UserId, "the name of a user"
}
name! {
    /// What a record is, finer than its type: `network_request`, `interrupted`.
    Kind, "a kind of record"
}

impl Kind {
    /// A kind that the program itself names; what cannot stand in a name becomes `_`.
    #[must_use]
    pub fn of_static(name: &'static str) -> Self {
        Self::parse(name).unwrap_or_else(|_| Self("_".into()))
    }
}

fn check(text: &str, what: &'static str) -> Result<(), NameError> {
    if text.is_empty() {
        return Err(NameError::Empty { what });
    }
    if text.len() > NAME_BYTES_MAX {
        return Err(NameError::TooLong { what, bytes: text.len() });
    }
    let legal = |it: char| it.is_ascii_alphanumeric() || "-_.:@".contains(it);
    match text.chars().find(|it| !legal(*it)) {
        Some(found) => Err(NameError::Character { what, found: found.escape_debug().to_string() }),
        None if text.split(':').all(is_part) => Ok(()),
        None => Err(NameError::Part { what }),
    }
}

/// INVARIANT (Confined): a name leads nowhere, wherever somebody makes a path of it.
fn is_part(part: &str) -> bool {
    let dots = part.starts_with('.') || part.ends_with('.') || part.contains("..");
    !part.is_empty() && !dots && !is_device(part)
}

/// Devices of Windows, with any ending and on every disk.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().to_ascii_lowercase();
    let number = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let numbered = number.is_some_and(|it| matches!(it.as_bytes(), [b'1'..=b'9']));
    numbered || matches!(stem.as_str(), "aux" | "con" | "nul" | "prn")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_or_refused() {
        for good in ["s-1", "agent.mail@home", "A:b_c", &"x".repeat(NAME_BYTES_MAX)] {
            assert_eq!(SessionId::parse(good).unwrap().as_str(), good);
        }
        for bad in ["", "a b", "a/b", "a\u{0}", "ｓ-1", "a\n", &"x".repeat(NAME_BYTES_MAX + 1)] {
            assert!(SessionId::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_name_leads_nowhere_as_a_path() {
        for bad in [
            ".", "..", "...", ".x", "x.", "a..b", "..:..:..", "a:..:b", "a:.b", ":a", "a:", "a::b",
            "CON", "nul.txt", "x:com1",
        ] {
            assert_eq!(
                UserId::parse(bad),
                Err(NameError::Part { what: "the name of a user" }),
                "{bad}"
            );
        }
        for good in ["a.b", "com10", "console", "main:cli:default", "a@b.co", "-"] {
            assert!(UserId::parse(good).is_ok(), "{good}");
        }
    }

    #[test]
    fn an_error_names_the_character_without_printing_it_raw() {
        let error = AgentId::parse("a\u{202e}b").unwrap_err().to_string();
        assert!(error.contains(r"\u{202e}"), "{error}");
    }
}
