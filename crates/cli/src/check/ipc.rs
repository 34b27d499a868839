//! `lazaret check ipc`.

use model::ipc::{self, ActionName, IpcError};
use serde_json::{Map, Value, json};

use super::batch::{self, Answer};
use crate::failure::{Exit, Failure};

/// Judge messages from agents as the gate does.
///
/// A request on stdin has the message as a string in `message`. An answer has `ok`, `action`,
/// `error` and `details`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    batch: batch::Options,
    /// Messages; without any, requests are read from stdin.
    #[arg(value_name = "MESSAGE")]
    messages: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    if args.messages.is_empty() {
        return batch::from_stdin(args.batch, request);
    }
    let values = args.messages.iter().map(String::as_str);
    Ok(batch::from_arguments(args.batch, values, judge))
}

fn request(fields: &Map<String, Value>) -> Result<Answer, String> {
    match fields.get("message") {
        Some(Value::String(message)) => Ok(judge(message)),
        Some(_) => Err("`message` must be a string: the raw message".to_owned()),
        None => Err("`message` is missing".to_owned()),
    }
}

fn judge(message: &str) -> Answer {
    match ipc::parse(message.as_bytes()) {
        Ok(action) => answer(Some(action.name()), None),
        Err(error) => answer(error.action(), Some(&error)),
    }
}

fn answer(action: Option<ActionName>, error: Option<&IpcError>) -> Answer {
    let name = action.map(ActionName::as_str);
    let details = error.map(IpcError::details).unwrap_or_default();
    let text = match error {
        None => format!("accepted  {}", name.unwrap_or_default()),
        Some(error) => format!("refused   {error}: {}", shown(&details)),
    };
    let fields = [
        ("ok", json!(error.is_none())),
        ("action", json!(name)),
        ("error", json!(error.map(ToString::to_string))),
        ("details", Value::Array(details)),
    ];
    Answer { passed: error.is_none(), fields: Vec::from(fields), text }
}

/// Details on one line: texts as they are, issues with their path before them.
fn shown(details: &[Value]) -> String {
    let one = |detail: &Value| match detail {
        Value::String(text) => text.clone(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            let part = |name: &str| detail.get(name).and_then(Value::as_str).unwrap_or_default();
            match part("path") {
                "" => part("message").to_owned(),
                path => format!("{path}: {}", part("message")),
            }
        }
    };
    details.iter().map(one).collect::<Vec<_>>().join("; ")
}
