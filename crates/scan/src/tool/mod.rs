//! Definitions of MCP tools: what in them would give orders to the model that reads them, and what is left without it.
//!
//! A description is a server's claim, and every string of a definition reaches the model: names, titles, descriptions,
//! schemas to any depth, enums, defaults, annotations. Each is read. What gives orders is replaced by [`SANITIZED`], field
//! by field; nothing is removed and no parameter renamed, so a tool stays callable. Where it is a name that gives orders, this
//! leaves them there, and [`Scanned::still_orders`]. Names that look like those of another server are found by [`look_alikes`].

mod across;
mod names;
mod poison;
mod rule;
mod walk;

use serde_json::Value;

pub use names::{LookAlike, Named, look_alikes};
pub use rule::{NameRule, PoisonRule, Rule};

use crate::text::{self, Category, Verdict};

/// What stands in place of a text that gives orders.
pub const SANITIZED: &str = "[sanitized]";
/// Findings that are reported of one definition.
const FINDINGS_MAX: usize = 256;
/// How much is shown of a path, in bytes: names of fields are as long as their server likes.
const PATH_BYTES_MAX: usize = 4096;

/// A sign that a definition gives orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Where in the definition, in dot form: `inputSchema.properties.path.description`.
    pub path: String,
    /// The rule that found it.
    pub rule: Rule,
    /// What kind of sign.
    pub category: Category,
    /// Where it begins in the field, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A definition that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Scanned {
    /// What the worst field says.
    pub verdict: Verdict,
    /// How sure that is, 0 to 1.
    pub score: f64,
    /// The signs, in the order of the fields.
    pub findings: Vec<Finding>,
    /// How many fields give orders.
    pub injection_count: usize,
    /// The definition with these fields replaced.
    pub cleaned: Value,
    /// Are there orders in what is left? They stand in names, of the tool or of fields, and in words that a schema is made of:
    /// whoever replaced them would have another tool.
    pub still_orders: bool,
}

impl Scanned {
    /// Returns the parameters whose schema gives orders, each with the rule: `options.mode`, as a caller would name it.
    pub fn flagged_parameters(&self) -> impl Iterator<Item = (String, Rule)> {
        self.findings.iter().filter_map(|it| Some((parameter(&it.path)?, it.rule)))
    }
}

/// Reads one definition of a tool, or any object that a server describes itself with. Linear in its length.
#[must_use]
pub fn scan(definition: &Value) -> Scanned {
    let mut cleaned = definition.clone();
    let mut found = Vec::new();
    let (mut score, mut injection_count, mut still_orders) = (0.0_f64, 0, false);
    walk::each_text(&mut cleaned, |field, text| {
        let signs = poison::find(text, field.is_name);
        let weight = poison::score(&signs);
        let says = text::verdict(weight);
        let taken = signs.iter().take(FINDINGS_MAX.saturating_sub(found.len()));
        if says > Verdict::Clean {
            found.extend(taken.map(|it| Finding {
                path: shown(&field.path),
                rule: it.rule,
                category: it.category,
                start: it.start,
                end: it.end,
            }));
            injection_count += 1;
            still_orders |= !field.is_free;
        }
        score = score.max(weight);
        (says > Verdict::Clean).then_some(SANITIZED)
    });
    let taken = across::clean(&mut cleaned);
    score = score.max(taken.score);
    injection_count += taken.count;
    still_orders |= taken.is_left;
    found.extend(taken.findings);
    found.truncate(FINDINGS_MAX);
    let verdict = text::verdict(score);
    Scanned { verdict, score, findings: found, injection_count, cleaned, still_orders }
}

/// Reads a server's list of tools.
#[must_use]
pub fn sanitize_tools(tools: &[Value]) -> Vec<Scanned> {
    tools.iter().map(scan).collect()
}

/// Reads the text with which a server instructs the model.
#[must_use]
pub fn scan_instructions(text: &str) -> Scanned {
    scan(&Value::from(text))
}

fn shown(path: &str) -> String {
    path.get(..path.floor_char_boundary(PATH_BYTES_MAX)).unwrap_or(path).to_owned()
}

/// The parameter that a path leads to: the names behind `properties`.
fn parameter(path: &str) -> Option<String> {
    let inside = path.strip_prefix("inputSchema.")?;
    let mut name = String::new();
    let mut parts = inside.split('.');
    while let Some(part) = parts.next() {
        if part != "properties" {
            continue;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(parts.next()?);
    }
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_named_as_callers_name_them() {
        let parameter = |it: &str| parameter(it);
        assert_eq!(parameter("inputSchema.properties.path.description").as_deref(), Some("path"));
        let nested = "inputSchema.properties.options.properties.mode.enum.1";
        assert_eq!(parameter(nested).as_deref(), Some("options.mode"));
        assert_eq!(parameter("inputSchema.title"), None);
        assert_eq!(parameter("description"), None);
    }
}
