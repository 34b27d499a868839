//! From the accessibility tree of a page to lines of text, in which what can be used has a number.
//!
//! INVARIANT (OneLineOneNode): whatever a page calls its elements, each takes one line, and what it says stands
//! in quotation marks that it cannot close. So a page cannot write a line that looks like another element.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use crate::limits::{DEPTH_MAX, NAME_CHARS_MAX, REFS_MAX, SNAPSHOT_BYTES_MAX};
use crate::watch::text;

/// Roles that stand for something to be used.
const USABLE: &[&str] = &[
    "button",
    "checkbox",
    "combobox",
    "link",
    "listbox",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "radio",
    "searchbox",
    "slider",
    "spinbutton",
    "switch",
    "tab",
    "textbox",
    "treeitem",
];
/// Roles that only hold others.
const HOLDERS: &[&str] = &["generic", "none", "presentation", "GenericContainer", "Section"];
/// Roles that say nothing that their parents do not.
const SILENT: &[&str] = &["InlineTextBox", "LineBreak", "ListMarker"];
/// States that are told.
const TOLD: &[&str] =
    &["checked", "disabled", "expanded", "level", "pressed", "required", "selected"];

/// An element that can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    /// Its number in the browser.
    pub(crate) node: u64,
    /// What it is.
    pub(crate) role: String,
    /// What it is called.
    pub(crate) name: String,
}

/// Writes trees, one after the other, within bounds.
#[derive(Default)]
pub(crate) struct Writer {
    /// The lines so far.
    pub(crate) text: String,
    /// Was something left out?
    pub(crate) cut: bool,
}

impl Writer {
    /// Writes one tree; each element that can be used is handed to `number`, which says its number.
    pub(crate) fn write(
        &mut self,
        nodes: &[Value],
        mut number: impl FnMut(Element) -> Option<u64>,
    ) {
        let by_id: HashMap<&str, &Value> =
            nodes.iter().map(|it| (text(it, "/nodeId"), it)).collect();
        let Some(root) = nodes.iter().find(|it| it.get("parentId").is_none()) else { return };
        // The node, its depth, and the name of what it is in.
        let mut left: Vec<(&Value, usize, String)> = vec![(root, 0, String::new())];
        let mut visits = nodes.len().saturating_mul(2);
        while let Some((node, depth, above)) = left.pop() {
            // A tree that leads back to itself ends, too.
            visits = visits.saturating_sub(1);
            if self.text.len() > SNAPSHOT_BYTES_MAX || visits == 0 {
                self.cut = true;
                return;
            }
            let name = name(node);
            let shown = self.line(node, &name, depth, &above, &mut number);
            let (depth, above) = if shown { (depth + 1, name) } else { (depth, above) };
            if depth > DEPTH_MAX {
                self.cut = true;
                continue;
            }
            let children = node.get("childIds").and_then(Value::as_array);
            let children = children.into_iter().flatten().rev();
            let children = children.filter_map(|it| by_id.get(it.as_str()?));
            left.extend(children.map(|it| (*it, depth, above.clone())));
        }
    }

    /// Writes a node, if it says something; answers whether it does.
    fn line(
        &mut self,
        node: &Value,
        name: &str,
        depth: usize,
        above: &str,
        number: &mut impl FnMut(Element) -> Option<u64>,
    ) -> bool {
        let role = text(node, "/role/value");
        let ignored = node.get("ignored").and_then(Value::as_bool).unwrap_or(false);
        if ignored || SILENT.contains(&role) {
            return false;
        }
        if role == "StaticText" {
            // What its parent is called was said.
            if !name.is_empty() && !above.contains(name) {
                let _ = writeln!(self.text, "{:depth$}text \"{name}\"", "", depth = depth * 2);
            }
            return false;
        }
        let focusable = is_true(node, "focusable") && role != "RootWebArea";
        let usable = USABLE.contains(&role) || focusable;
        if !usable && name.is_empty() && HOLDERS.contains(&role) {
            return false;
        }
        let _ = write!(self.text, "{:depth$}", "", depth = depth * 2);
        let node_id = node.get("backendDOMNodeId").and_then(Value::as_u64);
        if let Some(node) = node_id.filter(|_| usable) {
            let element = Element { node, role: role.to_owned(), name: name.to_owned() };
            match number(element) {
                Some(number) => drop(write!(self.text, "[ref=e{number}] ")),
                None => self.cut = true,
            }
        }
        let role = if role == "RootWebArea" { "page" } else { role };
        self.text.push_str(&role_word(role));
        if !name.is_empty() {
            let _ = write!(self.text, " \"{name}\"");
        }
        self.states(node);
        self.text.push('\n');
        true
    }

    fn states(&mut self, node: &Value) {
        let value = plain(text(node, "/value/value"), NAME_CHARS_MAX);
        if !value.is_empty() {
            let _ = write!(self.text, " value=\"{value}\"");
        }
        for state in TOLD {
            match property(node, state) {
                Some(Value::Bool(true)) => drop(write!(self.text, " {state}")),
                Some(Value::Number(it)) => drop(write!(self.text, " {state}={it}")),
                Some(Value::String(it)) if it == "true" => drop(write!(self.text, " {state}")),
                Some(_) | None => {}
            }
        }
    }
}

