//! Values within the text of a message: one is put in the place of another, and everything else stays byte for byte.
//!
//! The text was parsed before, so it is JSON without a key twice: what is not found here is not there.

use std::ops::Range;

/// Finds the value at a path of keys.
pub(super) fn find(text: &[u8], path: &[&str]) -> Option<Range<usize>> {
    let mut place = value(text, skip_blanks(text, 0))?;
    for key in path {
        place = member(text, place.start, key)?;
    }
    Some(place)
}

/// Finds `id` and `method` of a message, in one pass: an answer may be long.
pub(super) fn envelope(text: &[u8]) -> (Option<Range<usize>>, Option<Range<usize>>) {
    let (mut id, mut method) = (None, None);
    let mut here = skip_blanks(text, 0);
    while let Some((name, place)) = next_member(text, here) {
        here = skip_blanks(text, place.end);
        let name = at(text, &name);
        if is_key(name, "id") {
            id = Some(place);
        } else if is_key(name, "method") {
            method = Some(place);
        }
    }
    (id, method)
}

/// Returns the bytes at a place.
pub(super) fn at<'a>(text: &'a [u8], place: &Range<usize>) -> &'a [u8] {
    text.get(place.clone()).unwrap_or_default()
}

/// Puts `by` in the place of a value.
pub(super) fn replace(text: &[u8], place: &Range<usize>, by: &[u8]) -> Vec<u8> {
    let before = text.get(..place.start).unwrap_or_default();
    let after = text.get(place.end..).unwrap_or_default();
    [before, by, after].concat()
}

/// Makes one line of a body: line ends between values become blanks. One within a string stays, and is refused later.
pub(super) fn one_line(mut body: Vec<u8>) -> Vec<u8> {
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in &mut body {
        match *byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'\n' | b'\r' if !in_string => *byte = b' ',
            _ => {}
        }
    }
    body
}

/// The value of a key of the object that begins at `start`.
fn member(text: &[u8], start: usize, key: &str) -> Option<Range<usize>> {
    let mut here = start;
    while let Some((name, place)) = next_member(text, here) {
        if is_key(at(text, &name), key) {
            return Some(place);
        }
        here = skip_blanks(text, place.end);
    }
    None
}

/// The key and value behind a brace or a comma.
fn next_member(text: &[u8], start: usize) -> Option<(Range<usize>, Range<usize>)> {
    if !matches!(text.get(start), Some(b'{' | b',')) {
        return None;
    }
    let name = value(text, skip_blanks(text, start + 1))?;
    let colon = skip_blanks(text, name.end);
    if text.get(colon) != Some(&b':') {
        return None;
    }
    let place = value(text, skip_blanks(text, colon + 1))?;
    Some((name, place))
}

/// Whether a string of the text says this key, escapes included.
fn is_key(written: &[u8], key: &str) -> bool {
    if written.contains(&b'\\') {
        return serde_json::from_slice::<String>(written).is_ok_and(|it| it == key);
    }
    let inner = written.get(1..written.len().saturating_sub(1)).unwrap_or_default();
    inner == key.as_bytes()
}

/// The extent of the value that begins at `start`.
fn value(text: &[u8], start: usize) -> Option<Range<usize>> {
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let first = *text.get(start)?;
    let is_scalar = !matches!(first, b'"' | b'{' | b'[');
    for (offset, byte) in text.get(start..)?.iter().enumerate() {
        let end = start + offset;
        if is_scalar {
            if matches!(byte, b',' | b'}' | b']' | b':') || byte.is_ascii_whitespace() {
                return (offset > 0).then_some(start..end);
            }
            continue;
        }
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && !in_string {
            return Some(start..end + 1);
        }
    }
    is_scalar.then_some(start..text.len())
}

fn skip_blanks(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    start + rest.iter().take_while(|it| it.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = br#"{ "a" : [1,{"id":2}], "s":"}\"{", "params":{"_meta":{"progressToken": "t\"" }},"\u0069d": 7 }"#;

    #[test]
    fn values_are_found_where_they_stand_and_nowhere_else() {
        let found = |path: &[&str]| find(TEXT, path).map(|it| at(TEXT, &it).to_vec());
        assert_eq!(found(&["id"]), Some(b"7".to_vec()));
        assert_eq!(found(&["params", "_meta", "progressToken"]), Some(br#""t\"""#.to_vec()));
        assert_eq!(found(&["a"]), Some(br#"[1,{"id":2}]"#.to_vec()));
        assert_eq!(found(&["s"]), Some(br#""}\"{""#.to_vec()));
        assert_eq!(found(&["progressToken"]), None);
        assert_eq!(found(&["a", "id"]), None);
        let (id, method) = envelope(TEXT);
        assert_eq!((id.map(|it| at(TEXT, &it)), method), (Some(b"7".as_slice()), None));
        let (id, method) = envelope(br#"{"method":"m","params":{"id":1}}"#);
        assert_eq!((id, method), (None, Some(10..13)));
    }

    #[test]
    fn what_is_replaced_is_all_that_changes() {
        let place = find(TEXT, &["id"]).unwrap();
        let changed = replace(TEXT, &place, b"\"x\"");
        let text = std::str::from_utf8(&changed).unwrap();
        assert_eq!(text, std::str::from_utf8(TEXT).unwrap().replace(": 7 ", ": \"x\" "));
    }

    #[test]
    fn broken_text_has_no_values_and_no_panic() {
        for text in
            ["", "{", "{\"id\"", "{\"id\":", "{\"id\"}", "[1]", "\"", "{\"a\":1 \"id\":2}", "7"]
        {
            let found = find(text.as_bytes(), &["id"]);
            assert_eq!(found, None, "{text}");
        }
    }

    #[test]
    fn line_ends_between_values_become_blanks() {
        let body = b"{\r\n \"a\": \"x\\\"\n\" }\n".to_vec();
        assert_eq!(one_line(body), b"{   \"a\": \"x\\\"\n\" } ");
    }
}
