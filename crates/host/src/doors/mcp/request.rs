//! What `lazaret mcp` asks.

use model::ToolDef;
use monitor::Begun;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Waiting;
use crate::doors::hook::type_of;

/// The kind of what a server tells the model to begin with.
pub(super) const INSTRUCTIONS: &str = "instructions";

/// A question about a server or a call.
#[derive(Clone, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// A server's tools as it lists them now.
    Tools {
        /// The server.
        server: String,
        /// Its definitions.
        tools: Vec<Value>,
    },
    /// May this call be made?
    Begin {
        /// The server that is called, or that calls.
        server: String,
        /// The kind of call, as crate `mcp` names it.
        kind: String,
        /// The tool, prompt, address or method.
        name: String,
        /// The arguments.
        arguments: Value,
    },
    /// What came back.
    Finish {
        /// Of which call.
        ticket: String,
        /// Its texts.
        text: String,
        /// Is it an error?
        failed: bool,
    },
    /// Nothing will come back.
    Lost {
        /// Of which call.
        ticket: String,
    },
    /// A person's answer to a question.
    Answer {
        /// Which.
        question: String,
        /// What they said.
        answer: Said,
    },
    /// Something happened in a server's life.
    Lifecycle {
        /// The server.
        server: String,
        /// What.
        event: String,
        /// More of it.
        detail: Value,
    },
    /// A secret that a person's configuration names for a server.
    Secret {
        /// The server.
        server: String,
        /// The secret.
        name: String,
        /// Where it is sent; without it, it is for the environment of a server that is started.
        url: Option<String>,
    },
    /// New values of tokens that a login has made.
    Renewed {
        /// The server.
        server: String,
        /// By the names of their secrets.
        tokens: Vec<(String, String)>,
    },
}

/// What a person says to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Said {
    /// Yes to this call.
    Once,
    /// Yes to this call, as often as it is made in this session.
    Session,
    /// Yes to this kind of call to this place, in this session.
    Kind,
    /// No.
    Deny,
}

/// A call to be judged.
pub(super) struct Judged<'a> {
    pub(super) server: &'a str,
    pub(super) kind: &'a str,
    pub(super) name: &'a str,
    pub(super) arguments: &'a Value,
}

impl Judged<'_> {
    /// The call as it waits for what comes back.
    pub(super) fn waiting(&self, begun: Begun) -> Waiting {
        let (begun, server) = (Box::new(begun), self.server.to_owned());
        Waiting::Here { begun, server, instructs: self.kind == INSTRUCTIONS }
    }

    /// The tool that it counts as.
    pub(super) fn tool(&self) -> String {
        match self.kind {
            "tool" => super::key_of(self.server, self.name),
            other => super::key_of(self.server, &format!("{other}_of_server")),
        }
    }

    /// What is known of what no server has defined: that it reads what the server has, and from whom.
    pub(super) fn definition(&self, name: &str) -> Result<ToolDef, String> {
        let given = self.arguments.as_object().into_iter().flatten();
        let properties: serde_json::Map<String, Value> =
            given.map(|(name, of)| (name.clone(), json!({ "type": type_of(of) }))).collect();
        let reads = self.kind != "tool" && self.kind != "other";
        let description = format!("Reads what the server {} offers ({}).", self.server, self.kind);
        let def = json!({
            "name": name,
            "description": if reads { description } else { String::new() },
            "inputSchema": { "type": "object", "properties": properties },
            "annotations": { "readOnlyHint": reads },
        });
        ToolDef::from_value(&def).map_err(|error| error.to_string())
    }
}
