//! What a person does with the state directory, for the record, and what the policy says of it.

use aegx::{Digest, Principal, RecordType};
use evidence::{AppendError, Journal, NewRecord, Receipt};
use model::{HostKind, Kind, SessionId, Taint, UserId};
use monitor::{ByHand, Decided};
use serde_json::{Map, Value, json};

/// The kind of record of what the policy has denied a person.
const DENIED: &str = "control_denied";

/// What of all that people do loosens what guards, or brings in something that agents obey. Whatever takes away or locks up is
/// a person's own to do.
const GUARDED: &[(&str, HostKind)] = &[
    ("agents_wired", HostKind::ControlPlaneChange),
    ("folder_trusted", HostKind::ControlPlaneChange),
    ("grants_written", HostKind::ControlPlaneChange),
    ("mcp_accepted", HostKind::ControlPlaneChange),
    ("mcp_forgotten", HostKind::ControlPlaneChange),
    ("mcp_trust_set", HostKind::ControlPlaneChange),
    ("observing_started", HostKind::ControlPlaneChange),
    ("plugin_added", HostKind::ControlPlaneChange),
    ("skill_approved", HostKind::SkillInstall),
    ("skill_installed", HostKind::SkillInstall),
    ("skill_suppressed", HostKind::ControlPlaneChange),
];

/// What a person does, for the record. Names only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deed {
    /// What: one of [`DEEDS`](super::DEEDS).
    pub kind: &'static str,
    /// Who.
    pub by: UserId,
    /// What it carries.
    pub taint: Taint,
    /// The session that it is about, if it is about one.
    pub session: Option<SessionId>,
    /// The record of the deed that this is the end of, if it came to nothing.
    pub after: Option<Digest>,
    /// More about it.
    pub content: Map<String, Value>,
}

/// Why a deed is not to be done.
#[derive(Debug, thiserror::Error)]
pub enum DeedError {
    /// The policy denies it.
    #[error("the policy does not let you do this: {0}")]
    Denied(String),
    /// It cannot be recorded.
    #[error(transparent)]
    NotRecorded(#[from] AppendError),
}

impl Deed {
    /// What the policy is to be asked about it, if it is one of those that the policy has a word in.
    #[must_use]
    pub fn by_hand(&self) -> Option<ByHand<'_>> {
        let (_, kind) = GUARDED.iter().find(|(name, _)| *name == self.kind)?;
        Some(ByHand { kind: *kind, name: self.kind, by: &self.by, taint: self.taint })
    }

    /// Records it in a person's name, with what was decided of it.
    ///
    /// # Errors
    /// If it is denied or cannot be recorded; then it must not be done.
    pub fn record(&self, journal: &Journal, judged: Option<Decided>) -> Result<Receipt, DeedError> {
        let mut content = self.content.clone();
        content.insert("by".to_owned(), json!(self.by.as_str()));
        // INVARIANT (FailClosed): what nobody has judged is not done.
        let asked = self.by_hand().is_some();
        let happens = judged.as_ref().map_or(!asked, |it| it.happens);
        let why = judged.as_ref().map_or_else(String::new, |it| it.why.clone());
        content.extend(judged.into_iter().flat_map(|it| it.record));
        let (record_type, kind) = match happens {
            true => (RecordType::ControlPlaneChangeRequest, self.kind),
            false => {
                content.insert("deed".to_owned(), json!(self.kind));
                (RecordType::GuardDecision, DENIED)
            }
        };
        let content = Value::Object(content);
        let receipt = journal.append(NewRecord {
            parents: self.after.into_iter().collect(),
            principal: Principal::User,
            taint: self.taint,
            session: self.session.clone(),
            ..NewRecord::of_host(record_type, Kind::of_static(kind), content)
        })?;
        if happens { Ok(receipt) } else { Err(DeedError::Denied(why)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::DEEDS;

    #[test]
    fn what_is_guarded_is_something_that_people_do() {
        for (name, _) in GUARDED {
            assert!(DEEDS.contains(name), "{name}");
        }
        assert!(DEEDS.is_sorted());
    }
}
