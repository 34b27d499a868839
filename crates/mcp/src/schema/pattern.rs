//! Patterns of schemas, by an engine that takes linear time.

use super::shape;
use crate::limits::PATTERN_BYTES_MAX;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::collections::HashMap;

/// The patterns of one schema. One that needs backtracking is common in honest schemas, and is left out rather than run.
#[derive(Debug, Default)]
pub(super) struct Patterns(HashMap<String, Regex>);

impl Patterns {
    pub(super) fn compile(schema: &Value) -> Self {
        let mut found = HashMap::new();
        shape::for_each_pattern(schema, &mut |pattern| {
            if found.len() < PATTERNS_MAX && !found.contains_key(pattern) {
                let built = RegexBuilder::new(pattern)
                    .size_limit(PATTERN_BYTES_MAX)
                    .dfa_size_limit(PATTERN_BYTES_MAX)
                    .build();
                if let Ok(regex) = built {
                    found.insert(pattern.to_owned(), regex);
                }
            }
        });
        Self(found)
    }

    /// Whether a text has the pattern; `None` for one that was left out.
    pub(super) fn is_match(&self, pattern: &str, text: &str) -> Option<bool> {
        self.0.get(pattern).map(|regex| regex.is_match(text))
    }
}

/// Patterns of one schema that are compiled.
const PATTERNS_MAX: usize = 500;
