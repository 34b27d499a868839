//! Who pays for questions to models: each is paid for before it is asked.

use std::fmt;

use llm::{ANSWER_TOKENS_USUAL, Price, Request, Usage};
use serde::{Deserialize, Serialize};

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

    /// The limits of which much is used, for whoever pays.
    fn near(&self) -> Vec<Reached> {
        Vec::new()
    }

    /// The limit for which a question was not asked, if there was one.
    fn exceeded(&self) -> Option<Reached> {
        None
    }
}

/// A limit of a budget that is near, or reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reached {
    /// Which: `session`, `daily` or `monthly`.
    pub budget: String,
    /// The limit.
    pub limit: f64,
    /// What counts against it.
    pub used: f64,
    /// What is counted: `tokens` or `usd`.
    pub unit: String,
    /// When something of it comes back, as a time of RFC 3339; a session has no window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<String>,
}

impl Reached {
    /// How much of the limit is used, in whole percents.
    #[must_use]
    pub fn percentage(&self) -> u64 {
        percentage(self.used, self.limit)
    }
}

/// The part of a limit that is used, in whole percents.
#[must_use]
pub fn percentage(used: f64, limit: f64) -> u64 {
    if limit > 0.0 { (used / limit * 100.0).floor() as u64 } else { 100 }
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { budget, limit, used, unit, resets_at } = self;
        write!(f, "{used} of {limit} {unit} of the {budget} budget are used or set aside")?;
        match resets_at {
            Some(at) => write!(f, "; something comes back at {at}"),
            None => Ok(()),
        }
    }
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

impl Estimate {
    /// Estimates this question to a model with this price.
    #[must_use]
    pub fn of(request: &Request, price: Option<Price>) -> Self {
        let answer = request.max_tokens.unwrap_or(ANSWER_TOKENS_USUAL);
        Self { input_tokens: request.tokens_at_most(), output_tokens: answer.into(), price }
    }

    /// The same where so many models may be asked in turn: each of them reads the question, one answers it.
    #[must_use]
    pub fn asked_of(self, models: usize) -> Self {
        let times = u64::try_from(models.max(1)).unwrap_or(u64::MAX);
        Self { input_tokens: self.input_tokens.saturating_mul(times), ..self }
    }
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
