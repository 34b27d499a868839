//! What `lazaret mcp` asks.

use ::mcp::trust::Trust;
use aegx::Digest;
use model::{HostKind, Source, ToolDef};
use monitor::Begun;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Read, Waiting};
use crate::doors::hook::type_of;

/// The kind of what a server tells the model to begin with.
pub(super) const INSTRUCTIONS: &str = "instructions";

/// A question and its number, which stands in the answer, too: so nobody takes an answer for another's.
#[derive(Clone, Serialize, Deserialize)]
pub struct Numbered<Q> {
    /// The number, where whoever asks wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The question.
    #[serde(flatten)]
    pub question: Q,
}

/// Of a question that is not understood, its number.
#[derive(Deserialize)]
struct Unread {
    number: Option<u64>,
}

impl Numbered<Request> {
    /// Reads a frame: its number, and the question or why it is none.
    pub(super) fn read(frame: &[u8]) -> (Option<u64>, Result<Request, String>) {
        match serde_json::from_slice(frame) {
            Ok(Self { number, question }) => (number, Ok(question)),
            Err(error) => {
                let unread: Option<Unread> = serde_json::from_slice(frame).ok();
                (unread.and_then(|it| it.number), Err(error.to_string()))
            }
        }
    }
}

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
        /// Do they go on with a page before?
        #[serde(default)]
        continued: bool,
    },
    /// A server lists what it listed last.
    Relisted {
        /// The server.
        server: String,
        /// The digest of its definitions, as [`listed`] gives it.
        digest: String,
    },
    /// Prompts, resources or templates of a server as it lists them now.
    Offers {
        /// The server.
        server: String,
        /// Which, by the key of their list.
        list: String,
        /// Their definitions.
        items: Vec<Value>,
        /// Do they go on with a page before?
        #[serde(default)]
        continued: bool,
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
    /// It was not sent.
    Unsent {
        /// Which call.
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

/// [`Request::Tools`] about definitions that somebody else has.
#[derive(Clone, Copy, Serialize)]
#[serde(tag = "op", rename = "tools")]
pub struct Tools<'a> {
    /// The server.
    pub server: &'a str,
    /// Its definitions.
    pub tools: &'a [Value],
    /// Do they go on with a page before?
    pub continued: bool,
}

/// Returns the digest of a list as it is spelled. Equal values are not enough: fields in another order are the same object, and
/// read otherwise.
#[must_use]
pub fn listed(tools: &[Value]) -> Digest {
    // A value can be written: its keys are texts.
    Digest::of(&serde_json::to_vec(tools).unwrap_or_default())
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
        match self.host_kind() {
            Some(HostKind::Sampling | HostKind::Elicitation) => {
                Waiting::Server { begun, speaks: true }
            }
            Some(HostKind::RootsList) => Waiting::Server { begun, speaks: false },
            Some(HostKind::PromptGet) => Waiting::Here { begun, server, read: Read::Prompt },
            Some(_) | None if self.kind == INSTRUCTIONS => {
                Waiting::Here { begun, server, read: Read::Instructions }
            }
            Some(_) | None => Waiting::Here { begun, server, read: Read::Result },
        }
    }

    /// What it is, where it is no call of a tool.
    pub(super) fn host_kind(&self) -> Option<HostKind> {
        match self.kind {
            "resource" => Some(HostKind::ResourceRead),
            "prompt" => Some(HostKind::PromptGet),
            "sampling" => Some(HostKind::Sampling),
            "elicitation" => Some(HostKind::Elicitation),
            "roots" => Some(HostKind::RootsList),
            "notification" => Some(HostKind::Notification),
            _ => None,
        }
    }

    /// Who is behind it: where a server says or asks something, whoever runs this machine vouches for one that they trust.
    pub(super) fn behind(kind: HostKind, trust: Trust) -> Option<Source> {
        match (kind, trust) {
            (kind, _) if kind.is_read_of_server() => None,
            (_, Trust::Trusted) => Some(Source::System),
            (_, Trust::Untrusted | Trust::Sandboxed) => Some(Source::Tool),
        }
    }

    /// The tool that it counts as.
    pub(super) fn tool(&self) -> String {
        match self.kind {
            "tool" => super::key_of(self.server, self.name),
            other => super::key_beside(self.server, other),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_tool_has_the_name_of_what_a_server_does_beside_its_tools() {
        let arguments = json!({});
        let name = |kind: &str, name: &str| {
            Judged { server: "s", kind, name, arguments: &arguments }.tool()
        };
        for kind in ["prompt", "other", "connection", "notification"] {
            let beside = name(kind, "x");
            assert!(ToolDef::from_value(&json!({ "name": beside })).is_ok(), "{beside}");
            for tool in [format!("{kind}_of_server"), kind.to_owned(), format!(":{kind}")] {
                let is_tool = ::mcp::names::is_tool_name(&tool);
                assert!(!is_tool || name("tool", &tool) != beside, "{tool}");
            }
        }
    }

    #[test]
    fn a_list_in_another_order_is_another_list() {
        let [one, other] = [r#"{"name":"a","title":"b"}"#, r#"{"title":"b","name":"a"}"#]
            .map(|it| serde_json::from_str::<Value>(it).unwrap());
        assert_eq!(one, other);
        assert_ne!(listed(&[one]), listed(&[other]));
    }

    #[test]
    fn a_list_that_somebody_else_has_is_asked_about_as_one_of_ours() {
        let tools = [json!({ "name": "a" })];
        let question = Tools { server: "s", tools: &tools, continued: true };
        let frame = serde_json::to_vec(&Numbered { number: Some(7), question }).unwrap();
        let (number, read) = Numbered::read(&frame);
        assert_eq!(number, Some(7));
        let Ok(Request::Tools { server, tools: read, continued: true }) = read else {
            panic!("no list")
        };
        assert!(server == "s" && listed(&read) == listed(&tools));
    }

    #[test]
    fn the_number_of_a_question_is_read_also_where_it_is_none() {
        let question = Request::Lost { ticket: "t".to_owned() };
        let frame = serde_json::to_vec(&Numbered { number: Some(7), question }).unwrap();
        let (number, read) = Numbered::read(&frame);
        assert_eq!(number, Some(7));
        assert!(matches!(read, Ok(Request::Lost { ticket }) if ticket == "t"));
        let (number, read) = Numbered::read(br#"{"op":"lost","ticket":"t"}"#);
        assert!(number.is_none() && read.is_ok());
        for wrong in [
            r#"{"number":7,"op":"other"}"#,
            r#"{"number":7,"op":"lost","ticket":"t","more":1}"#,
            r#"{"number":7,"op":"lost"}"#,
        ] {
            let (number, read) = Numbered::read(wrong.as_bytes());
            assert!(number == Some(7) && read.is_err(), "{wrong}");
        }
        assert!(Numbered::read(b"{").1.is_err());
    }
}
