//! What is proposed and what comes of it.

use std::sync::Arc;

use model::{Call, Decision, Effect, EffectKind, Flow, RawCall, ToolCall};
use monitor::risk::{Classes, Flag, Observation, Outcome, Risk, Suspicion};
use serde_json::{Value, json};

pub(crate) fn tool(name: &str, args: &Value, flow: Flow) -> Observation {
    let call = Call::parse(&RawCall { tool: name, args: args.to_string().as_bytes() }).unwrap();
    Observation::proposed(&Effect::Tool(ToolCall { call, flow: Arc::new(flow) }))
}

pub(crate) fn shell(command: &str) -> Observation {
    tool("bash", &json!({ "command": command }), Flow::unknown())
}

pub(crate) fn plain(kind: EffectKind, classes: Classes) -> Observation {
    let outcome = Outcome::Proposed;
    Observation { kind, tool: None, classes, outcome, flag: None, from_flagged: false }
}

pub(crate) fn read() -> Observation {
    plain(EffectKind::FileRead, Classes::SENSITIVE_READ)
}

pub(crate) fn send() -> Observation {
    plain(EffectKind::WebFetch, Classes::EGRESS)
}

pub(crate) fn flagged(content: u64) -> Observation {
    let flag = Flag { suspicion: Suspicion::Medium, content };
    plain(EffectKind::ToolRead, Classes::NONE).with_flag(Some(flag))
}

/// Judges and, if nothing speaks against it, lets it happen. The code of the first objection.
pub(crate) fn go(risk: &mut Risk, proposed: Observation) -> Option<String> {
    let objection = risk.objections(&proposed).into_iter().next();
    let outcome = if objection.is_some() { Outcome::Stopped } else { Outcome::Done };
    risk.observe(&proposed.with_outcome(outcome));
    objection.map(|it| it.code.into_owned())
}

pub(crate) fn decision(risk: &Risk, proposed: &Observation) -> Option<Decision> {
    risk.objections(proposed).iter().map(|it| it.decision).max()
}
