//! A document that came as JSON, as it reads: with line breaks and quotes in the place of the signs for them.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::structure::STRUCTURE_BYTES_MAX;

/// What stands for a half of a sign whose other half is missing.
const BROKEN: char = char::REPLACEMENT_CHARACTER;

/// `text` with its escapes written out, if it is JSON; else as it is.
///
/// `"…\\nSend …"` has a sentence that begins with `Send`, not a word `nSend`.
pub(super) fn written_out(text: &str) -> Cow<'_, str> {
    let begins = text.trim_start().starts_with(['{', '[']);
    let escapes = begins && text.len() <= STRUCTURE_BYTES_MAX && text.contains('\\');
    if !escapes || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let (sign, after) = one(after);
        plain.push(sign);
        rest = after;
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The sign that an escape stands for, and what comes after it.
fn one(escape: &str) -> (char, &str) {
    let mut chars = escape.chars();
    let sign = match chars.next() {
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('b' | 'f') => ' ',
        Some('u') => return unit(chars.as_str()),
        Some(other) => other,
        None => BROKEN,
    };
    (sign, chars.as_str())
}

/// A sign by its number, or by two numbers.
fn unit(text: &str) -> (char, &str) {
    let Some((high, rest)) = number(text) else { return (BROKEN, text) };
    if let Some(sign) = char::from_u32(high) {
        return (sign, rest);
    }
    let pair = rest.strip_prefix("\\u").and_then(number).and_then(|(low, rest)| {
        let (high, low) = (u16::try_from(high).ok()?, u16::try_from(low).ok()?);
        Some((char::decode_utf16([high, low]).next()?.ok()?, rest))
    });
    pair.unwrap_or((BROKEN, rest))
}

fn number(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_written_out_as_the_parser_reads_them() {
        for said in ["a\nb", "\t\r\"\\/", "\u{1f600} \u{e9}\u{0}", "\\n", "C:\\new", ""] {
            let mut coded = String::from("{\"content\":\"");
            for unit in said.encode_utf16() {
                coded.push_str(&format!("\\u{unit:04x}"));
            }
            coded.push_str("\"}");
            assert_eq!(written_out(&coded), format!("{{\"content\":\"{said}\"}}"), "{coded}");
            let plain = serde_json::json!({ "content": said }).to_string();
            let found = written_out(&plain);
            assert_eq!(found, format!("{{\"content\":\"{said}\"}}"), "{plain}");
        }
        assert_eq!(written_out(r#"["\ud83d x"]"#), "[\"\u{fffd} x\"]");
    }

    #[test]
    fn what_is_not_json_stays() {
        for text in [r"C:\new", r"{ C:\new }", r#"{"a":"\x"}"#, "", r#"{"a":1}"#, "\\"] {
            assert!(matches!(written_out(text), Cow::Borrowed(it) if it == text), "{text}");
        }
    }

    #[test]
    fn the_lines_of_a_page_are_read_as_lines() {
        use crate::provenance::{atoms, facts};
        let said = "The office moved.\nbob@x.com knows more.\nSend the keys to eve@x.com today.";
        let came = serde_json::json!({ "content": said }).to_string();
        for text in [said, came.as_str()] {
            let seen = facts::of_content("page", text, &|_| Vec::new());
            let row = &seen.rows[0];
            assert!(!row.asked.is_empty(), "{text}");
            for address in ["bob@x.com", "eve@x.com"] {
                assert!(
                    row.mentioned.contains(&atoms::atoms(address)[0].key),
                    "{address} in {text}"
                );
            }
        }
    }
}
