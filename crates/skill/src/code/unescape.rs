//! Escapes of texts in programs: `\x41`, `\u0041`, `\u{41}`, `\101`, `\n`.

/// Returns the text with its escapes read. One that is none stands for itself.
pub(super) fn unescaped(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let (letter, used) = escape(behind);
        out.extend(letter);
        rest = behind.get(used..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// The letter that the escape stands for, and how many bytes it has behind the backslash.
fn escape(behind: &str) -> (Option<char>, usize) {
    let Some(first) = behind.chars().next() else { return (Some('\\'), 0) };
    let digits = |from: usize, count: usize| {
        let text = behind.get(from..from + count)?;
        u32::from_str_radix(text, 16).ok().and_then(char::from_u32)
    };
    let numbered = match first {
        'x' => digits(1, 2).map(|it| (it, 3)),
        'u' if behind.starts_with("u{") => {
            let end = behind.find('}').unwrap_or(0).min(10);
            digits(2, end.saturating_sub(2)).map(|it| (it, end + 1))
        }
        'u' => digits(1, 4).map(|it| (it, 5)),
        'U' => digits(1, 8).map(|it| (it, 9)),
        '0'..='7' => {
            let count = behind.bytes().take(3).take_while(|it| (b'0'..=b'7').contains(it)).count();
            let number = behind.get(..count).and_then(|it| u32::from_str_radix(it, 8).ok());
            number.and_then(char::from_u32).map(|it| (it, count))
        }
        _ => None,
    };
    if let Some((letter, used)) = numbered {
        return (Some(letter), used);
    }
    let letter = match first {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        // A line that goes on.
        '\n' => None,
        other => Some(other),
    };
    (letter, first.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_broken_ones_stand_for_themselves() {
        assert_eq!(unescaped(r"\x63\u0075\u{72}\154 a\n"), "curl a\n");
        assert_eq!(unescaped(r"\xzz\"), "xzz\\");
        assert_eq!(unescaped("\\ué"), "ué");
        assert_eq!(unescaped("plain"), "plain");
        assert_eq!(unescaped(r"\u{}\u{110000000}x"), "u{}u{110000000}x");
    }
}
