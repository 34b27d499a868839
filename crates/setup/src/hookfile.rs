//! Hooks in a file of JSON: ours are put beside the user's, and taken out again.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::json::{Document, JsonError, below, keys};
use crate::shellword::first_word;

/// The name of our hook program, wherever it lies.
const HOOK_NAME: &str = "lazaret-hook";
const HOOKS: &str = "hooks";

/// How a host lists its hooks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shape {
    /// `hooks.Event[].hooks[]`, with a matcher for each group.
    Grouped,
    /// `hooks.event[]`.
    Flat,
}

/// A hook that we want.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The event, as the host calls it.
    pub(crate) event: &'static str,
    /// For which tools, where the host must be told.
    pub(crate) matcher: Option<&'static str>,
    /// The entry.
    pub(crate) entry: Value,
}

impl Wanted {
    fn listed(&self, shape: Shape) -> Value {
        match (shape, self.matcher) {
            (Shape::Flat, _) => self.entry.clone(),
            (Shape::Grouped, None) => json!({ HOOKS: [self.entry] }),
            (Shape::Grouped, Some(matcher)) => {
                json!({ "matcher": matcher, HOOKS: [self.entry] })
            }
        }
    }
}

/// Is this entry ours? By the name of the program: an older one may lie elsewhere.
pub(crate) fn is_ours(entry: &Value, hook: &Path) -> bool {
    let lines = ["command", "bash"].into_iter().filter_map(|it| entry.get(it)?.as_str());
    lines.into_iter().any(|line| {
        let word = first_word(line);
        let program = Path::new(&word);
        program.file_name().is_some_and(|it| it == HOOK_NAME)
            || program == hook
            || Path::new(line) == hook
    })
}

/// Puts every wanted hook into the file, once, after those that are there.
pub(crate) fn wire(
    doc: &mut Document,
    shape: Shape,
    wanted: &[Wanted],
    hook: &Path,
) -> Result<(), JsonError> {
    for it in wanted {
        let path = keys(&[HOOKS, it.event]);
        let listed = it.listed(shape);
        let value = doc.value();
        let places = places(&value, it.event, hook);
        let alone = match places.as_slice() {
            [place] => place.is_alone.then_some(place.index),
            _ => None,
        };
        match alone {
            // In its place: the user's hooks keep their numbers, which Codex trusts them by.
            Some(index) => {
                let path = below(&path, index);
                if doc.value_at(&path).as_ref() != Some(&listed) {
                    doc.set(&path, &listed)?;
                }
            }
            None => {
                take_out(doc, it.event, hook)?;
                doc.push(&path, &listed)?;
            }
        }
    }
    Ok(())
}

/// Takes every hook of ours out. What was there before us stays, if only as an empty list.
pub(crate) fn unwire(
    doc: &mut Document,
    was: Option<&Value>,
    hook: &Path,
) -> Result<(), JsonError> {
    let events: Vec<String> = match doc.value().get(HOOKS) {
        Some(Value::Object(events)) => events.keys().cloned().collect(),
        _ => return Ok(()),
    };
    let was = was.and_then(|it| it.get(HOOKS));
    let mut is_changed = false;
    for event in &events {
        if places(&doc.value(), event, hook).is_empty() {
            continue;
        }
        is_changed = true;
        take_out(doc, event, hook)?;
        let path = keys(&[HOOKS, event]);
        let is_empty = doc.value_at(&path).is_some_and(|it| it == json!([]));
        if is_empty && was.and_then(|it| it.get(event)).is_none() {
            doc.remove(&path)?;
        }
    }
    let path = keys(&[HOOKS]);
    let is_empty = doc.value_at(&path).is_some_and(|it| it == Value::Object(Map::new()));
    if is_changed && is_empty && was.is_none() {
        doc.remove(&path)?;
    }
    Ok(())
}

/// Events of which the wanted hook is not there as it should be; `None` if there is no hook of ours at all.
pub(crate) fn missing(
    value: &Value,
    shape: Shape,
    wanted: &[Wanted],
    hook: &Path,
) -> Option<Vec<&'static str>> {
    let events = value.get(HOOKS).and_then(Value::as_object);
    let any = events.is_some_and(|it| it.keys().any(|it| !places(value, it, hook).is_empty()));
    if !any {
        return None;
    }
    let stands = |it: &Wanted| {
        let listed = value.get(HOOKS).and_then(|hooks| hooks.get(it.event));
        let listed = listed.and_then(Value::as_array);
        listed.is_some_and(|all| all.contains(&it.listed(shape)))
    };
    Some(wanted.iter().filter(|it| !stands(it)).map(|it| it.event).collect())
}

/// The numbers of every handler in a grouped file that is ours, or that is not.
pub(crate) fn numbers(value: &Value, event: &str, hook: &Path, ours: bool) -> Vec<(usize, usize)> {
    let groups = value.get(HOOKS).and_then(|it| it.get(event)).and_then(Value::as_array);
    let mut found = Vec::new();
    for (number, group) in groups.into_iter().flatten().enumerate() {
        let handlers = group.get(HOOKS).and_then(Value::as_array);
        for (handler, entry) in handlers.into_iter().flatten().enumerate() {
            if is_ours(entry, hook) == ours {
                found.push((number, handler));
            }
        }
    }
    found
}

/// Where something of ours stands in an event's list.
struct Place {
    index: usize,
    /// Are all handlers of the group ours? Then the group is.
    is_alone: bool,
    handlers: Vec<usize>,
}

fn places(value: &Value, event: &str, hook: &Path) -> Vec<Place> {
    let listed = value.get(HOOKS).and_then(|it| it.get(event)).and_then(Value::as_array);
    let mut found = Vec::new();
    for (index, item) in listed.into_iter().flatten().enumerate() {
        let handlers = item.get(HOOKS).and_then(Value::as_array);
        let Some(handlers) = handlers else {
            if is_ours(item, hook) {
                found.push(Place { index, is_alone: true, handlers: Vec::new() });
            }
            continue;
        };
        let ours = handlers.iter().enumerate().filter(|it| is_ours(it.1, hook));
        let ours: Vec<usize> = ours.map(|it| it.0).collect();
        if !ours.is_empty() {
            let is_alone = ours.len() == handlers.len();
            found.push(Place { index, is_alone, handlers: ours });
        }
    }
    found
}

fn take_out(doc: &mut Document, event: &str, hook: &Path) -> Result<(), JsonError> {
    let path = keys(&[HOOKS, event]);
    // From the back: what stands before keeps its number.
    for place in places(&doc.value(), event, hook).iter().rev() {
        let item = below(&path, place.index);
        if place.is_alone {
            doc.remove(&item)?;
            continue;
        }
        for handler in place.handlers.iter().rev() {
            doc.remove(&below(&below(&item, HOOKS), *handler))?;
        }
    }
    Ok(())
}
