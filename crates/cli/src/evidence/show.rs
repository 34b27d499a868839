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
        printable(&said(meta("kind"), &record.payload)),
        paint.bad(&printable(&taint)),
    );
    output::line(line.trim_end())
}

/// What a record says, in a few words.
fn said(kind: &str, payload: &Payload) -> String {
    match payload {
        Payload::Inline { inline } if kind == "egress" => way_out(inline),
        Payload::Inline { .. } | Payload::Blob { .. } => preview(payload),
    }
}

/// A way out: what became of it, where it leads, and by which token a program opened it.
fn way_out(event: &Value) -> String {
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| event.get(name).and_then(Value::as_u64);
    let status = number("status").map(|it| it.to_string()).unwrap_or_default();
    let place = match (text("scheme"), text("host")) {
        (_, "") => String::new(),
        ("", host) => host.to_owned(),
        (scheme, host) if host.contains(':') => format!("{scheme}://[{host}]"),
        (scheme, host) => format!("{scheme}://{host}"),
    };
    let port = number("port").filter(|it| *it > 0 && !place.is_empty());
    let port = port.map(|it| format!(":{it}")).unwrap_or_default();
    let place = cut(&format!("{place}{port}{}", text("path")));
    let token = match text("token") {
        "" => String::new(),
        token => format!("token {token}"),
    };
    let times = number("count").map(|it| format!("{it} times")).unwrap_or_default();
    let words = [text("decision"), text("rule"), &status, text("method"), &place, &token, &times];
    words.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" ")
}

fn preview(payload: &Payload) -> String {
    let text = match payload {
        Payload::Inline { inline } => Sorted(inline).to_string(),
        Payload::Blob { blob, size, .. } => {
            let name: String = blob.chars().take(12).collect();
            format!("[{size} bytes in blob {name}]")
        }
    };
    cut(&text)
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(PREVIEW_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_out_is_told_in_a_few_words() {
        for (event, told) in [
            (
                json!({"decision": "allow", "method": "CONNECT", "scheme": "https", "host": "a.example",
                    "port": 443, "path": "", "token": "a1b2c3d4e5f6"}),
                "allow CONNECT https://a.example:443 token a1b2c3d4e5f6",
            ),
            (
                json!({"decision": "allow", "method": "GET", "scheme": "http", "host": "2606:4700::1",
                    "port": 80, "path": "/a", "status": 200}),
                "allow 200 GET http://[2606:4700::1]:80/a",
            ),
            (
                json!({"decision": "deny", "rule": "proxy-request", "method": "GET", "scheme": "", "host": "",
                    "port": 0, "path": "/a", "token": "start"}),
                "deny proxy-request GET /a token start",
            ),
            (
                json!({"decision": "deny", "rule": "proxy-account", "count": 4}),
                "deny proxy-account 4 times",
            ),
            (json!(null), ""),
        ] {
            assert_eq!(way_out(&event), told);
        }
    }
}
