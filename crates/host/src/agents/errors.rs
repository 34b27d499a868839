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

/// What the gate does not take in. Where it was judged, the same would be judged of it again; else it may be said once more.
pub(super) fn refused(refusal: Refusal) -> TurnError {
    if matches!(refusal, Refusal::Stopped(_)) {
        return error(TurnErrorCode::AccessDenied, said_no("the message is refused", &refusal));
    }
    error(TurnErrorCode::Busy, refusal.to_string())
}

/// An answer that the gate does not let out.
pub(super) fn withheld(refusal: &Refusal) -> TurnError {
    error(TurnErrorCode::AccessDenied, said_no("the answer is withheld", refusal))
}

fn said_no(what: &str, refusal: &Refusal) -> String {
    let first = refusal.objections().first();
    let why = first.map_or_else(|| refusal.to_string(), |it| it.for_person.clone());
    let remedy = first.and_then(|it| it.remedy.as_deref());
    let next = remedy.unwrap_or("ask for something else, or in other words");
    format!("{what}: {why} ({}); {next}", refusal.rule())
}

pub(super) fn not_kept(why: &HistoryError) -> TurnError {
    error(TurnErrorCode::Busy, why.to_string())
}

pub(crate) fn error(code: TurnErrorCode, message: impl Into<String>) -> TurnError {
    TurnError::new(code, message)
}
