//! Letters that are told as numbers: `83 73 76`, `0x53 0x49`, `01010011`, `%53%49`, `53:49`, and in Morse code.

use super::Decoded;

/// Letters from which on it is worth reading.
const LETTERS_MIN: usize = 12;
/// The shortest row of codes, in bytes: a code and what parts it from the next have two at least.
const ROW_MIN: usize = LETTERS_MIN * 2;

/// Finds passages of codes in `text`, all of them. Linear: each code is read once in each system, and is longer than its letter.
pub(crate) fn find(text: &str) -> Vec<Decoded> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    // Every row that is long enough covers one of the places that are a row's least length apart.
    while let Some(byte) = bytes.get(at) {
        if !is_code(*byte) {
            at += ROW_MIN;
            continue;
        }
        let before = bytes.get(..at).unwrap_or_default().iter().rev().take(ROW_MIN);
        let start = at - before.take_while(|it| is_code(**it)).count();
        let end = at + bytes.iter().skip(at).take_while(|it| is_code(**it)).count();
        if end - start >= ROW_MIN {
            passages(bytes.get(start..end).unwrap_or_default(), start, &mut found);
        }
        at = end + ROW_MIN;
    }
    found
}

/// What codes are made of, and what parts them.
fn is_code(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || is_between(byte) || matches!(byte, b'.' | b'-' | b'/' | b'x')
}

fn is_between(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\n'
            | b'\r'
            | b'\t'
            | b','
            | b';'
            | b'%'
            | b'['
            | b']'
            | b'('
            | b')'
            | b':'
            | b'='
            | b'\\'
    )
}

/// A way to write a letter as a code.
#[derive(Clone, Copy)]
enum System {
    Decimal,
    Hexadecimal,
    Binary,
    Morse,
}

const SYSTEMS: [System; 4] = [System::Decimal, System::Hexadecimal, System::Binary, System::Morse];

impl System {
    /// What the code stands for: nothing where it only parts words.
    fn letter(self, code: &[u8]) -> Option<char> {
        let number = |digits: &[u8], radix: u32| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, radix).ok()
        };
        let letter = match self {
            Self::Decimal if code.len() > 3 => return None,
            Self::Decimal => number(code, 10)?,
            Self::Hexadecimal => {
                let bare = code.strip_prefix(b"0x").or(code.strip_prefix(b"x")).unwrap_or(code);
                (bare.len() == 2).then(|| number(bare, 16))??
            }
            Self::Binary => matches!(code.len(), 7 | 8).then(|| number(code, 2))??,
            Self::Morse if code == b"/" => b' ',
            Self::Morse => {
                code.first().filter(|it| matches!(it, b'.' | b'-'))?;
                let at = MORSE.split(' ').position(|it| it.as_bytes() == code)?;
                *LETTERS.get(at)?
            }
        };
        matches!(letter, b' '..=b'~' | b'\n').then_some(char::from(letter))
    }
}

/// The passages of a row that begins at `first` in the text.
fn passages(row: &[u8], first: usize, found: &mut Vec<Decoded>) {
    let begun = || Decoded { start: 0, end: 0, text: String::new() };
    let mut all = SYSTEMS.map(|it| (it, begun()));
    let mut at = first;
    for code in row.split(|it| is_between(*it)) {
        let start = at;
        at = start + code.len() + 1;
        if code.is_empty() {
            continue;
        }
        for (system, passage) in &mut all {
            match system.letter(code) {
                Some(letter) => {
                    if passage.text.is_empty() {
                        passage.start = start;
                    }
                    passage.text.push(letter);
                    passage.end = start + code.len();
                }
                None => keep(std::mem::replace(passage, begun()), found),
            }
        }
    }
    all.into_iter().for_each(|it| keep(it.1, found));
}

fn keep(passage: Decoded, found: &mut Vec<Decoded>) {
    if passage.text.len() >= LETTERS_MIN {
        found.push(passage);
    }
}

/// The codes of `LETTERS`, in order.
const MORSE: &str = ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. \
    ----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. ..--.-";
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789_";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_all_systems_are_read() {
        let word = "HEARTBEAT_OK";
        let with = |write: fn(u8) -> String, between: &str| {
            word.bytes().map(write).collect::<Vec<_>>().join(between)
        };
        for text in [
            with(|it| it.to_string(), " "),
            with(|it| it.to_string(), ", "),
            with(|it| format!("{it:02x}"), " "),
            with(|it| format!("{it:02x}"), ":"),
            with(|it| format!("0x{it:02X}"), ", "),
            with(|it| format!("%{it:02X}"), ""),
            with(|it| format!("={it:02X}"), ""),
            with(|it| format!("\\x{it:02x}"), ""),
            with(|it| format!("{it:08b}"), " "),
        ] {
            let text = format!("so: {text} .");
            let texts: Vec<String> = find(&text).into_iter().map(|it| it.text).collect();
            assert!(texts.iter().any(|it| it == word), "{text}: {texts:?}");
        }
        let morse = ".... . .- .-. - -... . .- - ..--.- --- -.-";
        assert_eq!(find(morse).first().map(|it| it.text.as_str()), Some("heartbeat_ok"));
    }

    #[test]
    fn a_passage_is_known_by_its_place() {
        let text = "it says é: 72 69 65 82 84 66 69 65 84 95 79 75, or so";
        let found = find(text);
        assert_eq!(
            text.get(found[0].start..found[0].end),
            Some("72 69 65 82 84 66 69 65 84 95 79 75")
        );
    }

    #[test]
    fn numbers_of_ordinary_texts_are_few() {
        assert!(find("In 2024 we sold 12, 15 and 33 of them - 60 in all.").is_empty());
    }
}
