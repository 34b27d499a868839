//! The forms of records: what stands in them, and in which order.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use crate::conversation::Seen;

/// The content of a decision. Here and below, fields stand in the order of their names: so they are
/// stored, and nothing need be sorted.
#[derive(Serialize)]
pub(super) struct Decided<'a> {
    pub(super) action_sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval: Option<Value>,
    pub(super) args: Cow<'a, str>,
    pub(super) decision: &'a str,
    pub(super) effect: &'a str,
    pub(super) facts: JudgedBy<'a>,
    #[serde(skip_serializing_if = "<[Seen]>::is_empty")]
    pub(super) findings: &'a [Seen],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) lifted: Vec<&'a str>,
    pub(super) objections: Vec<Objected<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) overruled: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prompt_sha256: Option<&'a str>,
    pub(super) rule: &'a str,
    pub(super) sinks: Vec<TracedSink<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub(super) sub_agents: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) surface: Option<&'a str>,
    pub(super) tool: &'a str,
}

#[derive(Serialize)]
pub(super) struct TracedSink<'a> {
    pub(super) atom: &'a str,
    pub(super) label: String,
    pub(super) param: &'a str,
}

#[derive(Serialize)]
pub(super) struct Ended<'a> {
    pub(super) bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) found: Option<FoundIn>,
    pub(super) origin: Option<&'a str>,
    pub(super) preview: Cow<'a, str>,
    pub(super) sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shown_sha256: Option<String>,
    pub(super) status: &'a str,
    pub(super) withheld: Vec<Objected<'a>>,
}

/// What was found in an output.
#[derive(Serialize)]
pub(super) struct FoundIn {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) addresses: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) cut: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) hidden: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) orders: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) personal: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) secrets: Vec<&'static str>,
    pub(super) trust: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) verdict: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct Objected<'a> {
    pub(super) code: &'a str,
    pub(super) decision: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) remedy: Option<Cow<'a, str>>,
    pub(super) rule: &'a str,
    pub(super) why: Cow<'a, str>,
}

/// The facts of a call: what was judged can be judged again from them.
#[derive(Serialize)]
pub(crate) struct JudgedBy<'a> {
    pub(crate) asked_for: bool,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) classes: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) commands: &'a BTreeSet<String>,
    pub(crate) confirmed: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cut: bool,
    pub(crate) door: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hosts: Vec<String>,
    pub(crate) over_budget: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) paths: Vec<String>,
    pub(crate) principal: &'a str,
    pub(crate) profile: &'a str,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) programs: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) recipients: &'a BTreeSet<String>,
    pub(crate) risk: u8,
    pub(crate) sinks: JudgedSinks,
    pub(crate) taint: Vec<&'a str>,
    pub(crate) taint_permille: u16,
    pub(crate) targets: Vec<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) unread: bool,
}

/// What the tracing of values found.
#[derive(Serialize)]
pub(crate) struct JudgedSinks {
    pub(crate) foreign_secret: bool,
    pub(crate) untrusted_content: bool,
    pub(crate) untrusted_destination: bool,
    pub(crate) untrusted_target: bool,
}
