//! The values of a call, however deep they stand in its arguments, with what they decide.

use std::borrow::Cow;

use model::{Call, Flow, Role};
use serde_json::Value;

use super::atoms;
use super::trace::VALUES_PER_CALL_MAX;

/// A value of an argument, with the parameter it belongs to.
pub(super) struct Named<'a> {
    pub(super) param: &'a str,
    pub(super) role: Option<Role>,
    pub(super) text: Cow<'a, str>,
}

/// The values of the arguments whose roles are `wanted`.
pub(super) fn values<'a>(
    call: &'a Call,
    flow: &Flow,
    wanted: impl Fn(Option<Role>) -> bool,
) -> Vec<Named<'a>> {
    let mut found = Vec::new();
    for (param, value) in call.args() {
        let role = flow.roles.get(param).copied();
        if wanted(role) {
            gather(param, role, value, &mut found);
        }
    }
    found
}

/// The parameters and fields of a call that are switched on.
pub(super) fn switches(call: &Call) -> Vec<&str> {
    let mut found = Vec::new();
    call.args().iter().for_each(|(param, value)| switched_on(param, value, &mut found));
    found.truncate(VALUES_PER_CALL_MAX);
    found
}

fn switched_on<'a>(name: &'a str, value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Bool(true) => found.push(name),
        Value::Array(items) => items.iter().for_each(|it| switched_on(name, it, found)),
        Value::Object(map) => map.iter().for_each(|(key, it)| switched_on(key, it, found)),
        Value::Bool(false) | Value::Null | Value::String(_) | Value::Number(_) => {}
    }
}

/// The values in `value`, however deep: a call is nested as deep as its arguments may be, and no deeper.
fn gather<'a>(param: &'a str, role: Option<Role>, value: &'a Value, found: &mut Vec<Named<'a>>) {
    if found.len() > VALUES_PER_CALL_MAX {
        return;
    }
    let mut push = |text| found.push(Named { param, role, text });
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::String(text) => push(Cow::Borrowed(text.as_str())),
        Value::Number(number) => push(Cow::Owned(number.to_string())),
        Value::Array(items) => {
            items.iter().for_each(|it| gather(param, role, it, found));
        }
        Value::Object(map) => {
            for (key, inner) in map {
                // `{"budget.xlsx": true}` acts on the file.
                if matches!(role, Some(Role::Destination | Role::Target)) && names_something(key) {
                    found.push(Named { param, role, text: Cow::Borrowed(key.as_str()) });
                }
                gather(param, role, inner, found);
            }
        }
    }
}

fn names_something(key: &str) -> bool {
    key.contains(['@', '/', '.', '*', ' ']) || !atoms::atoms(key).is_empty()
}
