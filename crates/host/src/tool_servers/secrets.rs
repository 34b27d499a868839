//! Secrets that a manifest names for a server: each use is judged, in the agent's own session, and recorded.

use std::collections::BTreeMap;
use std::ffi::OsString;

use model::{Caller, RawCall, ToolDef};
use monitor::{Asked, Output};
use serde_json::json;
use vault::environment::may_be_set;
use zeroize::Zeroizing;

use super::template::Template;
use crate::doors::mcp::key_beside;
use crate::gate::Gate;

/// Who gives a server its secrets.
pub(super) struct Secrets<'a> {
    pub(super) gate: &'a Gate,
    pub(super) who: &'a Caller,
    pub(super) server: &'a str,
}

/// The tool that a use of a server's secrets counts as.
pub(super) fn connection(server: &str) -> Result<ToolDef, String> {
    let def = json!({
        "name": name(server),
        "description": format!("Gives the server {server} what its configuration names."),
        "inputSchema": { "type": "object", "properties": { "names": { "type": "array" } } },
        "annotations": { "readOnlyHint": true },
    });
    ToolDef::from_value(&def).map_err(|error| error.to_string())
}

fn name(server: &str) -> String {
    key_beside(server, "connection")
}

impl Secrets<'_> {
    /// The variables of a server's environment, with their secrets in their places.
    pub(super) fn fill(
        &self,
        given: &BTreeMap<String, String>,
    ) -> Result<Vec<(String, OsString)>, String> {
        let mut filled = Vec::new();
        for (variable, value) in given {
            let template = Template::parse(value)?;
            if !template.has_secret() {
                filled.push((variable.clone(), value.into()));
                continue;
            }
            if !may_be_set(variable) {
                let why = "changes what programs do, and is no place for a secret";
                return Err(format!("the variable `{variable}` {why}"));
            }
            let value = template.fill(|name| self.one(name));
            let value = value.map_err(|why| format!("`{variable}`: {why}"))?;
            filled.push((variable.clone(), value.as_str().into()));
        }
        Ok(filled)
    }

    fn one(&self, secret: &vault::Name) -> Result<Zeroizing<String>, String> {
        let none = "there is no vault: `lazaret vault init`";
        let keeper = self.gate.keeper.as_ref().ok_or(none)?;
        let (tool, args) = (name(self.server), json!({ "names": [secret.as_str()] }).to_string());
        let call = Asked::Tool(RawCall { tool: &tool, args: args.as_bytes() });
        let begun = self.gate.monitor.begin(self.who, &call);
        let (permit, begun) = begun.map_err(|refusal| refusal.to_string())?;
        let given = keeper.for_server(&permit, secret, self.server);
        let given = given.map(|it| Zeroizing::new(it.reveal(&permit).to_owned()));
        let said = if given.is_ok() { "given" } else { "not given" };
        // What is not recorded to its end is not given out.
        let output = Output { words: monitor::Words::Ours, ..Output::text(said) };
        let finished = self.gate.monitor.finish(begun, output);
        finished.map_err(|error| error.to_string())?;
        given.map_err(|error| error.to_string())
    }
}