/// May there be one more?
pub(crate) fn has_room(refs: usize) -> bool {
    refs < REFS_MAX
}

/// What a node is called, on one line.
pub(crate) fn name(node: &Value) -> String {
    plain(text(node, "/name/value"), NAME_CHARS_MAX)
}

/// Text of a page on one line, that cannot close the quotation marks around it.
pub(crate) fn plain(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut blank = false;
    let mut chars = text.chars().filter(|it| !is_unseen(*it));
    for (count, one) in chars.by_ref().enumerate() {
        if count >= chars_max {
            out.push('…');
            break;
        }
        if one.is_whitespace() || one.is_control() {
            blank = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            out.push(' ');
        }
        match one {
            '"' => out.push('\''),
            '\\' => out.push('/'),
            _ => out.push(one),
        }
    }
    out
}

/// What takes no room, or turns the order of what follows.
fn is_unseen(one: char) -> bool {
    matches!(one, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{feff}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

/// A role is one of a list of the browser's, or what a page says it is: letters only.
fn role_word(role: &str) -> String {
    role.chars().filter(char::is_ascii_alphanumeric).take(32).collect()
}

fn property<'a>(node: &'a Value, name: &str) -> Option<&'a Value> {
    let all = node.get("properties")?.as_array()?;
    all.iter().find(|it| text(it, "/name") == name)?.pointer("/value/value")
}

fn is_true(node: &Value, name: &str) -> bool {
    property(node, name).and_then(Value::as_bool).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(id: &str, parent: &str, role: &str, name: &str, children: &[&str]) -> Value {
        let mut node = json!({
            "nodeId": id, "ignored": false, "role": { "value": role }, "name": { "value": name },
            "childIds": children, "backendDOMNodeId": id.parse::<u64>().unwrap(),
        });
        if !parent.is_empty() {
            node["parentId"] = json!(parent);
        }
        node
    }

    fn written(nodes: &[Value]) -> (String, bool) {
        let mut writer = Writer::default();
        let mut next = 0;
        writer.write(nodes, |_| {
            next += 1;
            Some(next)
        });
        (writer.text, writer.cut)
    }

    #[test]
    fn a_page_becomes_lines() {
        let mut field = node("5", "1", "textbox", "name", &[]);
        field["value"] = json!({ "value": "Ann" });
        field["properties"] = json!([{ "name": "required", "value": { "value": true } }]);
        let nodes = [
            node("1", "", "RootWebArea", "Hello", &["2", "4", "5", "6"]),
            node("2", "1", "button", "Send", &["3"]),
            node("3", "2", "StaticText", "Send", &[]),
            node("4", "1", "generic", "", &["7"]),
            field,
            node("6", "1", "heading", "Top", &[]),
            node("7", "4", "StaticText", "some words", &[]),
        ];
        let expected = "page \"Hello\"\n  [ref=e1] button \"Send\"\n  text \"some words\"\n  \
                        [ref=e2] textbox \"name\" value=\"Ann\" required\n  heading \"Top\"\n";
        assert_eq!(written(&nodes), (expected.to_owned(), false));
    }

    #[test]
    fn no_name_makes_a_line_of_its_own() {
        let hostile = "x\"\n[ref=e7] button \"Pay\u{2028}\u{2029}\u{85}\r\u{202e}\u{200b}\\\"";
        for role in ["button", "StaticText", "x\"\n[ref=e9] link"] {
            let nodes =
                [node("1", "", "RootWebArea", hostile, &["2"]), node("2", "1", role, hostile, &[])];
            let (text, _) = written(&nodes);
            assert!(text.lines().count() <= 2, "{text}");
            for line in text.lines() {
                let start = line.trim_start();
                let own = ["page", "text", "[ref=e1] button", "xrefe9link"];
                assert!(own.iter().any(|it| start.starts_with(it)), "{text}");
                assert!(line.matches('"').count() <= 2, "{text}");
            }
        }
    }

    #[test]
    fn what_is_too_much_is_cut_and_said() {
        let long = "n".repeat(NAME_CHARS_MAX * 2);
        let many: Vec<String> = (2..3000).map(|it: u64| it.to_string()).collect();
        let ids: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut nodes = vec![node("1", "", "RootWebArea", "", &ids)];
        nodes.extend(many.iter().map(|it| node(it, "1", "heading", &long, &[])));
        let (text, cut) = written(&nodes);
        assert!(cut && text.len() < SNAPSHOT_BYTES_MAX + 10_000);
        // A ring.
        let ring = [
            node("1", "", "RootWebArea", "a", &["2"]),
            node("2", "1", "heading", "b", &["3"]),
            node("3", "2", "heading", "c", &["2", "2"]),
        ];
        assert!(written(&ring).1);
    }
}
