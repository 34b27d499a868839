//! The records of a call, with everything that was judged and nothing that is too long.

use std::borrow::Cow;
use std::collections::BTreeSet;

use aegx::{Digest, Principal, RecordType};
use evidence::{Content, NewRecord, RecordError};
use model::ipc::{Action, ActionName};
use model::{
    Caller, Effect, EffectKind, Kind, Objection, Profile, Recorded, Source, Taint, TaintTag, UserId,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::output::{Output, Status};
use crate::preview::{ARGS_PREVIEW_CHARS_MAX, PREVIEW_CHARS_MAX, preview, preview_bytes};
use crate::proposed::Proposed;
use crate::refusal::Refusal;
use crate::ruling::Ruling;
use crate::verdict::Verdict;

/// How many objections a record lists.
const OBJECTIONS_MAX: usize = 20;
/// How many sinks a record lists.
const SINKS_MAX: usize = 40;
/// How much of what is wrong with a message a record lists.
const DETAILS_MAX: usize = 10;

/// A session began, or was found again after a restart.
pub(crate) fn session_start(who: &Caller, profile: Profile, resumed: bool) -> NewRecord {
    let content =
        json!({ "door": who.door.as_str(), "profile": profile.as_str(), "resumed": resumed });
    of(who, RecordType::SessionStart, "session_start", Principal::Sys, content)
}

/// Something was said to the agent.
pub(crate) fn heard(who: &Caller, label: &TaintTag, text: &str, flagged: bool) -> NewRecord {
    let content = json!({
        "bytes": text.len(),
        "flagged": flagged,
        "origin": preview(&label.origin, PREVIEW_CHARS_MAX),
        "preview": preview(text, PREVIEW_CHARS_MAX),
        "sha256": Digest::of(text.as_bytes()).to_hex().as_str(),
        "source": label.source.as_str(),
    });
    let principal = principal_of(label.source);
    let taint = label.taint;
    NewRecord { taint, ..of(who, RecordType::SessionMessage, "heard", principal, content) }
}

/// The arguments, without what a header field says: it may be a key, and the digest of the call is enough to
/// know it again.
fn shown_args(proposed: &Proposed) -> Cow<'_, str> {
    if let Some(concealed) = proposed.concealed() {
        return preview(concealed, ARGS_PREVIEW_CHARS_MAX);
    }
    let Effect::Action(action) = &proposed.understood().effect else {
        return preview(proposed.args_text(), ARGS_PREVIEW_CHARS_MAX);
    };
    let headers = if let Action::WebFetch(it) = &**action {
        it.headers.as_ref()
    } else if let Action::OauthCall(it) = &**action {
        it.headers.as_ref()
    } else {
        None
    };
    let Some(headers) = headers else {
        return preview(proposed.args_text(), ARGS_PREVIEW_CHARS_MAX);
    };
    let names: Vec<&str> = headers.iter().map(|(name, _)| name).collect();
    let mut args = proposed.understood().call.call.args().clone();
    args.insert("headers".to_owned(), json!(names));
    let text = aegx::Sorted(&Value::Object(args)).to_string();
    Cow::Owned(preview(&text, ARGS_PREVIEW_CHARS_MAX).into_owned())
}

/// What was decided of a call. It opens the call's entry if the call happens.
///
/// # Errors
/// If it cannot be written down.
pub(crate) fn decision(proposed: &Proposed, ruling: &Ruling) -> Result<NewRecord, RecordError> {
    let kind = proposed.kind();
    let sinks = proposed.traced().sinks.iter().take(SINKS_MAX);
    let content = Content::text(&Decided {
        action_sha256: proposed.digest().to_hex().as_str(),
        approval: proposed.person().to_json(),
        args: shown_args(proposed),
        decision: ruling.decision().as_str(),
        effect: kind.as_str(),
        facts: proposed.judged_by(),
        lifted: proposed.person().lifted().iter().take(OBJECTIONS_MAX).map(|it| &**it).collect(),
        objections: objections(ruling.objections()),
        overruled: proposed.overruled().map(UserId::as_str),
        rule: ruling.rule(),
        sinks: sinks
            .map(|it| TracedSink { atom: &it.atom, label: it.label.word(), param: &it.param })
            .collect(),
        tool: proposed.understood().tool(),
    })?;
    Ok(NewRecord {
        taint: proposed.taint(),
        parents: proposed.parents(),
        ..of(proposed.who(), record_type(kind), kind.as_str(), proposed.principal(), content)
    })
}

/// A call that was stopped because it holds secrets that are for others: somebody should look.
pub(crate) fn incident(proposed: &Proposed, verdict: &Verdict) -> Option<NewRecord> {
    let held = verdict.objections.iter().any(|it| it.code == "secret_elsewhere");
    let names: Vec<&str> = proposed.held().iter().map(|it| it.name.as_str()).collect();
    let (first, _) = names.split_first().filter(|_| held)?;
    let content = json!({
        "effect": proposed.kind().as_str(),
        "incident": "secret_elsewhere",
        "secrets": names,
        "tool": proposed.understood().tool(),
        "what": format!("a call of the agent holds the secret `{first}`: change it, and find out how it got there"),
    });
    let kind = "incident";
    Some(NewRecord {
        parents: vec![verdict.record],
        ..of(proposed.who(), RecordType::GuardDecision, kind, Principal::Sys, content)
    })
}

