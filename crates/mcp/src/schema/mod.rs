//! Schemas of other people's tools, and the check of arguments against them.
//!
//! A schema comes from a server that nobody trusts: nothing is fetched for it, patterns run in linear time, and every
//! step of a check is counted. The keywords of JSON Schema 2020-12 are read, and those of the drafts before it that
//! tools still use; `format`, `content…` and `unevaluated…` are notes and check nothing.

mod check;
mod keyword;
mod pattern;
mod shape;

use crate::limits::VIOLATION_BYTES_MAX;
use crate::shown;
use check::{Checker, Outcome};
use pattern::Patterns;
use serde_json::Value;

/// A refusal of a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The root does not describe an object.
    #[error("its input schema must be an object with `\"type\":\"object\"`")]
    NotObject,
    /// Too deep, or too many parts.
    #[error("its input schema is larger than a schema may be")]
    TooLarge,
    /// A reference to somewhere else, or to nowhere.
    #[error("its input schema refers to `{0}`, which is not within the schema")]
    Reference(String),
    /// A construct that is not checked here.
    #[error("its input schema uses `{0}`, which is not supported")]
    Unsupported(&'static str),
    /// A schema that goes round in circles, or takes too long to check.
    #[error("its input schema takes too many steps to check")]
    TooCostly,
}

/// A refusal of arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// They do not fit the schema.
    #[error("the arguments do not fit the tool's input schema: {0}")]
    Misfit(String),
    /// They would take too long to check.
    #[error("the arguments take too many steps to check against the tool's input schema")]
    TooCostly,
}

/// A schema that is ready to check arguments.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    patterns: Patterns,
}

impl Schema {
    /// Checks the form of a schema without making it ready: size, references, root.
    pub fn inspect(schema: &Value) -> Result<(), SchemaError> {
        shape::check(schema)?;
        let (empty, none) = (Value::Object(serde_json::Map::new()), Patterns::default());
        match Checker::new(schema, &none).check(schema, &empty) {
            Ok(_) => Ok(()),
            Err(_) => Err(SchemaError::TooCostly),
        }
    }

    /// Makes a schema ready.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::inspect(schema)?;
        Ok(Self { source: schema.clone(), patterns: Patterns::compile(schema) })
    }

    /// Checks arguments.
    pub fn check(&self, arguments: &Value) -> Result<(), Violation> {
        match Checker::new(&self.source, &self.patterns).check(&self.source, arguments) {
            Ok(Outcome::Fits) => Ok(()),
            Ok(Outcome::Misfit { path, reason }) => {
                let at =
                    if path.is_empty() { "the arguments".to_owned() } else { format!("`{path}`") };
                let text = format!("{at}: {reason}");
                Err(Violation::Misfit(shown::truncated(&text, VIOLATION_BYTES_MAX).to_owned()))
            }
            Err(_) => Err(Violation::TooCostly),
        }
    }
}

#[cfg(test)]
mod tests;
