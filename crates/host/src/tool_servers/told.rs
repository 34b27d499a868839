//! What came of a call, as the agent is told it: whatever the server said stands between marks, and comes from outside unless a
//! person trusts it.

use ::mcp::META_DECISION;
use monitor::{Output, Status};
use serde_json::{Value, json};

use super::client::Answer;
use crate::doors::mcp::servers::Brings;
use crate::executor::marked;

/// The output of a call of the server's tool, with what its words bring along.
pub(super) fn output(server: &str, answer: Answer, brings: Brings) -> Output {
    let (status, text) = match answer {
        Answer::Result(result) => (status(&result), text(&result)),
        Answer::Error(why) => (Status::Failed, why),
        Answer::Nothing(why) => return Output::unanswered(format!("{server}: {why}")),
    };
    let body = match (marked(server, &text), status) {
        (Ok(text), Status::Done) => json!({ "output": text }).to_string(),
        (Ok(text), Status::Failed | Status::NotBegun) => text,
        (Err(why), _) => return Output::unanswered(why),
    };
    let sandboxed = brings.is_sandboxed.then(|| server.to_owned());
    Output { status, tags: brings.tag.into_iter().collect(), sandboxed, ..Output::text(body) }
}

/// One that the session itself refused, because it did not fit the tool, was not made; its reason may hold the server's words.
fn status(result: &Value) -> Status {
    let is_refused = result.get("_meta").is_some_and(|it| it.get(META_DECISION).is_some());
    match result.get("isError") == Some(&Value::Bool(true)) || is_refused {
        true => Status::Failed,
        false => Status::Done,
    }
}

/// What a model could read of a result.
fn text(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).map(Vec::as_slice);
    let blocks = blocks.unwrap_or_default();
    let mut texts: Vec<String> = blocks.iter().map(block).collect();
    // Where both are there, the text says the same in words.
    if let Some(structured) = result.get("structuredContent").filter(|_| texts.is_empty()) {
        texts.push(structured.to_string());
    }
    texts.join("\n")
}

fn block(block: &Value) -> String {
    let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str);
    let media =
        |kind: &str| format!("[{kind} that is not shown: {}]", text("/mimeType").unwrap_or("?"));
    match text("/type") {
        Some("text") => text("/text").unwrap_or_default().to_owned(),
        Some("image") => media("an image"),
        Some("audio") => media("a sound"),
        Some("resource") => match text("/resource/text") {
            Some(it) => it.to_owned(),
            None => format!("[bytes that are not shown: {}]", text("/resource/uri").unwrap_or("?")),
        },
        Some("resource_link") => format!("[{}]", text("/uri").unwrap_or("?")),
        Some(_) | None => block.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use ::mcp::trust::Trust;

    use super::*;
    use crate::doors::mcp::servers::{Servers, StartedBy};

    #[test]
    fn what_came_is_told_with_its_source_and_bytes_are_not_shown() {
        let mut known = Servers::default();
        known.starts("notes", StartedBy { sha256: "one".to_owned(), runs: String::new() });
        let of = |known: &Servers, result: Value| {
            output("notes", Answer::Result(result), known.brings("notes", Some("one"), 1))
        };
        let told = of(
            &known,
            json!({ "content": [
            { "type": "text", "text": "at nine" },
            { "type": "image", "mimeType": "image/png", "data": "aGk=" },
            { "type": "resource", "resource": { "uri": "file:///a", "text": "in a file" } },
        ] }),
        );
        assert_eq!((told.status, told.tags.len()), (Status::Done, 1));
        for part in ["at nine", "image/png", "in a file"] {
            assert!(told.body.contains(part), "{}", told.body);
        }
        assert!(!told.body.contains("aGk="), "{}", told.body);
        let structured =
            of(&known, json!({ "content": [], "structuredContent": { "degrees": 22 } }));
        assert!(structured.body.contains("degrees"), "{}", structured.body);
        let failed = of(&known, json!({ "content": [], "isError": true }));
        assert_eq!(failed.status, Status::Failed);
        known.trust.insert("notes".to_owned(), Trust::Trusted);
        assert!(of(&known, json!({ "content": [] })).tags.is_empty());
        known.trust.insert("notes".to_owned(), Trust::Sandboxed);
        assert_eq!(of(&known, json!({ "content": [] })).sandboxed.as_deref(), Some("notes"));
        let brings = Brings::of_unknown("notes", 1);
        let gone = output("notes", Answer::Nothing("it is gone"), brings);
        assert!(gone.tags.is_empty() && gone.body.contains("it is gone"));
    }
}
