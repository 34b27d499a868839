//! Who pays for questions to models: each is paid for before it is asked.

use llm::{Price, Usage};

use crate::runtime::TurnErrorCode;

/// Pays for the questions of one turn, those of its sub-agents and tools included.
///
/// INVARIANT (ReservedFirst): nothing is asked before what it may use is set aside durably. Whoever ends in between leaves
/// it as spent.
pub trait Purse: Send + Sync {
    /// Sets aside what a question may use at most.
    ///
    /// # Errors
    /// If it does not fit what is left, or cannot be written down: then nothing may be asked.
    fn before(&self, most: &Estimate) -> Result<Aside, NotPaid>;

    /// Puts what was used in the place of what was set aside. `price` is that of the model that answered, where it is known.
    fn after(&self, aside: Aside, usage: &Usage, price: Option<Price>);

    /// Nothing more is asked. What is still set aside stays spent, unless it is settled later.
    fn end(&self);
}

/// What a question may use at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Tokens of the longest answer that is wanted.
    pub output_tokens: u64,
    /// What its model costs, where that is known.
    pub price: Option<Price>,
}

/// Something that was set aside for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "what was set aside stays spent until it is settled"]
pub struct Aside {
    /// What the purse knows it by.
    pub id: i64,
    /// The longest answer that it is enough for, where there is a limit.
    pub output_tokens: Option<u64>,
}

/// Why a question may not be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NotPaid {
    /// Why, for programs.
    pub code: TurnErrorCode,
    /// Why, for people.
    pub message: String,
}

impl NotPaid {
    /// For this reason.
    pub fn new(code: TurnErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}
