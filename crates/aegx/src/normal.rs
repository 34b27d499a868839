//! Brings what is about to be stored into the form that is hashed, so that the stored bytes are the
//! hashed bytes: text of known code points in normal form C, and `0` for `-0.0`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::assigned;
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
    // The normal form of what is not known is not known either.
    if let Cow::Owned(known) = assigned::replace_unknown(text) {
        *text = known;
    }
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
    if it.keys().all(|key| canon::is_pinned(key)) {
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
