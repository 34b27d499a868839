//! What a door does in somebody's name: what stands in it is looked at like any text of an outsider, and it is judged by
//! who is behind it, not by the session in which it happens.
//!
//! Threat: a server that an operator trusts is made to ask the model or the person for what somebody outside wants. So
//! nobody vouches for a text in which something was seen.

use model::{Effect, HostDeed, Source, Taint};
use policy::RISK_MAX;
use scan::text::{Author, Verdict as Signs};
use serde_json::Value;

use super::{DOUBT, Spoken};
use crate::monitor::Monitor;
use crate::proposed::Proposed;
use crate::record;

impl Monitor {
    /// Notes who is behind a deed of a door, and what was seen in it.
    pub(crate) fn look_at_deed(proposed: &mut Proposed) {
        let Effect::Host(deed) = &proposed.understood().effect else { return };
        let Some(source) = deed.by else { return };
        let spoken = spoken(deed, source);
        proposed.speak(spoken);
    }
}

fn spoken(deed: &HostDeed, source: Source) -> Spoken {
    let mut spoken = Spoken::default();
    let mut behind = source;
    let mut taint = Taint::NONE;
    if deed.kind.speaks() {
        let text = texts(deed.call.call.args().values());
        let reading = scan::text::read(&text, Author::Outsider);
        for finding in &reading.findings {
            spoken.see(finding.rule, finding.category.as_str());
        }
        spoken.risk = match reading.verdict() {
            Signs::Clean => 0,
            Signs::Suspicious => DOUBT,
            Signs::Injection => RISK_MAX,
        };
        if spoken.risk > 0 {
            behind = Source::Tool;
        }
        if reading.verdict() == Signs::Injection {
            taint = Taint::INJECTION_SUSPECT;
        }
    }
    spoken.taint = Some(taint.union(behind.taint()));
    spoken.principal = Some(record::principal_of(behind));
    spoken
}

/// Every text in these values, without recursion.
fn texts<'a>(values: impl Iterator<Item = &'a Value>) -> String {
    let mut open: Vec<&Value> = values.collect();
    open.reverse();
    let mut all = Vec::new();
    while let Some(next) = open.pop() {
        match next {
            Value::String(text) => all.push(text.as_str()),
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(fields) => open.extend(fields.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    all.join("\n")
}
