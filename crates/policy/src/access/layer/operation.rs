//! Layer 5: what may be done with a tool that does several things.

use model::Objection;
use serde_json::{Map, Value};

use super::{deny, shown};
use crate::access::{Layer, Manifest, Operations, Request};

/// The arguments that can name an operation. Whichever the tool obeys, it was looked at.
const KEYS: [&str; 3] = ["operation", "method", "action"];

pub(in crate::access) fn check(
    manifest: &Manifest,
    request: &Request<'_>,
) -> Result<(), Objection> {
    for (pattern, rule) in &manifest.operations {
        if request.tool.is_named(pattern) {
            judge(rule, request.args).map_err(|why| {
                let tool = shown(request.tool.name());
                let why = format!("`{tool}`: {why}");
                deny(
                    Layer::Operation,
                    "operation_not_allowed",
                    why,
                    "use an operation that the manifest allows",
                )
            })?;
        }
    }
    Ok(())
}

fn judge(rule: &Operations, args: &Map<String, Value>) -> Result<(), String> {
    let mut named = 0;
    for (key, value) in args {
        if !KEYS.iter().any(|it| key.eq_ignore_ascii_case(it)) {
            continue;
        }
        named += 1;
        let operation = value.as_str().ok_or_else(|| format!("`{key}` must be a string"))?;
        if !is_plain(operation) {
            return Err(format!("`{key}` is no plain name of an operation"));
        }
        let operation = operation.to_ascii_lowercase();
        let passes = match rule {
            Operations::Allow(allowed) => allowed.contains(&operation),
            Operations::Deny(denied) => !denied.contains(&operation),
        };
        if !passes {
            return Err(format!("the operation `{}` is not allowed", shown(&operation)));
        }
    }
    match rule {
        Operations::Allow(_) if named == 0 => {
            Err("it names no operation, and only some are allowed".to_owned())
        }
        Operations::Allow(_) | Operations::Deny(_) => Ok(()),
    }
}

/// Nothing that one reader trims, folds or drops and another keeps.
pub(in crate::access) fn is_plain(operation: &str) -> bool {
    let legal = |it: u8| it.is_ascii_alphanumeric() || b"-_.:/".contains(&it);
    (1..=128).contains(&operation.len()) && operation.bytes().all(legal)
}
