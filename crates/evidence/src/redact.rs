//! What must stand in no record, whoever writes it.
//!
//! The journal has no secrets. Who keeps them says which text holds one, and how it reads without.

use std::sync::OnceLock;

use aegx::canon;
use model::replace_texts;
use serde_json::Value;

use crate::journal::Journal;
use crate::record::{Content, NewRecord};

/// The text without what must not be recorded; none if there is nothing of it.
type Redact = dyn Fn(&str) -> Option<String> + Send + Sync;

/// Looks at what is to be recorded; without somebody who knows secrets it costs nothing.
#[derive(Default)]
pub(crate) struct Redaction(OnceLock<Box<Redact>>);

impl Journal {
    /// From now on no text in the content of a record holds what `redact` takes out. Answers whether it is the
    /// first to say so; a second is not heard.
    pub fn redact_with(
        &self,
        redact: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> bool {
        self.redaction.0.set(Box::new(redact)).is_ok()
    }
}

impl Redaction {
    pub(crate) fn apply(&self, mut new: NewRecord) -> NewRecord {
        let Some(redact) = self.0.get() else { return new };
        // JSON is stored in normal form C, so that is what must not hold it.
        let of_json = |text: &str| redact(&canon::normal_form(text));
        new.content = match new.content {
            Content::Json(mut value) => {
                replace_texts(&mut value, &of_json);
                Content::Json(value)
            }
            Content::Text(text) => of_text(text, &of_json),
            Content::Bytes { mime, bytes } => {
                let found = std::str::from_utf8(&bytes).ok().and_then(redact);
                Content::Bytes { mime, bytes: found.map_or(bytes, String::into_bytes) }
            }
        };
        new
    }
}

fn of_text(text: Vec<u8>, redact: &dyn Fn(&str) -> Option<String>) -> Content {
    let Some(redacted) = std::str::from_utf8(&text).ok().and_then(redact) else {
        return Content::Text(text);
    };
    match serde_json::from_slice(&text) {
        Ok(mut value) => {
            replace_texts(&mut value, redact);
            Content::Json(value)
        }
        // What is no JSON is refused where it is written; until then it is text.
        Err(_) => Content::Json(Value::String(redacted)),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use aegx::RecordType;
    use model::Kind;
    use serde_json::json;

    use super::*;
    use crate::{Config, Reader};

    /// Does any file there hold it?
    fn is_anywhere(dir: &std::path::Path, text: &str) -> bool {
        fs::read_dir(dir).unwrap().map(|it| it.unwrap().path()).any(|it| {
            if it.is_dir() {
                return is_anywhere(&it, text);
            }
            let bytes = fs::read(&it).unwrap();
            bytes.windows(text.len()).any(|it| it == text.as_bytes())
        })
    }

    #[test]
    fn what_only_its_stored_form_would_hold_is_taken_out_too() {
        let dir = tempfile::tempdir().unwrap();
        let (journal, _) = Journal::open(&Config::new(dir.path())).unwrap();
        journal.redact_with(|it| it.contains("KEY-1").then(|| it.replace("KEY-1", "[gone]")));
        let content = json!(["\u{212a}EY-1", { "\u{212a}EY-1": 1 }]);
        for content in [Content::Json(content.clone()), Content::text(&content).unwrap()] {
            let kind = Kind::of_static("note");
            let of_host = NewRecord::of_host(RecordType::GuardDecision, kind, Value::Null);
            journal.append(NewRecord { content, ..of_host }).unwrap();
        }
        journal.close().unwrap();
        assert!(!is_anywhere(dir.path(), "KEY-1"));
        assert!(is_anywhere(dir.path(), r#"["[gone]",{"[gone]":1}]"#));
    }

    #[test]
    fn no_record_of_any_kind_holds_what_must_not_be_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let (journal, _) = Journal::open(&Config::new(dir.path())).unwrap();
        let redact = |it: &str| it.contains("hush").then(|| it.replace("hush", "[secret:A]"));
        assert!(journal.redact_with(redact));
        assert!(!journal.redact_with(|_| None));
        let content = json!({ "a": ["hush", { "hush": "b hush" }], "n": 1 });
        let bytes = Content::Bytes { mime: "text/plain".to_owned(), bytes: b"a hush".to_vec() };
        let long = json!("hush ".repeat(100_000));
        for content in [
            Content::Json(content.clone()),
            Content::text(&content).unwrap(),
            Content::Json(long.clone()),
            Content::text(&long).unwrap(),
            bytes,
        ] {
            let kind = Kind::of_static("note");
            let of = |content| NewRecord {
                content,
                ..NewRecord::of_host(RecordType::GuardDecision, kind.clone(), Value::Null)
            };
            journal.append(of(content.clone())).unwrap();
            let _ = journal.post(of(content));
        }
        journal.close().unwrap();
        assert!(!is_anywhere(dir.path(), "hush"));
        assert!(is_anywhere(dir.path(), r#"{"[secret:A]":"b [secret:A]"}"#));
        assert!(Reader::open(dir.path()).is_ok());
    }
}