/// How a call that happened ended.
///
/// # Errors
/// If it cannot be written down.
pub(crate) fn outcome(
    who: &Caller,
    kind: EffectKind,
    output: &Output,
    tag: Option<&TaintTag>,
    withheld: &[Objection],
) -> Result<NewRecord, RecordError> {
    let content = Content::text(&Ended {
        bytes: output.body.len(),
        origin: tag.map(|it| it.origin.as_str()),
        preview: shown_output(kind, output),
        sha256: Digest::of(output.body.as_bytes()).to_hex().as_str(),
        status: output.status.as_str(),
        withheld: objections(withheld),
    })?;
    let taint = tag.map_or(Taint::NONE, |it| it.taint);
    let parents = tag.and_then(|it| Digest::from_hex(it.record.as_bytes())).into_iter().collect();
    Ok(NewRecord {
        taint,
        parents,
        ..of(who, RecordType::ToolResult, kind.as_str(), Principal::Tool, content)
    })
}

/// The beginning of what came back. What a command printed is nobody's to keep: it may be anything that was in its
/// reach.
fn shown_output(kind: EffectKind, output: &Output) -> Cow<'_, str> {
    if kind == EffectKind::ShellExec && output.status != Status::NotBegun {
        return Cow::Borrowed("");
    }
    preview(&output.body, PREVIEW_CHARS_MAX)
}

/// The content of a decision. Here and below, fields stand in the order of their names: so they are
/// stored, and nothing need be sorted.
#[derive(Serialize)]
struct Decided<'a> {
    action_sha256: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Value>,
    args: Cow<'a, str>,
    decision: &'a str,
    effect: &'a str,
    facts: JudgedBy<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lifted: Vec<&'a str>,
    objections: Vec<Objected<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overruled: Option<&'a str>,
    rule: &'a str,
    sinks: Vec<TracedSink<'a>>,
    tool: &'a str,
}

#[derive(Serialize)]
struct TracedSink<'a> {
    atom: &'a str,
    label: String,
    param: &'a str,
}

#[derive(Serialize)]
struct Ended<'a> {
    bytes: usize,
    origin: Option<&'a str>,
    preview: Cow<'a, str>,
    sha256: &'a str,
    status: &'a str,
    withheld: Vec<Objected<'a>>,
}

#[derive(Serialize)]
struct Objected<'a> {
    code: &'a str,
    decision: &'a str,
    rule: &'a str,
    why: Cow<'a, str>,
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

/// Something that was turned away before it could be judged, with everything that is wrong with it.
pub(crate) fn turned_away(who: &Caller, asked: &[u8], refusal: &Refusal) -> NewRecord {
    let (action, details) = match refusal {
        Refusal::Message(error) => {
            (error.action(), error.details().into_iter().take(DETAILS_MAX).collect())
        }
        Refusal::Stopped(_)
        | Refusal::Malformed(_)
        | Refusal::UnknownTool(_)
        | Refusal::NoSession(_)
        | Refusal::Withheld(_)
        | Refusal::NotRecorded(_)
        | Refusal::NotKept(_) => (None, Vec::new()),
    };
    let content = json!({
        "action": action.map(ActionName::as_str),
        "bytes": asked.len(),
        "decision": "deny",
        "details": details,
        "error": preview(&refusal.to_string(), PREVIEW_CHARS_MAX),
        "preview": preview_bytes(asked, PREVIEW_CHARS_MAX),
        "rule": refusal.rule(),
    });
    of(who, RecordType::GuardDecision, "turned_away", Principal::Tool, content)
}

/// Something that a person did.
pub(crate) fn by_person(who: &Caller, kind: &'static str, content: Value) -> NewRecord {
    of(who, RecordType::GuardDecision, kind, Principal::User, content)
}

fn objections(objections: &[Objection]) -> Vec<Objected<'_>> {
    let listed = objections.iter().take(OBJECTIONS_MAX);
    listed
        .map(|it| Objected {
            code: &it.code,
            decision: it.decision.as_str(),
            rule: &it.rule,
            why: preview(&it.for_person, PREVIEW_CHARS_MAX),
        })
        .collect()
}

pub(crate) fn of(
    who: &Caller,
    record_type: RecordType,
    kind: &'static str,
    principal: Principal,
    content: impl Into<Content>,
) -> NewRecord {
    let mut meta = Map::new();
    meta.insert("user".to_owned(), who.user.as_str().into());
    NewRecord {
        record_type,
        kind: Kind::of_static(kind),
        principal,
        taint: Taint::NONE,
        parents: Vec::new(),
        session: Some(who.session.clone()),
        agent: Some(who.agent.clone()),
        meta,
        content: content.into(),
    }
}

/// Who is behind content of a source.
fn principal_of(source: Source) -> Principal {
    match source {
        Source::User => Principal::User,
        Source::System => Principal::Sys,
        Source::Agent | Source::Tool | Source::Memory | Source::File => Principal::Tool,
        Source::Web => Principal::Web,
        Source::Email => Principal::External,
        Source::Channel => Principal::Channel,
        Source::Skill => Principal::Skill,
    }
}

fn record_type(kind: EffectKind) -> RecordType {
    match kind.recorded() {
        Recorded::ToolCall => RecordType::ToolCall,
        Recorded::MemoryChange => RecordType::MemoryCommitRequest,
        Recorded::ControlPlaneChange => RecordType::ControlPlaneChangeRequest,
        Recorded::FileRead => RecordType::FileRead,
        Recorded::FileWrite => RecordType::FileWrite,
        Recorded::Message => RecordType::SessionMessage,
    }
}
