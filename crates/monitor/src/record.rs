//! The records of a call, with everything that was judged and nothing that is too long.

mod form;

use std::borrow::Cow;

use aegx::{Digest, Principal, RecordType};
use evidence::{Content, NewRecord, RecordError};
use model::ipc::{Action, ActionName};
use model::{
    Caller, Effect, EffectKind, Kind, Objection, Profile, Recorded, Source, Surface, Taint,
    TaintTag, UserId,
};
use scan::sanitize::Facts;
use serde_json::{Map, Value, json};

use crate::output::{Output, Status};
use crate::preview::{ARGS_PREVIEW_CHARS_MAX, PREVIEW_CHARS_MAX, preview, preview_bytes};
use crate::proposed::Proposed;
use crate::refusal::Refusal;
use crate::rule::Rule;
use crate::ruling::Ruling;
use crate::sanitizing::Shown;
use crate::verdict::Verdict;

use form::{Decided, Ended, FoundIn, Objected, TracedSink};
pub(crate) use form::{JudgedBy, JudgedSinks};

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
pub(crate) fn heard(
    who: &Caller,
    label: &TaintTag,
    text: &str,
    judged: Option<&Judged>,
) -> NewRecord {
    let mut content = json!({
        "bytes": text.len(),
        "flagged": label.taint.contains(Taint::INJECTION_SUSPECT),
        "origin": preview(&label.origin, PREVIEW_CHARS_MAX),
        "preview": preview(text, PREVIEW_CHARS_MAX),
        "sha256": Digest::of(text.as_bytes()).to_hex().as_str(),
        "source": label.source.as_str(),
    });
    if let (Some(Judged(judged)), Value::Object(fields)) = (judged, &mut content) {
        fields.extend(judged.clone());
    }
    let principal = principal_of(label.source);
    let taint = label.taint;
    NewRecord { taint, ..of(who, RecordType::SessionMessage, "heard", principal, content) }
}

/// What was decided of a message, for its record.
pub(crate) struct Judged(Map<String, Value>);

impl Judged {
    /// The decision and the facts that it rests on.
    ///
    /// # Errors
    /// If they cannot be written down.
    pub(crate) fn new(proposed: &Proposed, ruling: &Ruling) -> Result<Self, RecordError> {
        let written = |it| RecordError::from(it);
        let facts = serde_json::to_value(proposed.judged_by()).map_err(written)?;
        let against = serde_json::to_value(objections(ruling.objections())).map_err(written)?;
        let seen = proposed.spoken().map(|it| &it.findings);
        let mut judged = Map::from_iter([
            ("action_sha256".to_owned(), json!(proposed.digest().to_hex().as_str())),
            ("decision".to_owned(), json!(ruling.decision().as_str())),
            ("effect".to_owned(), json!(proposed.kind().as_str())),
            ("facts".to_owned(), facts),
            ("findings".to_owned(), json!(seen)),
            ("objections".to_owned(), against),
            ("rule".to_owned(), json!(ruling.rule())),
            ("surface".to_owned(), json!(CONVERSATION.as_str())),
            ("tool".to_owned(), json!(proposed.understood().tool())),
        ]);
        if let Some(approval) = proposed.person().to_json() {
            judged.insert("approval".to_owned(), approval);
        }
        Ok(Self(judged))
    }
}

