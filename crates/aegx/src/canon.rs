//! `AEGX_CANON_0_1`: the one spelling of a JSON value that is hashed.
//!
//! Text is hashed in normal form C. Keys are sorted by their raw bytes and normalised only then, as
//! upstream does, so two raw keys may print alike. What we write is brought into normal form before
//! it is sorted ([`crate::normal`]), and strict verification refuses text that is not in it, so that
//! none of this can be told from sorting what is stored.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use crate::{assigned, sorted};

/// The canonical bytes of `value`.
#[must_use]
pub fn canonical(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_value(&mut out, value);
    out
}

/// Appends the canonical bytes of `value`.
///
/// Recurses as deep as the value is nested; what was read from text is at most 128 deep.
pub fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_string(out, text),
        Value::Array(items) => write_array(out, items, write_value),
        Value::Object(map) => write_object(out, map),
    }
}

/// Appends a canonical array, each item by `write_item`.
pub fn write_array<T>(out: &mut Vec<u8>, items: &[T], write_item: impl Fn(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_item(out, item);
    }
    out.push(b']');
}

/// Appends a canonical string.
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    write_escaped(out, &normal_form(text));
}

/// Appends a string with the escapes of the canonical form but in whatever normal form it has.
pub(crate) fn write_escaped(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    let special = |byte: &u8| matches!(byte, 0x00..0x20 | b'"' | b'\\');
    while let Some((plain, [byte, after @ ..])) =
        rest.iter().position(special).and_then(|at| rest.split_at_checked(at))
    {
        out.extend_from_slice(plain);
        write_escape(out, *byte);
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: [u8; 16] = *b"0123456789abcdef";
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        _ => {
            let digit = |at: u8| HEX.get(usize::from(at)).copied().unwrap_or(b'0');
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
        }
    }
}

/// Does the canonical form spell `text` otherwise than it stands?
#[must_use]
pub fn is_rewritten(text: &str) -> bool {
    matches!(normal_form(text), Cow::Owned(normal) if normal != text)
}

/// Do the stored bytes of `text` follow from the hashed ones, now and in later versions of Unicode?
pub(crate) fn is_pinned(text: &str) -> bool {
    assigned::first_unknown(text).is_none() && !is_rewritten(text)
}

fn write_object(out: &mut Vec<u8>, map: &Map<String, Value>) {
    out.push(b'{');
    for (position, (key, value)) in sorted::entries(map).enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_string(out, key);
        out.push(b':');
        write_value(out, value);
    }
    out.push(b'}');
}

/// The one number that is hashed as another one is printed.
pub(crate) fn is_negative_zero(number: &Number) -> bool {
    number.is_f64() && number.as_f64().is_some_and(|it| it == 0.0 && it.is_sign_negative())
}

fn write_number(out: &mut Vec<u8>, number: &Number) {
    if is_negative_zero(number) {
        out.push(b'0');
    } else {
        out.extend_from_slice(number.to_string().as_bytes());
    }
}

/// `text` in Unicode normal form C, as it is hashed and stored.
#[must_use]
pub fn normal_form(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}
