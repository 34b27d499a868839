//! Changing a text of JSON in places.

use std::ops::Range;

use serde_json::{Map, Value};

use super::parse::{self, JsonError};
use super::style::{Style, indent_at, line_indent};
use super::{Document, Kind, Node, Step};

impl Document {
    /// Sets the value at a path, and makes the objects that lead to it.
    ///
    /// # Errors
    /// If something on the way is no object.
    pub(crate) fn set(&mut self, path: &[Step], value: &Value) -> Result<(), JsonError> {
        let known = (0..=path.len()).rev().find(|it| self.get(head(path, *it)).is_some());
        let depth = known.unwrap_or(0).min(path.len().saturating_sub(1));
        let (way, rest) = (head(path, depth), path.get(depth..).unwrap_or_default());
        let Some(container) = self.get(way).cloned() else { return Err(self.no_way(path)) };
        let mut meant = container.value();
        place(&mut meant, rest, value.clone()).ok_or_else(|| self.no_way(path))?;
        if let Some(node) = self.get(path).filter(|_| !rest.is_empty()) {
            let style = self.style();
            let is_spread = !indent_at(&self.text, self.begin_of_entry(path)).is_empty();
            let indent = line_indent(&self.text, node.span.start);
            let text = style.rendered(value, is_spread.then_some(indent));
            return self.splice(way, &[(node.span.clone(), text)], &meant);
        }
        let [Step::Key(key), rest @ ..] = rest else { return Err(self.no_way(path)) };
        let inner = rest.iter().rev().try_fold(value.clone(), |inner, step| match step {
            Step::Key(key) => Some(Value::Object(Map::from_iter([(key.clone(), inner)]))),
            Step::Index(_) => None,
        });
        let inner = inner.ok_or_else(|| self.no_way(path))?;
        self.add(way, &container, Some(key), &inner, &meant)
    }

    /// Puts a value at the end of the array at a path; makes the array if there is none.
    ///
    /// # Errors
    /// If something else is there.
    pub(crate) fn push(&mut self, path: &[Step], value: &Value) -> Result<(), JsonError> {
        let Some(node) = self.get(path).cloned() else {
            return self.set(path, &Value::Array(vec![value.clone()]));
        };
        let mut meant = node.value();
        let Some(elements) = meant.as_array_mut() else { return Err(self.no_way(path)) };
        elements.push(value.clone());
        self.add(path, &node, None, value, &meant)
    }

    /// Takes out the entry at a path, if it is there.
    ///
    /// # Errors
    /// If the text would not say what is meant.
    pub(crate) fn remove(&mut self, path: &[Step]) -> Result<(), JsonError> {
        let Some((last, way)) = path.split_last() else { return Ok(()) };
        let Some(container) = self.get(way).cloned() else { return Ok(()) };
        let index = match (&container.kind, last) {
            (Kind::Object(members), Step::Key(key)) => members.iter().position(|it| it.key == *key),
            (Kind::Array(elements), Step::Index(index)) => {
                Some(*index).filter(|it| *it < elements.len())
            }
            (Kind::Object(_) | Kind::Array(_) | Kind::Scalar(_), _) => None,
        };
        let Some(index) = index else { return Ok(()) };
        let mut meant = container.value();
        match (&mut meant, last) {
            (Value::Object(members), Step::Key(key)) => drop(members.shift_remove(key)),
            (Value::Array(elements), Step::Index(index)) => drop(elements.remove(*index)),
            _ => return Err(self.no_way(path)),
        }
        let (before, own) = self.cuts(&container, index);
        let cuts: Vec<_> = before.into_iter().chain(own).map(|it| (it, String::new())).collect();
        self.splice(way, &cuts, &meant)
    }

    /// What is cut so that an entry of a container goes: the comma before it, and itself with its blanks.
    fn cuts(&self, container: &Node, index: usize) -> (Option<Range<usize>>, Option<Range<usize>>) {
        let entries = container.entries();
        let inner = container.span.start + 1..container.span.end.saturating_sub(1);
        let Some(entry) = entries.get(index).cloned() else { return (None, None) };
        let comma = self.comma_after(entry.end);
        let end = comma.map_or(entry.end, |it| it + 1);
        let after = self.text.get(end..).unwrap_or_default();
        if index + 1 < entries.len() {
            return (None, Some(entry.start..end + (after.len() - after.trim_start().len())));
        }
        // The blanks before it go, too, unless their line end is the one that ends a comment.
        let ends_line = after.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
        let before = self.text.get(..entry.start).unwrap_or_default();
        let start = if ends_line { before.trim_end().len() } else { entry.start };
        let is_blank = |it: Range<usize>| self.text.get(it).is_some_and(|it| it.trim().is_empty());
        if let Some(previous) = index.checked_sub(1).and_then(|it| entries.get(it)) {
            let own = start.max(previous.end)..end;
            return match self.comma_after(previous.end) {
                Some(it) if comma.is_none() && is_blank(it + 1..entry.start) => {
                    (None, Some(it..end))
                }
                // A comment stands between the comma and the entry: it stays.
                Some(it) if comma.is_none() => (Some(it..it + 1), Some(own)),
                _ => (None, Some(own)),
            };
        }
        let is_alone = is_blank(inner.start..entry.start) && is_blank(end..inner.end);
        (None, Some(if is_alone { inner } else { start.max(inner.start)..end }))
    }

