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
    #[error("a {what} cannot be empty")]
    Empty {
        /// What was to be named.
        what: &'static str,
    },
    /// Over [`NAME_BYTES_MAX`].
    #[error("a {what} has at most {NAME_BYTES_MAX} bytes, this one has {bytes}")]
    TooLong {
        /// What was to be named.
        what: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// A character that could be taken for another, for a path, or for nothing.
    #[error("a {what} has only letters, digits and `-_.:@` from ASCII, not `{found}`")]
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
            /// If it is empty, too long, or holds anything but ASCII letters, digits and `-_.:@`.
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
    SessionId, "session"
}
name! {
    /// An agent.
    AgentId, "agent"
}
name! {
    /// A person that agents work for.
    UserId, "user"
}
name! {
    /// What a record is, finer than its type: `network_request`, `interrupted`.
    Kind, "kind"
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
        None => Ok(()),
    }
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
    fn an_error_names_the_character_without_printing_it_raw() {
        let error = AgentId::parse("a\u{202e}b").unwrap_err().to_string();
        assert!(error.contains(r"\u{202e}"), "{error}");
    }
}
