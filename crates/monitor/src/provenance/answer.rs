//! Answers to what the agent asks the user.

use serde::{Deserialize, Serialize};

use super::hash::Key;
use super::norm::word_key;
use super::user::is_telling;
use crate::deed::{chooses, is_answer, opens};

/// What a text may be to a question of the agent's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) enum Answer {
    /// None: it asks for something itself, refuses, asks back or thanks.
    #[default]
    No,
    /// It accepts or chooses something, whatever the question was.
    Chooses,
    /// It does if one of these words stands in the question.
    Names(Vec<Key>),
}

impl Answer {
    pub(super) fn of<S: AsRef<str>>(folded: &str, all: &[S], asks_for_nothing: bool) -> Self {
        if !is_answer(folded, all) || !(asks_for_nothing || opens(folded, all)) {
            return Self::No;
        }
        let telling = all.iter().map(AsRef::as_ref).filter(|it| is_telling(it));
        match chooses(folded, all) {
            true => Self::Chooses,
            false => Self::Names(telling.map(word_key).collect()),
        }
    }
}
