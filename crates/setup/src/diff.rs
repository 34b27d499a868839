//! The diff that a person reads before a plan is carried out. What may be a secret is masked on both sides.

use std::ops::Range;
use std::path::Path;

use serde_json::Value;
use similar::TextDiff;
use toml_edit::{Document as Toml, Item, TableLike};

use crate::json::{Comments, Document, Kind, Node};
use crate::plan::Change;
use crate::secret::{announces_secret, is_secret_name, is_secret_text};

/// Lines around a change that are shown.
const CONTEXT_LINES: usize = 3;
/// Characters of a line that are shown.
const LINE_CHARS_MAX: usize = 400;
const MASK: &str = "\"…\"";

/// The unified diff of one file.
pub(crate) fn of(change: &Change) -> String {
    let name = change.path.display().to_string();
    let before = change.before.as_deref().map(|it| masked(&change.path, &text(it)));
    let after = masked(&change.path, &text(&change.after));
    let old = if before.is_some() { name.as_str() } else { "/dev/null" };
    let before = before.unwrap_or_default();
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let unified = diff.unified_diff().context_radius(CONTEXT_LINES).header(old, &name).to_string();
    unified.lines().map(shortened).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn shortened(line: &str) -> String {
    let mut shown: String = line.chars().take(LINE_CHARS_MAX).collect();
    if line.chars().nth(LINE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown.push('\n');
    shown
}

/// A text with its secrets masked. One that cannot be read as what its name says is shown as it is: it is not changed.
fn masked(path: &Path, text: &str) -> String {
    let mut spans = Vec::new();
    match path.extension().and_then(|it| it.to_str()) {
        Some("toml") => {
            if let Ok(doc) = Toml::parse(text) {
                in_table(doc.as_table(), false, &mut spans);
            }
        }
        Some("js") => {}
        _ => {
            if let Ok(doc) = Document::parse(text, Comments::Allowed) {
                in_node(doc.root(), false, &mut spans);
            }
        }
    }
    spans.sort_by_key(|it| it.start);
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for span in spans {
        shown.push_str(text.get(from..span.start).unwrap_or_default());
        shown.push_str(MASK);
        from = span.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    shown
}

fn in_node(node: &Node, is_secret: bool, spans: &mut Vec<Range<usize>>) {
    match &node.kind {
        Kind::Object(members) => {
            for it in members {
                in_node(&it.value, is_secret || is_secret_name(&it.key), spans);
            }
        }
        Kind::Array(elements) => {
            let mut is_next = false;
            for it in elements {
                in_node(it, is_secret || is_next, spans);
                let text = match &it.kind {
                    Kind::Scalar(Value::String(text)) => text.as_str(),
                    Kind::Object(_) | Kind::Array(_) | Kind::Scalar(_) => "",
                };
                is_next = announces_secret(text);
            }
        }
        Kind::Scalar(Value::String(text)) if is_secret || is_secret_text(text) => {
            spans.push(node.span.clone());
        }
        Kind::Scalar(_) => {}
    }
}

fn in_table(table: &dyn TableLike, is_secret: bool, spans: &mut Vec<Range<usize>>) {
    for (key, item) in table.iter() {
        in_item(item, is_secret || is_secret_name(key), spans);
    }
}

fn in_item(item: &Item, is_secret: bool, spans: &mut Vec<Range<usize>>) {
    if let Some(table) = item.as_table_like() {
        return in_table(table, is_secret, spans);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().for_each(|it| in_table(it, is_secret, spans));
    }
    if let Some(array) = item.as_array() {
        let mut is_next = false;
        for it in array {
            let text = it.as_str().unwrap_or_default();
            if is_secret || is_next || is_secret_text(text) {
                spans.extend(it.span());
            }
            is_next = announces_secret(text);
        }
        return;
    }
    if item.as_str().is_some_and(|it| is_secret || is_secret_text(it)) {
        spans.extend(item.span());
    }
}
