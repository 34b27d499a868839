//! Turns without an answer, and why.

use agent::{TurnError, TurnErrorCode};
use monitor::Refusal;

use super::slots::Full;
use crate::worker::HistoryError;

pub(super) fn no_room(full: Full) -> TurnError {
    let why = match full {
        Full::OfUser => "as many workers of this user run as may",
        Full::OfAll => "as many workers run as may",
    };
    error(TurnErrorCode::WorkersExhausted, why)
}

pub(super) fn refused(refusal: Refusal) -> TurnError {
    error(TurnErrorCode::Busy, refusal.to_string())
}

/// An answer that the gate does not let out.
pub(super) fn withheld(refusal: &Refusal) -> TurnError {
    let first = refusal.objections().first();
    let why = first.map_or_else(|| refusal.to_string(), |it| it.for_person.clone());
    let remedy = first.and_then(|it| it.remedy.as_deref());
    let next = remedy.unwrap_or("ask for something else, or in other words");
    let why = format!("the answer is withheld: {why} ({}); {next}", refusal.rule());
    error(TurnErrorCode::AccessDenied, why)
}

pub(super) fn not_kept(why: &HistoryError) -> TurnError {
    error(TurnErrorCode::Busy, why.to_string())
}

pub(crate) fn error(code: TurnErrorCode, message: impl Into<String>) -> TurnError {
    TurnError::new(code, message)
}
