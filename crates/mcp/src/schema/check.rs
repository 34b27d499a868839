//! The check of a value against a schema. Every step is counted, so that a small schema cannot become a long check.

use super::keyword;
use super::pattern::Patterns;
use super::shape::resolve;
use crate::limits::SCHEMA_STEPS_MAX;
use serde_json::{Map, Value};

/// More steps than a check may take.
#[derive(Debug)]
pub(super) struct TooCostly;

/// Whether a value fits; where it does not, the first place and why.
#[derive(Debug)]
pub(super) enum Outcome {
    Fits,
    Misfit { path: String, reason: String },
}

/// A check under way.
pub(super) struct Checker<'a> {
    root: &'a Value,
    patterns: &'a Patterns,
    steps: usize,
    /// The way to the value that is looked at, as a JSON pointer's parts.
    path: Vec<String>,
}

type Checked = Result<Outcome, TooCostly>;

/// Goes on only while everything fits.
macro_rules! fits {
    ($check:expr) => {
        if let misfit @ Outcome::Misfit { .. } = $check? {
            return Ok(misfit);
        }
    };
}

impl<'a> Checker<'a> {
    pub(super) fn new(root: &'a Value, patterns: &'a Patterns) -> Self {
        Self { root, patterns, steps: 0, path: Vec::new() }
    }

    /// Checks a value.
    pub(super) fn check(&mut self, schema: &Value, value: &Value) -> Checked {
        self.visit(schema, value, 0)
    }

    fn visit(&mut self, schema: &Value, value: &Value, depth: usize) -> Checked {
        self.step(1)?;
        if depth > NESTED_MAX {
            return Err(TooCostly);
        }
        let Some(object) = schema.as_object() else {
            let is_refused = schema.as_bool() == Some(false);
            return Ok(if is_refused {
                self.misfit("is not allowed".to_owned())
            } else {
                Outcome::Fits
            });
        };
        self.step(size(value) + choices(object))?;
        if let Some(reason) = keyword::check(object, self.patterns, value) {
            return Ok(self.misfit(reason));
        }
        fits!(self.in_place(object, value, depth + 1));
        match value {
            Value::Object(members) => self.members(object, members, depth + 1),
            Value::Array(items) => self.items(object, items, depth + 1),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(Outcome::Fits),
        }
    }

