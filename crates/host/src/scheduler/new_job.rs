//! A job that is to be made, and whose it is.

use model::ipc::Uuid;
use model::{AgentId, TaintTag, UserId};

use super::delivery::Delivery;
use super::job::When;

/// Whose jobs are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub user: UserId,
    /// The agent.
    pub agent: AgentId,
}

/// A job that is to be made.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// For whom.
    pub owner: Owner,
    /// In which session; empty if a person makes it.
    pub session: String,
    /// The record of the decision, as hex.
    pub record: String,
    /// What its maker carries.
    pub tag: Option<TaintTag>,
    /// What the agent is told.
    pub prompt: String,
    /// How many tokens it gets.
    pub token_budget: Option<u64>,
    /// When it comes.
    pub when: When,
    /// Where its answers go; nowhere if there is none.
    pub delivery: Option<Delivery>,
}

/// A job that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its name.
    pub id: Uuid,
    /// When it comes first.
    pub next: i64,
}
