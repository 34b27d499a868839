//! A coding agent's hooks on a gate of our own: what a test needs in the journal, made as it is made for real.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::path::Path;

use evidence::Durability;
use hooks::Host;
use host::Gate;
use host::doors::hook::HookDoor;
use monitor::provenance::Catalogue;
use policy::Policy;
use serde_json::{Value, json};
use testkit::program::Run as _;

use crate::program::lazaret;

/// What a hook is told, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Pass,
    Ask,
    Deny,
}

/// One session of Claude Code.
pub(crate) struct Claude<'a> {
    pub(crate) door: HookDoor<'a>,
    session: &'a str,
    cwd: &'a Path,
}

/// Lets an agent work in `cwd`, on a gate with the program's own rules; the gate is closed afterwards.
pub(crate) fn work(home: &Path, cwd: &Path, session: &str, doing: impl FnOnce(&Claude<'_>)) {
    let policy = Policy::embedded().unwrap();
    let durability = Durability::DangerouslyUnsynced;
    let gate = Gate::open(home, durability, policy, Catalogue::default()).unwrap();
    {
        let claude = Claude { door: HookDoor::new(&gate, home, None), session, cwd };
        doing(&claude);
        claude.hook("SessionEnd", json!({ "reason": "other" }));
    }
    gate.close().unwrap();
}

impl Claude<'_> {
    pub(crate) fn hook(&self, event: &str, mut fields: Value) -> String {
        let common = json!({
            "session_id": self.session,
            "cwd": self.cwd.to_str().unwrap(),
            "hook_event_name": event,
        });
        fields.as_object_mut().unwrap().extend(common.as_object().unwrap().clone());
        let answer = self.door.answer(Host::Claude, event, fields.to_string().as_bytes());
        String::from_utf8(answer.stdout).unwrap()
    }

    pub(crate) fn says(&self, prompt: &str) {
        self.hook("UserPromptSubmit", json!({ "prompt": prompt }));
    }

    /// Announces a call.
    pub(crate) fn before(&self, id: &str, tool: &str, input: &Value) -> Told {
        let call = json!({ "tool_name": tool, "tool_input": input, "tool_use_id": id });
        let answer = self.hook("PreToolUse", call);
        if answer.trim().is_empty() {
            return Told::Pass;
        }
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let decision = answer.pointer("/hookSpecificOutput/permissionDecision");
        match decision.and_then(Value::as_str) {
            Some("ask") => Told::Ask,
            Some("deny") => Told::Deny,
            _ => Told::Pass,
        }
    }

    /// Tells what a call gave back.
    pub(crate) fn after(&self, id: &str, tool: &str, input: &Value, output: &str) -> String {
        let output =
            json!({ "stdout": output, "stderr": "", "interrupted": false, "isImage": false });
        let call = json!({
            "tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": output,
        });
        self.hook("PostToolUse", call)
    }

    /// A command from beginning to end, as far as it may.
    pub(crate) fn bash(&self, id: &str, command: &str, output: &str) -> Told {
        let input = json!({ "command": command });
        let told = self.before(id, "Bash", &input);
        if told == Told::Pass {
            self.after(id, "Bash", &input, output);
        }
        told
    }
}

/// What the journal holds of a kind: the contents, oldest first.
pub(crate) fn records(home: &Path, kind: &str) -> Vec<Value> {
    let ran = lazaret(home, &["evidence", "query", "--kind", kind, "--json"]).run().good();
    let rows = ran.objects();
    rows.into_iter().map(|it| it.pointer("/record").unwrap().clone()).collect()
}