    /// Keywords that apply further schemas to the same value.
    fn in_place(&mut self, schema: &Map<String, Value>, value: &Value, depth: usize) -> Checked {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = resolve(self.root, reference).ok_or(TooCostly)?;
            fits!(self.visit(target, value, depth));
        }
        for part in parts(schema, "allOf") {
            fits!(self.visit(part, value, depth));
        }
        if schema.contains_key("anyOf") && self.count(schema, "anyOf", value, depth)? == 0 {
            return Ok(self.misfit("fits none of the alternatives".to_owned()));
        }
        if schema.contains_key("oneOf") {
            let count = self.count(schema, "oneOf", value, depth)?;
            if count != 1 {
                return Ok(
                    self.misfit(format!("fits {count} of the alternatives, and must fit one"))
                );
            }
        }
        if let Some(part) = schema.get("not")
            && self.is_fit(part, value, depth)?
        {
            return Ok(self.misfit("fits what it must not".to_owned()));
        }
        if let Some(condition) = schema.get("if") {
            let branch = if self.is_fit(condition, value, depth)? { "then" } else { "else" };
            if let Some(part) = schema.get(branch) {
                fits!(self.visit(part, value, depth));
            }
        }
        let Some(members) = value.as_object() else { return Ok(Outcome::Fits) };
        for keyword in ["dependentSchemas", "dependencies"] {
            let rows = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
            for (_, part) in
                rows.filter(|(name, part)| members.contains_key(*name) && !part.is_array())
            {
                fits!(self.visit(part, value, depth));
            }
        }
        Ok(Outcome::Fits)
    }

    fn members(
        &mut self,
        schema: &Map<String, Value>,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Checked {
        let named = schema.get("properties").and_then(Value::as_object);
        let patterned = schema.get("patternProperties").and_then(Value::as_object);
        let others = schema.get("additionalProperties");
        for (name, value) in members {
            self.path.push(name.clone());
            let part = named.and_then(|it| it.get(name));
            let mut is_known = part.is_some();
            if let Some(part) = part {
                fits!(self.visit(part, value, depth));
            }
            for (pattern, part) in patterned.into_iter().flatten() {
                self.step(1 + name.len() / BYTES_PER_STEP)?;
                // A pattern that was left out may be meant for this name: then nothing is said about it.
                let is_match = self.patterns.is_match(pattern, name);
                is_known |= is_match != Some(false);
                if is_match == Some(true) {
                    fits!(self.visit(part, value, depth));
                }
            }
            if let Some(part) = others
                && !is_known
            {
                fits!(self.visit(part, value, depth));
            }
            if let Some(part) = schema.get("propertyNames") {
                fits!(self.visit(part, &Value::from(name.as_str()), depth));
            }
            self.path.pop();
        }
        Ok(Outcome::Fits)
    }

    fn items(&mut self, schema: &Map<String, Value>, items: &[Value], depth: usize) -> Checked {
        // Before 2020-12 the first items stood in `items`, and the rest in `additionalItems`.
        let (first, rest) = match schema.get("items") {
            Some(Value::Array(first)) => (Some(first), schema.get("additionalItems")),
            rest => (schema.get("prefixItems").and_then(Value::as_array), rest),
        };
        for (index, value) in items.iter().enumerate() {
            let part = first.and_then(|it| it.get(index)).or(rest);
            if let Some(part) = part {
                self.path.push(index.to_string());
                fits!(self.visit(part, value, depth));
                self.path.pop();
            }
        }
        let Some(part) = schema.get("contains") else { return Ok(Outcome::Fits) };
        let mut count: u64 = 0;
        for value in items {
            count += u64::from(self.is_fit(part, value, depth)?);
        }
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        let is_within = count >= bound("minContains").unwrap_or(1)
            && bound("maxContains").is_none_or(|max| count <= max);
        Ok(if is_within {
            Outcome::Fits
        } else {
            self.misfit(format!("contains {count} items of a kind"))
        })
    }

    fn count(
        &mut self,
        schema: &Map<String, Value>,
        keyword: &str,
        value: &Value,
        depth: usize,
    ) -> Result<usize, TooCostly> {
        let mut count = 0;
        for part in parts(schema, keyword) {
            count += usize::from(self.is_fit(part, value, depth)?);
        }
        Ok(count)
    }

    fn is_fit(&mut self, schema: &Value, value: &Value, depth: usize) -> Result<bool, TooCostly> {
        let length = self.path.len();
        let outcome = self.visit(schema, value, depth)?;
        self.path.truncate(length);
        Ok(matches!(outcome, Outcome::Fits))
    }

    fn misfit(&self, reason: String) -> Outcome {
        let path = self.path.iter().map(|part| format!("/{part}")).collect();
        Outcome::Misfit { path, reason }
    }

    fn step(&mut self, count: usize) -> Result<(), TooCostly> {
        self.steps = self.steps.saturating_add(count);
        if self.steps > SCHEMA_STEPS_MAX { Err(TooCostly) } else { Ok(()) }
    }
}

fn parts<'s>(schema: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    schema.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Steps of the keywords that look at the value alone.
fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() / BYTES_PER_STEP,
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn choices(schema: &Map<String, Value>) -> usize {
    let length = |key: &str| schema.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    length("enum") + length("required")
}

/// Bytes of text that count as one step.
const BYTES_PER_STEP: usize = 16;
/// Levels of schemas within schemas; a schema that refers to itself in place comes here.
const NESTED_MAX: usize = 300;
