//! Keywords that look at one value only.

use super::pattern::Patterns;
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Checks a value by every keyword that needs no other schema; the first misfit, in words.
pub(super) fn check(
    schema: &Map<String, Value>,
    patterns: &Patterns,
    value: &Value,
) -> Option<String> {
    of_any(schema, value).or_else(|| match value {
        Value::Number(number) => of_number(schema, number),
        Value::String(text) => of_text(schema, patterns, text),
        Value::Array(items) => of_array(schema, items),
        Value::Object(members) => of_object(schema, members),
        Value::Null | Value::Bool(_) => None,
    })
}

/// Whether two values are the same to JSON Schema: 1 and 1.0 are.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, it)| other.get(key).is_some_and(|other| equal(it, other)))
        }
        (one, other) => one == other,
    }
}

fn of_any(schema: &Map<String, Value>, value: &Value) -> Option<String> {
    if let Some(wanted) = schema.get("type") {
        let kinds = wanted.as_array();
        let fits = kinds
            .map_or_else(|| is_of(value, wanted), |it| it.iter().any(|kind| is_of(value, kind)));
        if !fits {
            return Some(format!("must be of type {wanted}"));
        }
    }
    if let Some(wanted) = schema.get("const")
        && !equal(wanted, value)
    {
        return Some(format!("must be {wanted}"));
    }
    let choices = schema.get("enum").and_then(Value::as_array)?;
    let is_among = choices.iter().any(|choice| equal(choice, value));
    (!is_among).then(|| format!("must be one of {}", Value::from(choices.clone())))
}

fn is_of(value: &Value, kind: &Value) -> bool {
    match kind.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.as_number().is_some_and(is_whole),
        Some(_) | None => false,
    }
}

fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|it| it.fract() == 0.0)
}

fn of_number(schema: &Map<String, Value>, number: &Number) -> Option<String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_number);
    // Draft 4 writes `"exclusiveMinimum": true` beside the minimum.
    let is_strict = |key: &str| schema.get(key).and_then(Value::as_bool) == Some(true);
    let rows = [
        ("minimum", is_strict("exclusiveMinimum"), Ordering::Less),
        ("exclusiveMinimum", true, Ordering::Less),
        ("maximum", is_strict("exclusiveMaximum"), Ordering::Greater),
        ("exclusiveMaximum", true, Ordering::Greater),
    ];
    for (key, is_exclusive, wrong) in rows {
        let Some(bound) = bound(key) else { continue };
        let order = compare(number, bound);
        if order == Some(wrong) || (is_exclusive && order == Some(Ordering::Equal)) {
            return Some(format!("breaks `{key}` {bound}"));
        }
    }
    let step = bound("multipleOf")?;
    (!is_multiple(number, step)).then(|| format!("must be a multiple of {step}"))
}

fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (number.as_i64(), step.as_i64()) {
        return step != 0 && number.checked_rem(step).is_none_or(|rest| rest == 0);
    }
    let (Some(number), Some(step)) = (number.as_f64(), step.as_f64()) else { return true };
    let times = number / step;
    // Decimal steps are not exact in binary.
    times.is_finite() && (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    if let (Some(one), Some(other)) = (one.as_i64(), other.as_i64()) {
        return Some(one.cmp(&other));
    }
    if let (Some(one), Some(other)) = (one.as_u64(), other.as_u64()) {
        return Some(one.cmp(&other));
    }
    one.as_f64()?.partial_cmp(&other.as_f64()?)
}

fn of_text(schema: &Map<String, Value>, patterns: &Patterns, text: &str) -> Option<String> {
    let size = between(schema, "minLength", "maxLength", || text.chars().count());
    size.map(|it| format!("has a length that {it}")).or_else(|| {
        let pattern = schema.get("pattern")?.as_str()?;
        (patterns.is_match(pattern, text) == Some(false))
            .then(|| format!("must have the pattern `{pattern}`"))
    })
}

fn of_array(schema: &Map<String, Value>, items: &[Value]) -> Option<String> {
    if let Some(it) = between(schema, "minItems", "maxItems", || items.len()) {
        return Some(format!("has a number of items that {it}"));
    }
    if schema.get("uniqueItems").and_then(Value::as_bool) != Some(true) {
        return None;
    }
    let mut seen = HashSet::new();
    let is_unique =
        items.iter().all(|item| seen.insert(crate::canonical::encode(&with_whole_numbers(item))));
    (!is_unique).then(|| "must not have an item twice".to_owned())
}

/// Writes 1.0 as 1, as [`equal`] takes them for the same.
fn with_whole_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let float =
                number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() <= FLOAT_EXACT_MAX);
            // Exact by the bound, and without a cast.
            let whole = float.and_then(|it| format!("{it:.0}").parse::<i64>().ok());
            whole.map_or_else(|| value.clone(), Value::from)
        }
        Value::Array(items) => items.iter().map(with_whole_numbers).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, it)| (key.clone(), with_whole_numbers(it))).collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

fn of_object(schema: &Map<String, Value>, members: &Map<String, Value>) -> Option<String> {
    if let Some(it) = between(schema, "minProperties", "maxProperties", || members.len()) {
        return Some(format!("has a number of properties that {it}"));
    }
    let missing = |names: &Value| {
        let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
        names.filter(|name| !members.contains_key(*name)).map(str::to_owned).next()
    };
    if let Some(name) = schema.get("required").and_then(missing) {
        return Some(format!("lacks the property `{name}`"));
    }
    for keyword in ["dependentRequired", "dependencies"] {
        let rows = schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
        for (name, _) in rows.clone().filter(|(name, _)| members.contains_key(*name)) {
            let needed = rows.clone().find(|(it, _)| *it == name).and_then(|(_, it)| missing(it));
            if let Some(needed) = needed {
                return Some(format!("lacks the property `{needed}`, which goes with `{name}`"));
            }
        }
    }
    None
}

fn between(
    schema: &Map<String, Value>,
    min: &str,
    max: &str,
    size: impl FnOnce() -> usize,
) -> Option<String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (min, max) = (bound(min), bound(max));
    if min.is_none() && max.is_none() {
        return None;
    }
    let size = u32::try_from(size()).map_or(f64::INFINITY, f64::from);
    match (min, max) {
        (Some(min), _) if size < min => Some(format!("is below {min}")),
        (_, Some(max)) if size > max => Some(format!("is above {max}")),
        (_, _) => None,
    }
}

/// The largest whole number up to which every one has a float of its own.
const FLOAT_EXACT_MAX: f64 = 9_007_199_254_740_992.0;
