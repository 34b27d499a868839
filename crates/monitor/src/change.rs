//! One change of a session, as it is kept. Replaying all of them gives the session back.

use serde::{Deserialize, Serialize};

use crate::confirm::ConfirmDelta;
use crate::conversation::PromptChange;
use crate::provenance;
use crate::risk;
use crate::taint::TaintDelta;

/// What happened to a session. Everything that a session knows came by one of these.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Change {
    /// A new turn of the user begins with it.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) turn: bool,
    /// A turn begins with it in which somebody else speaks than the user.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) turn_of_others: bool,
    /// A call was let through that happens elsewhere.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) begun: bool,
    /// Such a call came back, or was given up.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) came_back: bool,
    /// What it adds to the taint.
    #[serde(skip_serializing_if = "TaintDelta::is_empty")]
    pub(crate) taint: TaintDelta,
    /// What it adds to what is known of values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provenance: Option<provenance::Delta>,
    /// Everything that is known of values, in place of all before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ledger: Option<Box<provenance::Ledger>>,
    /// What a person said yes to, or a yes that was used up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) confirm: Vec<ConfirmDelta>,
    /// The risk after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) risk: Option<risk::Snapshot>,
    /// Calls judged so far, and those that were stopped.
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) calls: u64,
    #[serde(skip_serializing_if = "is_default")]
    pub(crate) stopped: u64,
    /// The session that started this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// Sandboxed servers whose words it takes in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) sandboxed: Vec<String>,
    /// The system prompt that answers are compared with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompt: Option<PromptChange>,
    /// The newest record that something came in by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<String>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_says_only_what_changed() {
        let written = |it: &Change| serde_json::to_string(it).unwrap();
        assert_eq!(written(&Change::default()), "{}");
        let turn = Change { turn: true, calls: 7, ..Change::default() };
        assert_eq!(written(&turn), r#"{"turn":true,"calls":7}"#);
    }
}