/// The surface of what is said, in records.
const CONVERSATION: Surface = Surface::ConversationIo;

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
    let spoken = proposed.spoken();
    let content = Content::text(&Decided {
        action_sha256: proposed.digest().to_hex().as_str(),
        approval: proposed.person().to_json(),
        args: shown_args(proposed),
        decision: ruling.decision().as_str(),
        effect: kind.as_str(),
        facts: proposed.judged_by(),
        findings: spoken.map_or(&[], |it| &it.findings),
        lifted: proposed.person().lifted().iter().take(OBJECTIONS_MAX).map(|it| &**it).collect(),
        objections: objections(ruling.objections()),
        overruled: proposed.overruled().map(UserId::as_str),
        prompt_sha256: spoken.and_then(|it| it.prompt.as_deref()),
        rule: ruling.rule(),
        sinks: sinks
            .map(|it| TracedSink { atom: &it.atom, label: it.label.word(), param: &it.param })
            .collect(),
        sub_agents: proposed.admission().sub_agents(),
        surface: spoken.map(|_| CONVERSATION).or_else(|| kind.surface()).map(Surface::as_str),
        tool: proposed.understood().tool(),
    })?;
    let mut new =
        of(proposed.who(), record_type(kind), kind.as_str(), proposed.principal(), content);
    let over_budget = ruling.objections().iter().any(|it| it.rule == Rule::TaintBudget.as_str());
    if over_budget && !ruling.decision().happens() {
        new.meta.insert(ALIAS.to_owned(), TAINT_BUDGET_BLOCK.into());
    }
    Ok(NewRecord { taint: proposed.taint(), parents: proposed.parents(), ..new })
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

/// What became of an output.
pub(crate) struct Outcome<'a> {
    /// The hash of what came back, before anything was taken out.
    pub(crate) came: Digest,
    pub(crate) shown: &'a Shown,
    pub(crate) withheld: &'a [Objection],
    pub(crate) tag: Option<&'a TaintTag>,
}

/// How a call that happened ended. `output` is what the agent is shown.
///
/// # Errors
/// If it cannot be written down.
pub(crate) fn outcome(
    who: &Caller,
    kind: EffectKind,
    output: &Output,
    ended: &Outcome<'_>,
) -> Result<NewRecord, RecordError> {
    let Outcome { came, shown, withheld, tag } = ended;
    let treated = shown.body.is_some() || shown.withheld.is_some();
    let content = Content::text(&Ended {
        bytes: output.body.len(),
        found: shown.facts.as_ref().map(|it| found(it, shown.level.as_str())),
        origin: tag.map(|it| it.origin.as_str()),
        preview: shown_output(kind, output, shown),
        sha256: came.to_hex().as_str(),
        shown_sha256: treated
            .then(|| Digest::of(output.body.as_bytes()).to_hex().as_str().to_owned()),
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

fn found(facts: &Facts, trust: &'static str) -> FoundIn {
    FoundIn {
        addresses: facts.addresses.clone(),
        cut: facts.truncated,
        hidden: facts.hidden,
        orders: facts.orders.clone(),
        personal: facts.personal.clone(),
        secrets: facts.secrets.clone(),
        trust,
        verdict: facts.verdict,
    }
}

/// The beginning of what came back. What a command printed is nobody's to keep: it may be anything that was in its
/// reach.
fn shown_output<'a>(kind: EffectKind, output: &'a Output, shown: &Shown) -> Cow<'a, str> {
    // A secret that nobody keeps here is not kept in a record either.
    let has_secret = shown.facts.as_ref().is_some_and(|it| !it.secrets.is_empty());
    if has_secret && !(shown.without_secrets && shown.body.is_some()) {
        return Cow::Borrowed("");
    }
    if kind == EffectKind::ShellExec && output.status != Status::NotBegun {
        return Cow::Borrowed("");
    }
    preview(&output.body, PREVIEW_CHARS_MAX)
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
    let mut new = of(who, RecordType::GuardDecision, "turned_away", Principal::Tool, content);
    if let Refusal::Message(error) = refusal {
        new.meta.insert(ALIAS.to_owned(), error.alias().into());
    }
    new
}

/// The field of a record that says what other programs call it.
const ALIAS: &str = "alias";
/// What other programs call a call that the taint budget stops.
const TAINT_BUDGET_BLOCK: &str = "taint_budget_block";

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
            remedy: it.remedy.as_deref().map(|it| preview(it, PREVIEW_CHARS_MAX)),
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
pub(crate) fn principal_of(source: Source) -> Principal {
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
