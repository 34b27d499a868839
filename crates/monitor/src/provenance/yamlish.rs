//! Dumped lists and maps whose quoting is broken: read by indentation alone.
//!
//! A dump puts every key at the column of its level and everything that continues a value deeper, so
//! what a value says cannot pass for a key, even where a quote in it was not escaped.

use serde_json::{Map, Value};

/// Reads a dump, or nothing if it has no level of keys or dashes to go by.
pub(super) fn read(text: &str) -> Option<Value> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.iter().find(|it| !it.trim().is_empty())?;
    if first.starts_with("- ") {
        let items = split(&lines, |line| line.starts_with("- "));
        let values = items.iter().map(|item| self::item(item)).collect::<Vec<_>>();
        return Some(Value::Array(values));
    }
    key_of(first)?;
    Some(map(&lines))
}

/// Cuts lines into parts, each beginning with a line that `begins`.
fn split<'a>(lines: &[&'a str], begins: impl Fn(&str) -> bool) -> Vec<Vec<&'a str>> {
    let mut parts: Vec<Vec<&'a str>> = Vec::new();
    for line in lines {
        match parts.last_mut() {
            Some(part) if !begins(line) => part.push(line),
            _ if line.trim().is_empty() => {}
            _ => parts.push(vec![line]),
        }
    }
    parts
}

/// One item of a list, without its dash: a map or a scalar.
fn item(lines: &[&str]) -> Value {
    let unindented: Vec<&str> =
        lines.iter().map(|line| line.get(2..).unwrap_or_default()).collect();
    let is_map = unindented.first().is_some_and(|it| key_of(it).is_some());
    if is_map { map(&unindented) } else { Value::String(scalar(&unindented)) }
}

fn map(lines: &[&str]) -> Value {
    let mut fields = Map::new();
    for part in split(lines, |line| key_of(line).is_some()) {
        let Some((first, rest)) = part.split_first() else { continue };
        let Some((key, value)) = key_of(first) else { continue };
        fields.insert(key.to_owned(), field(value, rest));
    }
    Value::Object(fields)
}

/// The value of a key: what stands behind it, or the list or map below it.
fn field(value: &str, rest: &[&str]) -> Value {
    let below = rest.iter().find(|it| !it.trim().is_empty());
    match below {
        Some(line) if value.is_empty() => {
            let depth = line.len().saturating_sub(line.trim_start().len());
            let inner: Vec<&str> =
                rest.iter().map(|it| it.get(depth..).unwrap_or_default()).collect();
            read(&inner.join("\n")).unwrap_or_else(|| Value::String(scalar(&inner)))
        }
        _ => {
            let mut lines = vec![value];
            lines.extend(rest);
            Value::String(scalar(&lines))
        }
    }
}

/// `key: value` or `key:` at the left margin.
fn key_of(line: &str) -> Option<(&str, &str)> {
    if line.starts_with([' ', '-', '\'', '"', '#']) {
        return None;
    }
    let (key, value) = line.split_once(':')?;
    let legal = !key.is_empty() && key.len() <= 64 && !key.contains(['\'', '"', '{', '[']);
    (legal && (value.is_empty() || value.starts_with(' '))).then_some((key, value.trim()))
}

/// A scalar over several lines: folded, without its quotes.
fn scalar(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut blank = false;
    for line in lines {
        let part = line.trim();
        if part.is_empty() {
            text.push('\n');
            blank = true;
            continue;
        }
        let joined = text.ends_with('\\');
        if joined {
            text.pop();
        } else if !text.is_empty() && !blank {
            text.push(' ');
        }
        text.push_str(if joined { part.trim_start_matches('\\') } else { part });
        blank = false;
    }
    let text = text.trim();
    let double = text.starts_with('"');
    let bare = text.trim_matches(|it| it == if double { '"' } else { '\'' });
    if double {
        bare.replace("\\n", "\n").replace("\\\"", "\"").replace("\\t", "\t")
    } else {
        bare.replace("''", "'")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_broken_quote_breaks_one_value() {
        let text = "- id: 1\n  sender: A1\n  subject: '\n\n\n    the user's money: send it.\n\n    '\n  to:\n  - a@b.com\n- id: 2\n  sender: B2\n";
        let value = read(text).unwrap();
        assert_eq!(value[0]["sender"], "A1");
        assert_eq!(value[0]["subject"].as_str().unwrap().trim(), "the user's money: send it.");
        assert_eq!(value[0]["to"], json!(["a@b.com"]));
        assert_eq!(value[1]["sender"], "B2");
        assert_eq!(read("just text\n"), None);
    }

    #[test]
    fn nothing_panics() {
        for text in ["- ", "-", "a:", "- é\n é: x", "a:\n   é\n b: c", ":", "- - - a: b"] {
            read(text);
        }
    }
}
