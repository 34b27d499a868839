//! Does the id of a record pin its text byte for byte?
//!
//! By the format's design it does not always: text is hashed in normal form C, which depends on the
//! version of Unicode where a code point is not known yet, and `-0.0` is hashed as `0`. Who stores another spelling under the same id hides what it says from whoever
//! searches for it, so strict verification refuses it; the compatible one counts it and says where.

use serde_json::Value;

use super::finding::Code;
use crate::assigned::{UNICODE_VERSION, first_unknown};
use crate::canon;
use crate::record::{Payload, Record};

/// What the id of a record does not pin.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Loose {
    pub(crate) code: Code,
    /// Where in the record, and what.
    pub(crate) detail: String,
}

/// The first text that is not in normal form, the first with a code point that is not known, and the
/// first `-0.0`, if there are any.
pub(crate) fn loose(record: &Record) -> Vec<Loose> {
    let mut search = Search::default();
    for (position, text) in record.taint.iter().enumerate() {
        search.text(text, &|| format!("taint[{position}]"));
    }
    for (position, text) in record.parents.iter().enumerate() {
        search.text(text, &|| format!("parents[{position}]"));
    }
    search.value(&record.meta, &|| "meta".to_owned());
    match &record.payload {
        Payload::Inline { inline } => search.value(inline, &|| "payload.inline".to_owned()),
        Payload::Blob { mime, .. } => search.text(mime, &|| "payload.mime".to_owned()),
    }
    [search.text, search.unknown, search.number].into_iter().flatten().collect()
}

/// As [`loose`], of a value alone: is there nothing of that kind in it?
pub(crate) fn value_is_pinned(value: &Value) -> bool {
    let mut search = Search::default();
    search.value(value, &String::new);
    search.text.is_none() && search.unknown.is_none() && search.number.is_none()
}

#[derive(Default)]
struct Search {
    text: Option<Loose>,
    unknown: Option<Loose>,
    number: Option<Loose>,
}

impl Search {
    /// `place` is asked only if there is something to say.
    fn text(&mut self, text: &str, place: &dyn Fn() -> String) {
        if let Some(unknown) = first_unknown(text) {
            self.unknown.get_or_insert_with(|| {
                let (place, code) = (place(), u32::from(unknown));
                let detail = format!(
                    "`{place}` holds U+{code:04X}, which Unicode {UNICODE_VERSION} has not"
                );
                Loose { code: Code::TextUnassigned, detail }
            });
        } else if self.text.is_none() && canon::is_rewritten(text) {
            let detail = format!("`{}` is not in Unicode normal form C", place());
            self.text = Some(Loose { code: Code::TextNotNfc, detail });
        }
    }

    fn value(&mut self, value: &Value, place: &dyn Fn() -> String) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                if self.number.is_none() && canon::is_negative_zero(number) {
                    let detail = format!("`{}` is -0.0, which is hashed as 0", place());
                    self.number = Some(Loose { code: Code::NumberUnstable, detail });
                }
            }
            Value::String(text) => self.text(text, place),
            Value::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    self.value(item, &|| format!("{}[{position}]", place()));
                }
            }
            Value::Object(map) => {
                for (key, value) in map {
                    self.text(key, &|| format!("{}, a key", place()));
                    self.value(value, &|| format!("{}.{key}", place()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::record::{Principal, RecordType};

    fn record() -> Record {
        Record {
            record_id: String::new(),
            record_type: RecordType::ToolCall,
            principal: Principal::Tool,
            taint: vec!["SECRET_RISK".to_owned()],
            parents: Vec::new(),
            meta: json!({ "ts": "2026-02-15T00:00:00Z" }),
            payload: Payload::Inline { inline: json!({ "a": [1, "é"], "b": 0.0 }) },
            schema: Some("0.1".to_owned()),
            extensions: None,
        }
    }

    #[test]
    fn wherever_it_stands_it_is_found() {
        assert_eq!(loose(&record()), []);
        let detail = |record: &Record| -> Vec<String> {
            loose(record).into_iter().map(|it| it.detail).collect()
        };
        let not_nfc = |place: &str| vec![format!("`{place}` is not in Unicode normal form C")];
        let mut of_taint = record();
        of_taint.taint = vec!["SECRET_RIS\u{212a}".to_owned()];
        assert_eq!(detail(&of_taint), not_nfc("taint[0]"));
        let mut of_key = record();
        of_key.meta = json!({ "\u{212a}": 1 });
        assert_eq!(detail(&of_key), not_nfc("meta, a key"));
        let mut of_mime = record();
        let (blob, size) = (String::new(), 1);
        of_mime.payload = Payload::Blob { blob, mime: "e\u{301}".to_owned(), size };
        assert_eq!(detail(&of_mime), not_nfc("payload.mime"));
        let mut of_unknown = record();
        of_unknown.taint = vec!["\u{1acf}".to_owned()];
        assert_eq!(detail(&of_unknown), ["`taint[0]` holds U+1ACF, which Unicode 16.0 has not"]);
        let mut of_both = record();
        of_both.payload = Payload::Inline { inline: json!([{ "a": [-0.0, "\u{1f71}"] }]) };
        let both = [
            "`payload.inline[0].a[1]` is not in Unicode normal form C",
            "`payload.inline[0].a[0]` is -0.0, which is hashed as 0",
        ];
        assert_eq!(detail(&of_both), both);
    }
}