    /// Adds an entry at the end of a container.
    fn add(
        &mut self,
        way: &[Step],
        container: &Node,
        key: Option<&String>,
        value: &Value,
        meant: &Value,
    ) -> Result<(), JsonError> {
        let style = self.style();
        let (start, close) = (container.span.start, container.span.end.saturating_sub(1));
        let entries = container.entries();
        let from = entries.last().map_or(start + 1, |it| it.end);
        let tail = self.text.get(from..close).unwrap_or_default();
        let first = entries.first().map_or(close, |it| it.start);
        let lead = self.text.get(start..first).unwrap_or_default();
        let is_spread = match entries.first() {
            Some(_) => lead.contains('\n') || tail.contains('\n'),
            None => style.is_spread || tail.contains('\n'),
        };
        let outer = line_indent(&self.text, start).to_owned();
        let inner = match entries.first().map(|it| indent_at(&self.text, it.start)) {
            Some(indent) if !indent.is_empty() => indent.to_owned(),
            _ => format!("{outer}{}", style.unit),
        };
        let text = style.rendered(value, is_spread.then_some(inner.as_str()));
        let mut named = match key {
            Some(key) => format!("{}: {text}", Value::String(key.clone())),
            None => text,
        };
        let filled = tail.trim_end();
        let at = from + filled.len();
        let mut parts = Vec::new();
        match self.comma_after(from) {
            _ if entries.is_empty() => {}
            None => parts.push((from..from, ",".to_owned())),
            // Whoever ends the last line with a comma wants it there.
            Some(_) => named.push(','),
        }
        if is_spread {
            let mut added = format!("{}{inner}{named}", style.newline);
            let mut until = at;
            if !tail.get(filled.len()..).unwrap_or_default().contains('\n') {
                added.push_str(style.newline);
                added.push_str(&outer);
                until = close;
            }
            parts.push((at..until, added));
        } else {
            let gap = if entries.is_empty() { "" } else { " " };
            parts.push((at..at, format!("{gap}{named}")));
        }
        self.splice(way, &parts, meant)
    }

    /// Replaces places in the container at `way`, given from front to back, and reads the container again. A whole
    /// value stands for a whole value, so that the rest of the text means what it meant.
    fn splice(
        &mut self,
        way: &[Step],
        parts: &[(Range<usize>, String)],
        meant: &Value,
    ) -> Result<(), JsonError> {
        let Some(span) = self.get(way).map(|it| it.span.clone()) else {
            return Err(self.no_way(way));
        };
        let mut text = String::with_capacity(span.len());
        let mut from = span.start;
        for (part, new) in parts {
            text.push_str(self.text.get(from..part.start).unwrap_or_default());
            text.push_str(new);
            from = part.end;
        }
        text.push_str(self.text.get(from..span.end).unwrap_or_default());
        let mut node = parse::value(&text, self.comments)?;
        if node.value() != *meant {
            return Err(JsonError::at(&self.text, from, "this place cannot be changed safely"));
        }
        node.shift(span.start.cast_signed());
        let longer = text.len().cast_signed() - span.len().cast_signed();
        self.root.put(way, node, span.end, longer);
        let (before, after) = (self.text.get(..span.start), self.text.get(span.end..));
        self.text = [before.unwrap_or_default(), &text, after.unwrap_or_default()].concat();
        Ok(())
    }

    fn comma_after(&self, at: usize) -> Option<usize> {
        let next = parse::skipped(&self.text, at, self.comments);
        (self.text.as_bytes().get(next) == Some(&b',')).then_some(next)
    }

    fn style(&self) -> Style {
        Style::of(&self.text, self.root.entries().first().map(|it| it.start))
    }

    /// Where the entry at a path begins, with its name.
    fn begin_of_entry(&self, path: &[Step]) -> usize {
        let way = head(path, path.len().saturating_sub(1));
        let value = self.get(path).map_or(0, |it| it.span.start);
        let entries = self.get(way).map(Node::entries).unwrap_or_default();
        entries.iter().find(|it| it.contains(&value)).map_or(value, |it| it.start)
    }

    fn no_way(&self, path: &[Step]) -> JsonError {
        let known = (0..=path.len()).rev().find_map(|it| self.get(head(path, it)));
        let at = known.map_or(0, |it| it.span.start);
        JsonError::at(&self.text, at, "another kind of value was expected here")
    }
}

fn head(path: &[Step], length: usize) -> &[Step] {
    path.get(..length).unwrap_or(path)
}

/// The same change on the value, to compare with.
fn place(value: &mut Value, path: &[Step], new: Value) -> Option<()> {
    let Some((step, rest)) = path.split_first() else {
        *value = new;
        return Some(());
    };
    match (value, step) {
        (Value::Object(members), Step::Key(key)) => {
            let inner = members.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            place(inner, rest, new)
        }
        (Value::Array(elements), Step::Index(index)) => place(elements.get_mut(*index)?, rest, new),
        _ => None,
    }
}
