//! Why a model did not answer.

use std::fmt;

use crate::answer::Usage;

/// A question that got no whole answer.
#[derive(Debug, thiserror::Error)]
#[error("the model did not answer ({kind}): {detail}")]
pub struct LlmError {
    /// What callers go by.
    pub kind: ErrorKind,
    /// What the provider or the way out said, shortened; never a key.
    pub detail: String,
    /// What was used before the error, as far as it is known.
    pub usage: Usage,
}

/// The kinds of failure that callers treat differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The provider has too much to do, or is broken.
    Overloaded,
    /// This key has asked too often, or its money is spent.
    RateLimited,
    /// The key is missing, wrong, or not for this model.
    InvalidKey,
    /// The conversation is longer than the model can read.
    ContextTooLong,
    /// The gate or the provider's filter said no to this request.
    Refused,
    /// Nobody answered, or the answer broke off or made no sense.
    Unreachable,
    /// The request itself is wrong: another provider would say the same.
    Invalid,
}

impl ErrorKind {
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Overloaded,
        Self::RateLimited,
        Self::InvalidKey,
        Self::ContextTooLong,
        Self::Refused,
        Self::Unreachable,
        Self::Invalid,
    ];

    /// The kind of exactly this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// The name of the kind in records and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Overloaded => "overloaded",
            Self::RateLimited => "rate_limited",
            Self::InvalidKey => "invalid_key",
            Self::ContextTooLong => "context_too_long",
            Self::Refused => "refused",
            Self::Unreachable => "unreachable",
            Self::Invalid => "invalid_request",
        }
    }
}

impl LlmError {
    /// An error of which nothing was used. The text is shortened, and put on one line.
    pub fn new(kind: ErrorKind, detail: impl AsRef<str>) -> Self {
        Self { kind, detail: shortened(detail.as_ref()), usage: Usage::default() }
    }

    /// The same after so much was used.
    #[must_use]
    pub fn after(self, usage: Usage) -> Self {
        Self { usage, ..self }
    }
}

/// The longest detail of an error, in characters.
pub const DETAIL_CHARS_MAX: usize = 400;

/// Text of a provider on one line, cut, with nothing in it that a terminal would obey.
fn shortened(text: &str) -> String {
    let plain = |it: char| if it.is_control() || is_direction(it) { ' ' } else { it };
    let mut shown: String = text.chars().take(DETAIL_CHARS_MAX).map(plain).collect();
    if text.chars().nth(DETAIL_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown.trim().to_owned()
}

/// Characters that change in which direction a terminal writes.
fn is_direction(it: char) -> bool {
    matches!(it, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
