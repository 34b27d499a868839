//! What a program printed, as text that steers nothing.

/// A sequence with a text in it (a title, a link, a clipboard) is not longer. What is, is no sequence.
const STRING_BYTES_MAX: usize = 4096;
/// Parameters of a sequence are not longer.
const PARAMETERS_CHARS_MAX: usize = 64;

const ESCAPE: char = '\u{1b}';

/// Text of bytes that a program printed: what is no UTF-8 is replaced, sequences for terminals are taken out, and of the
/// control characters only line ends and tabs stay. What a terminal would write over stands in a line of its own, so
/// that nothing is hidden.
#[must_use]
pub fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut clean = String::with_capacity(text.len());
    let mut strings = Strings { text: &text, none_before: 0 };
    let mut rest: &str = &text;
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..).unwrap_or_default();
        rest = match next {
            '\n' | '\t' => {
                clean.push(next);
                after
            }
            '\r' => {
                let before_end = after.trim_start_matches('\r');
                if !before_end.starts_with('\n') && !clean.ends_with('\n') && !clean.is_empty() {
                    clean.push('\n');
                }
                before_end
            }
            ESCAPE => escape(after, &mut strings),
            '\u{9b}' => control_sequence(after),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => strings.after(after),
            _ if next.is_control() || steers(next) => after,
            _ => {
                clean.push(next);
                after
            }
        };
    }
    clean
}

/// What follows the escape character.
fn escape<'a>(rest: &'a str, strings: &mut Strings<'a>) -> &'a str {
    let Some(next) = rest.chars().next() else { return rest };
    let after = rest.get(next.len_utf8()..).unwrap_or_default();
    match next {
        '[' => control_sequence(after),
        ']' | 'P' | 'X' | '^' | '_' => strings.after(after),
        // A choice of characters, and the like: some signs, then one that ends it.
        ' '..='/' => {
            let after = after.trim_start_matches(|it| (' '..='/').contains(&it));
            after.strip_prefix(|it: char| ('0'..='~').contains(&it)).unwrap_or(after)
        }
        '0'..='~' => after,
        _ => rest,
    }
}

/// Colours, movements of the cursor: parameters and a letter. If no letter ends it, it is text.
fn control_sequence(rest: &str) -> &str {
    let mut parameters = rest.char_indices().take(PARAMETERS_CHARS_MAX);
    match parameters.find(|(_, it)| !(' '..='?').contains(it)) {
        Some((at, end)) if ('@'..='~').contains(&end) => {
            rest.get(at + end.len_utf8()..).unwrap_or_default()
        }
        Some(_) | None => rest,
    }
}

/// Sequences that go on until a sign ends them.
struct Strings<'a> {
    text: &'a str,
    /// It is known that no such sign stands before.
    none_before: usize,
}

impl<'a> Strings<'a> {
    /// A title, a link, a clipboard: what follows its end. If none is near, it is text.
    fn after(&mut self, rest: &'a str) -> &'a str {
        let bytes = self.text.as_bytes();
        let start = self.text.len() - rest.len();
        let limit = self.text.len().min(start + STRING_BYTES_MAX);
        for at in start.max(self.none_before)..limit {
            let before = at.checked_sub(1).filter(|it| *it >= start).and_then(|it| bytes.get(it));
            let ends = match bytes.get(at) {
                Some(b'\x07') => true,
                Some(b'\\') => before == Some(&b'\x1b'),
                // The single sign for it.
                Some(b'\x9c') => before == Some(&b'\xc2'),
                Some(_) | None => false,
            };
            if ends {
                return self.text.get(at + 1..).unwrap_or_default();
            }
        }
        self.none_before = self.none_before.max(limit);
        rest
    }
}

/// Turns the direction of writing, for whoever looks at it in a terminal.
fn steers(sign: char) -> bool {
    matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_gone_and_what_is_text_stays() {
        for (printed, text) in [
            (&b"plain\ttext\n"[..], "plain\ttext\n"),
            (b"\x1b[31mred\x1b[0m", "red"),
            (b"\x1b[38;2;1;2;3mtrue\x1b[m", "true"),
            (b"a\x1b[2J\x1b[Hb", "ab"),
            (b"\x1b]0;title\x07shown", "shown"),
            (b"\x1b]52;c;ZXZpbA==\x1b\\shown", "shown"),
            (b"\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"\x1bPq...\x1b\\x\x1b_apc\x1b\\y\x1b^pm\x1b\\z", "xyz"),
            (b"\x1b(Bx\x1b#8y\x1bcz\x1b7", "xyz"),
            (b"\xc2\x9b31mx\xc2\x9d0;t\xc2\x9cy", "xy"),
            (b"one\r\ntwo\r\r\nthree", "one\ntwo\nthree"),
            (b"hidden\rshown", "hidden\nshown"),
            (b"a\x08b\x07c\x00d\x7fe\x0cf", "abcdef"),
            (b"\xff\xfe ok \xe2\x82", "\u{fffd}\u{fffd} ok \u{fffd}"),
            ("a\u{202e}b\u{2066}c".as_bytes(), "abc"),
            ("漢字 é 🦀".as_bytes(), "漢字 é 🦀"),
            (b"\x1b", ""),
            (b"\x1b[", ""),
            // Without an end it hides nothing.
            (b"\x1b]0;no end here", "0;no end here"),
            (b"\x1b[1;2 no end\n", "o end\n"),
            (b"\x1b\x1b[31mx", "x"),
        ] {
            assert_eq!(clean(printed), text, "{printed:?}");
        }
    }

    #[test]
    fn a_sequence_that_never_ends_does_not_hide_what_follows() {
        let mut printed = b"\x1b]0;".to_vec();
        printed.extend(vec![b'a'; STRING_BYTES_MAX * 2]);
        printed.extend(b"\x07end");
        let text = clean(&printed);
        assert!(text.ends_with("aaaend") && text.len() > STRING_BYTES_MAX, "{}", text.len());
        // And takes no time either.
        let many = b"\x1b]".repeat(100_000);
        assert_eq!(clean(&many), "");
    }

    #[test]
    fn nothing_that_is_left_is_a_control_character() {
        let all: Vec<u8> = (0..=255_u8).flat_map(|it| [0x1b, it, b'[', it, 0xc2, it]).collect();
        let text = clean(&all);
        assert!(text.chars().all(|it| !it.is_control() || it == '\n' || it == '\t'), "{text:?}");
    }
}
