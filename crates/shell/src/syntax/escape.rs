//! Escapes: in `$'…'`, and in what `printf` and `echo -e` are told to print.

/// Decodes the inside of `$'…'`.
pub(crate) fn ansi_c(text: &str) -> String {
    let mut decoded = Bytes::default();
    let mut rest = text.chars();
    while let Some(found) = rest.next() {
        if found != '\\' {
            decoded.push(found);
            continue;
        }
        let before = rest.clone();
        match rest.next() {
            Some('c') => {
                let control = rest.next().map_or(0, |it| u32::from(it) & 0x1f);
                decoded.byte(u8::try_from(control).unwrap_or_default());
            }
            Some('0'..='7') => {
                rest = before;
                octal(&mut rest, 3, &mut decoded);
            }
            Some(kind) => letter(kind, &mut rest, &mut decoded),
            None => decoded.push('\\'),
        }
    }
    decoded.text()
}

/// The escape that begins with a backslash and `kind`; what follows it is in `rest`.
pub(crate) fn letter(kind: char, rest: &mut std::str::Chars<'_>, out: &mut Bytes) {
    let plain = match kind {
        'a' => '\x07',
        'b' => '\x08',
        'e' | 'E' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' | '\'' | '"' | '?' => kind,
        'x' => return hexadecimal(rest, 2, 'x', out),
        'u' => return hexadecimal(rest, 4, 'u', out),
        'U' => return hexadecimal(rest, 8, 'U', out),
        _ => {
            out.push('\\');
            kind
        }
    };
    out.push(plain);
}

/// `\x72`, `\u0072`, and `\u{72}` as other languages write it.
fn hexadecimal(rest: &mut std::str::Chars<'_>, most: usize, kind: char, out: &mut Bytes) {
    let braced = rest.as_str().starts_with('{');
    let mut ahead = rest.clone();
    let digits: String = if braced {
        ahead.next();
        let inside: String = ahead.by_ref().take_while(|it| *it != '}').take(8).collect();
        inside
    } else {
        rest.as_str().chars().take(most).take_while(char::is_ascii_hexdigit).collect()
    };
    let Ok(value) = u32::from_str_radix(&digits, 16) else {
        out.push('\\');
        return out.push(kind);
    };
    if braced {
        *rest = ahead;
    } else {
        rest.by_ref().take(digits.len()).for_each(drop);
    }
    match u8::try_from(value) {
        Ok(byte) if kind == 'x' => out.byte(byte),
        _ => out.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)),
    }
}

/// Up to `most` octal digits.
pub(crate) fn octal(rest: &mut std::str::Chars<'_>, most: usize, out: &mut Bytes) {
    let digits: String = rest.as_str().chars().take(most).take_while(|it| it.is_digit(8)).collect();
    let value = u32::from_str_radix(&digits, 8).unwrap_or_default();
    rest.by_ref().take(digits.len()).for_each(drop);
    out.byte(u8::try_from(value & 0xff).unwrap_or_default());
}

/// Bytes that should be text in the end: escapes can name single bytes of a character.
#[derive(Default)]
pub(crate) struct Bytes(Vec<u8>);

impl Bytes {
    pub(crate) fn push(&mut self, letter: char) {
        self.0.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    pub(crate) fn text(self) -> String {
        String::from_utf8(self.0)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
    }
}
