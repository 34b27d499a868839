//! Objects to writing a file that programs or agents obey later: a hook, a shell's file, settings that run something, a
//! text that instructs agents, a list of what a build server does.
//!
//! Threat: a write that looks like any other runs a command when nobody looks, outside of every cage. So the person is
//! asked, also in a session that has read nothing from outside. What untrusted content may not change at all is said by
//! the policy.

use model::{Decision, EffectKind, Objection, Role};
use serde_json::Value;

use crate::guards::Guard;
use crate::preview::preview;
use crate::proposed::Proposed;
use crate::rule::Rule;
use crate::target::is_obeyed;

/// A longer text is no path.
const PATH_BYTES_MAX: usize = 4096;
/// How much of a path is shown, in characters.
const PATH_CHARS_SHOWN: usize = 120;

pub(crate) struct ObeyedFile;

impl Guard<Proposed> for ObeyedFile {
    fn id(&self) -> Rule {
        Rule::ObeyedFile
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        let writes = [EffectKind::FileWrite, EffectKind::ToolWrite, EffectKind::ToolDestroy];
        // Where it is known what the call does, that is held against the user's words.
        if !writes.contains(&proposed.kind()) || proposed.understood().deeds.are_known() {
            return Vec::new();
        }
        let call = &proposed.understood().call;
        let named = call.call.args().iter().filter(|(param, _)| {
            // What is written into a file may speak of any other.
            call.flow.roles.get(*param) != Some(&Role::Content)
        });
        let mut paths = Vec::new();
        named.for_each(|(_, value)| obeyed_in(value, &mut paths));
        paths.first().map(|path| self.objection(path)).into_iter().collect()
    }
}

impl ObeyedFile {
    fn objection(&self, path: &str) -> Objection {
        let path = preview(path, PATH_CHARS_SHOWN);
        let why = format!(
            "`{path}` is a file that programs or agents obey: what is written there decides what they do later"
        );
        Objection::new(self.id(), Decision::StepUp, "obeyed_file", why)
            .with_remedy("let the person approve exactly this write, or write it themselves")
    }
}

fn obeyed_in<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if text.len() <= PATH_BYTES_MAX && is_obeyed(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|it| obeyed_in(it, found)),
        Value::Object(fields) => fields.values().for_each(|it| obeyed_in(it, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
