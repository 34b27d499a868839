//! Shows records: a table for people, the stored lines for programs.

use aegx::verify::printable;
use aegx::{Payload, Record, Sorted};
use evidence::Row;
use serde_json::{Value, json};

use crate::output::{self, Paint};

/// The longest piece of content on a line.
const PREVIEW_CHARS: usize = 60;

/// Shows a record. Answers whether anybody is still reading.
pub(crate) fn row(row: &Row, as_json: bool) -> bool {
    let Ok(record) = serde_json::from_slice::<Record>(&row.line) else {
        output::error(&format!("record {} cannot be read", row.idx));
        return true;
    };
    if as_json {
        let value: Value = serde_json::from_slice(&row.line).unwrap_or(Value::Null);
        return output::json(&json!({ "idx": row.idx, "record": value }));
    }
    let paint = Paint::for_stdout();
    let meta = |key: &str| record.meta.get(key).and_then(Value::as_str).unwrap_or("-");
    let taint = record.taint.join(",");
    let id: String = record.record_id.chars().take(12).collect();
    let line = format!(
        "{:>8}  {}  {}  {:<14} {:<8} {:<16} {:<16} {} {}",
        row.idx,
        printable(meta("ts")),
        paint.faint(&printable(&id)),
        record.record_type.as_str(),
        record.principal.as_str(),
        printable(meta("session")),
        printable(meta("kind")),
        printable(&preview(&record.payload)),
        paint.bad(&printable(&taint)),
    );
    output::line(line.trim_end())
}

fn preview(payload: &Payload) -> String {
    let text = match payload {
        Payload::Inline { inline } => Sorted(inline).to_string(),
        Payload::Blob { blob, size, .. } => {
            let name: String = blob.chars().take(12).collect();
            format!("[{size} bytes in blob {name}]")
        }
    };
    match text.char_indices().nth(PREVIEW_CHARS) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
