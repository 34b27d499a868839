//! The beginning of a text, short enough for a record.

use std::borrow::Cow;

/// How much of a text a record shows, in characters.
pub(crate) const PREVIEW_CHARS_MAX: usize = 400;
/// How much of a call's arguments a record shows, in characters.
pub(crate) const ARGS_PREVIEW_CHARS_MAX: usize = 2000;

/// The beginning of `text`, marked where it was cut.
pub(crate) fn preview(text: &str, chars_max: usize) -> Cow<'_, str> {
    // No text has more characters than bytes.
    let end = if text.len() > chars_max { text.char_indices().nth(chars_max) } else { None };
    match end {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// The same of bytes that may not be text.
pub(crate) fn preview_bytes(bytes: &[u8], chars_max: usize) -> String {
    let beginning = bytes.get(..bytes.len().min(chars_max * 4)).unwrap_or_default();
    let text = String::from_utf8_lossy(beginning);
    let cut = bytes.len() > beginning.len();
    let mut text = preview(&text, chars_max).into_owned();
    if cut && !text.ends_with('…') {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preview_ends_at_a_character() {
        assert_eq!(preview("aé漢b", 3), "aé漢…");
        assert_eq!(preview("aé漢", 3), "aé漢");
        assert_eq!(preview_bytes(b"\xff\xfeab", 10), "\u{fffd}\u{fffd}ab");
        assert_eq!(preview_bytes("漢".repeat(50).as_bytes(), 5).chars().count(), 6);
    }
}
