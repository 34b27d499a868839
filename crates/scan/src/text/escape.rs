//! Escapes inside of text: character references of HTML, percent-encoding, backslashes.

/// The longest escape that is looked at, in bytes.
const ESCAPE_BYTES_MAX: usize = 12;

/// Returns the character that an escape at the beginning of `text` stands for, and the length of the escape.
pub(crate) fn resolve(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    let (found, length) = match bytes.first()? {
        b'&' => reference(text),
        b'%' => percent(bytes),
        b'\\' => backslash(bytes),
        _ => None,
    }?;
    // What was escaped twice is read twice.
    let behind = bytes.get(length..).unwrap_or_default();
    let again = match (found, behind) {
        ('&', [b'#', digits @ ..]) => numeric(digits).map(|(found, more)| (found, more + 1)),
        ('%', [high, low, ..]) => {
            pair(*high, *low).filter(|it| (b' '..=b'~').contains(it)).map(|it| (char::from(it), 2))
        }
        _ => None,
    };
    Some(again.map_or((found, length), |(found, more)| (found, length + more)))
}

/// Returns the character that the reference at the beginning of `text` stands for, and the length of the reference.
pub(crate) fn reference(text: &str) -> Option<(char, usize)> {
    let bytes = text.as_bytes();
    let rest = bytes.get(1..ESCAPE_BYTES_MAX.min(bytes.len()))?;
    if rest.first() == Some(&b'#') {
        return numeric(rest.get(1..)?).map(|(found, length)| (found, length + 2));
    }
    NAMED.iter().find_map(|(name, found)| {
        let after = rest.strip_prefix(name.as_bytes())?;
        (after.first() == Some(&b';')).then_some((*found, name.len() + 2))
    })
}

/// The number behind `&#`, and its length with the semicolon that may follow.
fn numeric(bytes: &[u8]) -> Option<(char, usize)> {
    let hex = matches!(bytes.first(), Some(b'x' | b'X'));
    let (radix, prefix) = if hex { (16, 1) } else { (10, 0) };
    let digits = bytes.get(prefix..)?;
    let count = digits.iter().take_while(|it| char::from(**it).is_digit(radix)).count();
    let number = std::str::from_utf8(digits.get(..count)?).ok()?;
    let found = char::from_u32(u32::from_str_radix(number, radix).ok()?)?;
    let semicolon = usize::from(digits.get(count) == Some(&b';'));
    Some((found, prefix + count + semicolon))
}

/// `%XX`, one or the bytes of one character.
fn percent(bytes: &[u8]) -> Option<(char, usize)> {
    let byte = |at: usize| match bytes.get(at..at + 3)? {
        [b'%', high, low] => pair(*high, *low),
        _ => None,
    };
    let first = byte(0)?;
    let count = match first {
        0x20..=0x7e => return Some((char::from(first), 3)),
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let all: Vec<u8> = (0..count).map_while(|it| byte(it * 3)).collect();
    let found = std::str::from_utf8(&all).ok()?.chars().next()?;
    (all.len() == count).then_some((found, count * 3))
}

/// What strings of programs and of JSON write behind a backslash.
fn backslash(bytes: &[u8]) -> Option<(char, usize)> {
    match bytes.get(1)? {
        b'n' | b't' | b'r' => Some((' ', 2)),
        b'"' => Some(('"', 2)),
        b'\'' => Some(('\'', 2)),
        b'u' if bytes.get(2) == Some(&b'{') => {
            let digits = bytes.get(3..ESCAPE_BYTES_MAX.min(bytes.len()))?;
            let length = digits.iter().position(|it| *it == b'}')?;
            let number = std::str::from_utf8(digits.get(..length)?).ok()?;
            char::from_u32(u32::from_str_radix(number, 16).ok()?).map(|it| (it, length + 4))
        }
        b'u' => {
            let digits = std::str::from_utf8(bytes.get(2..6)?).ok()?;
            char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(|it| (it, 6))
        }
        b'x' => match bytes.get(2..4)? {
            [high, low] => pair(*high, *low).filter(u8::is_ascii).map(|it| (char::from(it), 4)),
            _ => None,
        },
        b'0'..=b'7' => octal(bytes).or_else(|| of_style(bytes)),
        _ => None,
    }
}

/// Three octal digits of a printable character, as shells and C write it.
fn octal(bytes: &[u8]) -> Option<(char, usize)> {
    let digits = std::str::from_utf8(bytes.get(1..4)?).ok()?;
    let byte = u8::from_str_radix(digits, 8).ok().filter(|it| (b' '..=b'~').contains(it))?;
    Some((char::from(byte), 4))
}

/// Two hexadecimal digits of a printable character, and the space that ends it, as style sheets write it.
fn of_style(bytes: &[u8]) -> Option<(char, usize)> {
    let byte = match bytes.get(1..3)? {
        [high, low] => pair(*high, *low).filter(|it| (b' '..=b'~').contains(it))?,
        _ => return None,
    };
    let ends = bytes.get(3).is_none_or(|it| !it.is_ascii_hexdigit());
    ends.then_some((char::from(byte), 3 + usize::from(bytes.get(3) == Some(&b' '))))
}

/// The byte that two hexadecimal digits write.
pub(super) fn pair(high: u8, low: u8) -> Option<u8> {
    let digit = |it: u8| char::from(it).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

const NAMED: &[(&str, char)] = &[
    ("lt", '<'),
    ("gt", '>'),
    ("amp", '&'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("Tab", ' '),
    ("sol", '/'),
    ("bsol", '\\'),
    ("equals", '='),
    ("num", '#'),
    ("NewLine", ' '),
    ("shy", '\u{ad}'),
    ("zwj", '\u{200d}'),
    ("zwnj", '\u{200c}'),
    ("colon", ':'),
    ("comma", ','),
    ("period", '.'),
    ("excl", '!'),
    ("quest", '?'),
    ("lpar", '('),
    ("rpar", ')'),
    ("lsqb", '['),
    ("rsqb", ']'),
    ("lowbar", '_'),
    ("hyphen", '-'),
    ("ndash", '-'),
    ("mdash", '-'),
    ("rsquo", '\''),
    ("lsquo", '\''),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_and_others_left() {
        for (text, resolved) in [
            ("&#105;x", Some(('i', 6))),
            ("&#x69x", Some(('i', 5))),
            ("&lt;", Some(('<', 4))),
            ("&ltx", None),
            ("&#;", None),
            ("&#99999999;", None),
            ("%20", Some((' ', 3))),
            ("%D0%B8", Some(('и', 6))),
            ("%D0x", None),
            ("%zz", None),
            ("%", None),
            ("\\u0069", Some(('i', 6))),
            ("\\ud800", None),
            ("\\x69", Some(('i', 4))),
            ("\\q", None),
            ("\\u{69}x", Some(('i', 6))),
            ("\\151x", Some(('i', 4))),
            ("\\69 x", Some(('i', 4))),
            ("\\69", Some(('i', 3))),
            ("\\6", None),
            ("\\001", None),
            ("&amp;#105;x", Some(('i', 10))),
            ("&amp;amp;", Some(('&', 5))),
            ("%2569", Some(('i', 5))),
            ("%25zz", Some(('%', 3))),
            ("\\", None),
            ("\\n", Some((' ', 2))),
        ] {
            assert_eq!(resolve(text), resolved, "{text}");
        }
    }
}
