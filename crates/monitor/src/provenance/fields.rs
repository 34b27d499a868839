//! Fields that are not what they look like, because of who wrote them.

use std::collections::BTreeMap;

use model::Source;
use serde_json::Value;

use super::atoms::{self, Kind};
use super::structure::{Body, Field, Row, Shape};

/// Fields whose source the host knows: what others wrote is prose, whatever it looks like.
pub(super) fn relabel(rows: &mut [Row], body: Body<'_>, fields_from: &BTreeMap<String, Source>) {
    if fields_from.is_empty() {
        return;
    }
    let parsed;
    let value = match body {
        Body::Json(value) => value,
        Body::Text(text) => {
            parsed = serde_json::from_str::<Value>(text).unwrap_or_default();
            &parsed
        }
    };
    for (pointer, source) in fields_from {
        let Some(text) = value.pointer(pointer).and_then(Value::as_str) else { continue };
        for field in rows.iter_mut().flat_map(|it| it.fields.iter_mut()) {
            if field.text == text {
                field.shape = if source.is_vouched_for() { Shape::Identifier } else { Shape::Text };
            }
        }
    }
}

/// Fields with an address, an account or a page become a row of prose: they are mentioned, not listed.
pub(super) fn set_addresses_apart(rows: &mut Vec<Row>) {
    let is_address = |it: &mut Field| {
        let of = |kind| matches!(kind, Kind::Email | Kind::Url | Kind::Account);
        atoms::atoms(&it.text).iter().any(|atom| of(atom.kind))
    };
    let apart = rows.iter_mut().flat_map(|it| it.fields.extract_if(.., is_address));
    let fields: Vec<Field> = apart.map(|it| Field { shape: Shape::Text, ..it }).collect();
    rows.retain(|it| !it.fields.is_empty());
    if !fields.is_empty() {
        rows.push(Row { fields });
    }
}
