//! Questions to a person that a modern client carries back: `requestState` is a random word, and what it stands for
//! is kept here.
//!
//! INVARIANT (OneAnswer): a state is good once, for one method, one server and the very arguments that were asked
//! about, until it expires. Whoever tries it wrongly has used it up.

use crate::limits::{APPROVAL_WAIT, APPROVALS_MAX};
use data_encoding::HEXLOWER;
use serde_json::{Map, Value};
use std::collections::{HashMap, VecDeque};
use std::time::Instant;

/// The open questions.
#[derive(Debug, Default)]
pub(crate) struct Approvals {
    open: HashMap<String, Approval>,
    order: VecDeque<String>,
}

/// A question: what was asked about, and until when an answer counts.
#[derive(Debug)]
pub(crate) struct Approval {
    pub(crate) question: String,
    pub(crate) subject: Subject,
    /// Parameters of the first call that are for the server.
    pub(crate) carried: Map<String, Value>,
    pub(crate) expires: Instant,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) server: usize,
    pub(crate) method: String,
    pub(crate) name: String,
    /// SHA-256 of the arguments.
    pub(crate) arguments: String,
}

/// A refusal of a state, in words for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stale {
    #[error("this approval is unknown or was used before; make the call again to be asked again")]
    Unknown,
    #[error("this approval came too late; make the call again to be asked again")]
    Expired,
    #[error("this approval was given for another call; make the call again to be asked again")]
    OtherCall,
}

impl Approvals {
    /// Keeps a question and returns its state; `None` without randomness. The oldest question makes room.
    pub(crate) fn issue(
        &mut self,
        question: String,
        subject: Subject,
        carried: Map<String, Value>,
        now: Instant,
    ) -> Option<String> {
        let state = format!("{PREFIX}{}", random_word()?);
        while self.order.len() >= APPROVALS_MAX {
            if let Some(oldest) = self.order.pop_front() {
                self.open.remove(&oldest);
            }
        }
        let approval = Approval { question, subject, carried, expires: now + APPROVAL_WAIT };
        self.open.insert(state.clone(), approval);
        self.order.push_back(state.clone());
        Some(state)
    }

    /// Whether a state claims to be ours.
    pub(crate) fn claims(state: &str) -> bool {
        state.starts_with(PREFIX)
    }

    /// Uses up a state and returns its question.
    pub(crate) fn take(
        &mut self,
        state: &str,
        subject: &Subject,
        now: Instant,
    ) -> Result<Approval, Stale> {
        let approval = self.open.remove(state).ok_or(Stale::Unknown)?;
        self.order.retain(|it| it != state);
        if now >= approval.expires {
            return Err(Stale::Expired);
        }
        if approval.subject != *subject {
            return Err(Stale::OtherCall);
        }
        Ok(approval)
    }
}

/// Returns 128 random bits as text.
pub(crate) fn random_word() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(HEXLOWER.encode(&bytes))
}

const PREFIX: &str = "lazaret-approval-";
