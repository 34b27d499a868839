//! Brings what is about to be stored into the form that is hashed, so that the stored bytes are the
//! hashed bytes: text in normal form C, and `0` for `-0.0`.

use serde_json::{Map, Value};

use crate::canon;
use crate::record::{Draft, DraftError, Payload};

/// Brings a draft into its hashed form. Values must be no deeper than a reader follows.
pub(crate) fn draft(draft: &mut Draft) -> Result<(), DraftError> {
    draft.taint.iter_mut().for_each(text);
    map(&mut draft.meta)?;
    match &mut draft.payload {
        Payload::Inline { inline } => value(inline),
        Payload::Blob { mime, .. } => {
            text(mime);
            Ok(())
        }
    }
}

fn text(text: &mut String) {
    if canon::is_rewritten(text) {
        *text = canon::normal_form(text).into_owned();
    }
}

fn value(it: &mut Value) -> Result<(), DraftError> {
    match it {
        Value::Null | Value::Bool(_) => Ok(()),
        Value::Number(number) => {
            if canon::is_negative_zero(number) {
                *number = 0.into();
            }
            Ok(())
        }
        Value::String(it) => {
            text(it);
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(value),
        Value::Object(it) => map(it),
    }
}

fn map(it: &mut Map<String, Value>) -> Result<(), DraftError> {
    it.values_mut().try_for_each(value)?;
    if !it.keys().any(|key| canon::is_rewritten(key)) {
        return Ok(());
    }
    for (mut key, value) in std::mem::take(it) {
        text(&mut key);
        if it.contains_key(&key) {
            return Err(DraftError::KeysAlike { key });
        }
        it.insert(key, value);
    }
    Ok(())
}
