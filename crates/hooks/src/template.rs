//! Templates of answers: `$name` stands for a JSON value.

use serde_json::Value;

/// The values that a template may name.
pub(crate) struct Values<'a> {
    pub(crate) event: &'a str,
    pub(crate) text: &'a str,
    pub(crate) result: &'a Value,
}

/// Fills a template in one pass: what is put in is not looked at again.
pub(crate) fn fill(template: &str, values: &Values<'_>) -> String {
    let mut pieces = template.split('$');
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        if let Some(rest) = piece.strip_prefix("event") {
            filled.push_str(&Value::from(values.event).to_string());
            filled.push_str(rest);
        } else if let Some(rest) = piece.strip_prefix("text") {
            filled.push_str(&Value::from(values.text).to_string());
            filled.push_str(rest);
        } else if let Some(rest) = piece.strip_prefix("result") {
            filled.push_str(&values.result.to_string());
            filled.push_str(rest);
        } else {
            filled.push('$');
            filled.push_str(piece);
        }
    }
    filled
}
