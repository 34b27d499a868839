//! What carries taint from session to session: things that a tainted session wrote, and texts that
//! it wrote into them.
//!
//! Memory rows and files that the host writes itself carry their tags with them. A tool of somebody else
//! does not; so what it wrote in a tainted session is known again here by its name and by its text. A
//! tool whose answer is untrusted anyway needs none of this.

use aegx::Digest;
use model::{Caller, Effect, Reach, Role, Trust};
use serde_json::Value;

use crate::taint::Fingerprint;
use crate::understood::Understood;

/// A shorter text is too common to be known again by.
const TEXT_CHARS_MIN: usize = 24;
/// How many names, texts and addresses of one call or output can be known again. Nothing is left out
/// quietly: padding must not push the one that matters over the edge.
const KEYS_MAX: usize = 4096;

/// More than can be known again.
#[derive(Debug)]
pub(crate) struct TooMany;

impl TooMany {
    /// What people are told.
    pub(crate) const WHY: &str = "it has more parts than can be known again";
}

/// The names and texts by which what this call writes will be known again; none if it writes nothing
/// that the user's own systems keep.
pub(crate) fn written(who: &Caller, asked: &Understood) -> Result<Vec<Digest>, TooMany> {
    // What is sent is kept too, in the sender's own list of what was sent.
    if asked.call.flow.reach == Reach::Read || is_hosts_own(asked) {
        return Ok(Vec::new());
    }
    let mut keys = names(who, asked);
    for (param, value) in asked.call.call.args() {
        if asked.call.flow.roles.get(param) != Some(&Role::Target) {
            texts(who, value, &mut keys);
        }
    }
    bounded(keys)
}

/// The names and texts by which an answer may be known. Looked up only where the answer would count
/// as clean otherwise.
pub(crate) fn read(who: &Caller, asked: &Understood, body: &str) -> Result<Vec<Digest>, TooMany> {
    let clean = match asked.call.flow.output {
        Trust::Trusted => true,
        Trust::Own => asked.call.flow.reach == Reach::Read,
        Trust::Untrusted => false,
    };
    if !clean || is_hosts_own(asked) {
        return Ok(Vec::new());
    }
    let mut keys = names(who, asked);
    match serde_json::from_str::<Value>(body) {
        Ok(value) => texts(who, &value, &mut keys),
        Err(_) => text(who, body, &mut keys),
    }
    bounded(keys)
}

fn bounded(keys: Vec<Digest>) -> Result<Vec<Digest>, TooMany> {
    if keys.len() > KEYS_MAX { Err(TooMany) } else { Ok(keys) }
}

/// The host's own actions keep tags themselves.
fn is_hosts_own(asked: &Understood) -> bool {
    matches!(asked.effect, Effect::Action(_))
}

fn names(who: &Caller, asked: &Understood) -> Vec<Digest> {
    let roles = &asked.call.flow.roles;
    let args = asked.call.call.args().iter();
    args.filter(|(param, _)| roles.get(*param) == Some(&Role::Target))
        .filter_map(|(_, value)| match value {
            Value::String(name) => Some(name.clone()),
            Value::Number(name) => Some(name.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        })
        .map(|name| key(who, "name", &name))
        .collect()
}

fn texts(who: &Caller, value: &Value, keys: &mut Vec<Digest>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(found) => text(who, found, keys),
        Value::Array(items) => items.iter().for_each(|it| texts(who, it, keys)),
        Value::Object(fields) => fields.values().for_each(|it| texts(who, it, keys)),
    }
}

/// The whole text, each of its lines, and the addresses in it: what is added to a file comes back as a
/// part of it, and an address is what matters most of a text.
fn text(who: &Caller, found: &str, keys: &mut Vec<Digest>) {
    let long = |it: &&str| it.chars().nth(TEXT_CHARS_MIN - 1).is_some();
    let lines = found.lines().filter(|it| it.len() < found.len());
    let parts = std::iter::once(found).chain(lines).filter(long);
    let is_address = |it: &str| it.contains('@') || it.contains("://");
    // Most texts have none, and are not cut into words for it.
    let words = if is_address(found) { found } else { "" };
    let addresses = words.split(char::is_whitespace).filter(|it| is_address(it));
    let addresses = addresses.map(|it| it.trim_matches(|it: char| it.is_ascii_punctuation()));
    // One more than the limit shows that it was passed; more work is not needed for that.
    let room = (KEYS_MAX + 1).saturating_sub(keys.len());
    keys.extend(addresses.chain(parts).take(room).map(|it| key(who, "text", it)));
}

fn key(who: &Caller, kind: &str, text: &str) -> Digest {
    let text = format!("{:?}", Fingerprint::of(text));
    Digest::of_parts(&[
        who.user.as_str().as_bytes(),
        b"\0",
        kind.as_bytes(),
        b"\0",
        text.as_bytes(),
    ])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use model::{AgentId, Call, Flow, Kind, RawCall, SessionId, ToolCall, UserId};

    use super::*;
    use crate::provenance::Act;

    fn writes(text: &str) -> Result<Vec<Digest>, TooMany> {
        let args = serde_json::json!({ "text": text }).to_string();
        let call = Call::parse(&RawCall { tool: "add_note", args: args.as_bytes() }).unwrap();
        let flow = Flow {
            reach: Reach::Write,
            output: Trust::Own,
            egress: false,
            destructive: false,
            roles: BTreeMap::new(),
        };
        let call = ToolCall { call, flow: Arc::new(flow) };
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("u").unwrap(),
            agent: AgentId::parse("a").unwrap(),
            door: Kind::of_static("test"),
        };
        let effect = Effect::Tool(call.clone());
        let act = Act::named("add_note");
        let deeds = crate::deed::Deeds::OfTool;
        written(&who, &Understood { effect, call, act, command: None, commands: Vec::new(), deeds })
    }

    #[test]
    fn padding_does_not_hide_what_comes_after_it() {
        let padding: String = (0..500).map(|it| format!("a{it}@pad.example ")).collect();
        let alone = writes("evil@x.example").unwrap();
        let padded = writes(&format!("{padding}evil@x.example")).unwrap();
        assert!(padded.contains(alone.first().unwrap()));
    }

    #[test]
    fn more_than_can_be_known_again_is_an_error() {
        let padding: String = (0..=KEYS_MAX).map(|it| format!("a{it}@pad.example ")).collect();
        assert!(writes(&padding).is_err());
        // The text itself is one more.
        let fits: String = (1..KEYS_MAX).map(|it| format!("a{it}@pad.example ")).collect();
        assert_eq!(writes(&fits).unwrap().len(), KEYS_MAX);
    }

    #[test]
    fn a_text_is_known_again_from_a_length_on() {
        assert_eq!(writes(&"a".repeat(TEXT_CHARS_MIN)).unwrap().len(), 1);
        assert_eq!(writes(&"a".repeat(TEXT_CHARS_MIN - 1)).unwrap(), []);
        let lines = ["b".repeat(TEXT_CHARS_MIN), "c".repeat(TEXT_CHARS_MIN - 1)].join("\n");
        assert_eq!(writes(&lines).unwrap().len(), 2, "the whole and the long line");
    }
}
