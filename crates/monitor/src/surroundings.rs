//! How the process is confined, as whoever started it found out: on the record of every session, and an alert where it is
//! not what it should be.
//!
//! It is found out once per process, since nothing but the process itself could change it. So the whole report stands on
//! the record of the first session, and later ones point at it; and a person is alerted once and not by every session.

use std::sync::{Arc, Mutex, PoisonError};

use aegx::{Digest, Principal, RecordType};
use evidence::{AppendError, NewRecord};
use model::Caller;
use serde_json::{Value, json};

use crate::monitor::Monitor;
use crate::record;

/// How far the surroundings confine the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// By every wall that is looked for.
    Full,
    /// By some.
    Partial,
    /// By none.
    None,
}

impl Confinement {
    /// As records have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Full => "Full",
            Self::Partial => "Partial",
            Self::None => "None",
        }
    }

    /// How loudly a person is told (seed 004).
    fn alert(self) -> Option<&'static str> {
        match self {
            Self::Full => None,
            Self::Partial => Some("HIGH"),
            Self::None => Some("CRITICAL"),
        }
    }
}

/// What was found out.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// In one word.
    pub confinement: Confinement,
    /// From 0 to 100.
    pub score: u8,
    /// All of it, as it is recorded.
    pub report: Value,
}

/// The same, and where it was recorded first.
pub(crate) struct Recorded {
    found: Surroundings,
    first: Mutex<Option<Digest>>,
}

impl Monitor {
    /// With what was found out about the surroundings. Without, sessions say nothing of them.
    #[must_use]
    pub fn with_surroundings(mut self, found: Surroundings) -> Self {
        self.surroundings = Some(Arc::new(Recorded { found, first: Mutex::new(None) }));
        self
    }

    /// INVARIANT (NothingSilent): a session that is opened has the surroundings on its record.
    pub(crate) fn record_surroundings(&self, who: &Caller) -> Result<(), AppendError> {
        let Some(surroundings) = &self.surroundings else { return Ok(()) };
        let Recorded { found, first } = &**surroundings;
        // Held while the first one is recorded, and only then: of two first sessions one is the first.
        let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = *first {
            drop(first);
            self.journal().append(again(who, found, known))?;
            return Ok(());
        }
        let record = self.journal().append(whole(who, found))?.id();
        if let Some(severity) = found.confinement.alert() {
            self.journal().append(alert(who, found, severity, record))?;
        }
        *first = Some(record);
        Ok(())
    }
}

fn whole(who: &Caller, found: &Surroundings) -> NewRecord {
    let mut content = judged(found);
    if let Value::Object(fields) = &mut content {
        fields.insert("report".to_owned(), found.report.clone());
    }
    of(who, "sandbox_audit", content)
}

fn again(who: &Caller, found: &Surroundings, first: Digest) -> NewRecord {
    NewRecord { parents: vec![first], ..of(who, "sandbox_audit", judged(found)) }
}

fn judged(found: &Surroundings) -> Value {
    json!({
        "compliance": found.confinement.as_str(),
        "decision": "allow",
        "rule": "sandbox-audit",
        "score": found.score,
        "surface": "SandboxCompliance",
    })
}

fn alert(who: &Caller, found: &Surroundings, severity: &str, record: Digest) -> NewRecord {
    let what = match found.confinement {
        Confinement::None => "nothing confines this process and what it starts",
        Confinement::Full | Confinement::Partial => "some walls around this process are missing",
    };
    let content = json!({
        "alert": "sandbox",
        "compliance": found.confinement.as_str(),
        "severity": severity,
        "surface": "SandboxCompliance",
        "what": format!("{what}: `lazaret doctor` says which, and what to do"),
    });
    NewRecord { parents: vec![record], ..of(who, "alert", content) }
}

fn of(who: &Caller, kind: &'static str, content: Value) -> NewRecord {
    record::of(who, RecordType::GuardDecision, kind, Principal::Sys, content)
}
