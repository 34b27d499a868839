//! Letters that are told as numbers: `83 73 76`, `0x53 0x49`, `01010011`, `%53%49`, and in Morse code.

use super::encoded::Decoded;

/// Letters from which on it is worth reading.
const LETTERS_MIN: usize = 12;
/// Passages of one text that are read.
const PASSAGES_MAX: usize = 64;

/// Finds passages of codes in `text`. Linear: each code is read once in each system.
pub(super) fn find(text: &str) -> Vec<Decoded> {
    let mut found = Vec::new();
    if is_possible(text.as_bytes()) {
        for system in SYSTEMS {
            passages(text, *system, &mut found);
        }
    }
    found
}

/// Most texts have no such thing: a few codes in a row are digits, dots, dashes and what parts them.
fn is_possible(text: &[u8]) -> bool {
    let mut row = 0;
    text.iter().any(|it| {
        row = if is_code(*it) { row + 1 } else { 0 };
        row >= LETTERS_MIN * 2
    })
}

fn is_code(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
        || matches!(byte, b' ' | b',' | b'.' | b'-' | b'/' | b'%' | b'x' | b'\n')
}

/// A way to write a letter as a code.
#[derive(Clone, Copy)]
enum System {
    Decimal,
    Hexadecimal,
    Binary,
    Morse,
}

const SYSTEMS: &[System] = &[System::Decimal, System::Hexadecimal, System::Binary, System::Morse];

impl System {
    /// What the code stands for: nothing where it only parts words.
    fn letter(self, code: &str) -> Option<char> {
        let number = match self {
            Self::Decimal => code.parse().ok()?,
            Self::Hexadecimal => {
                let bare = code.trim_start_matches("0x").trim_start_matches("\\x");
                (bare.len() == 2).then(|| u8::from_str_radix(bare, 16).ok())??
            }
            Self::Binary => (code.len() >= 7).then(|| u8::from_str_radix(code, 2).ok())??,
            Self::Morse if code == "/" => b' ',
            Self::Morse => {
                let at = MORSE.split(' ').position(|it| it == code)?;
                *LETTERS.get(at)?
            }
        };
        matches!(number, b' '..=b'~' | b'\n').then_some(char::from(number))
    }
}

fn passages(text: &str, system: System, found: &mut Vec<Decoded>) {
    let is_between = |it: char| it.is_whitespace() || matches!(it, ',' | ';' | '%' | '[' | ']');
    let mut passage = Decoded { start: 0, end: 0, text: String::new() };
    let mut at = 0;
    for code in text.split(is_between) {
        let start = at;
        // What parts codes is one byte, but for white space beyond ASCII.
        let behind = text.get(start + code.len()..).and_then(|it| it.chars().next());
        at = start + code.len() + behind.map_or(0, char::len_utf8);
        if code.is_empty() {
            continue;
        }
        match system.letter(code) {
            Some(letter) => {
                if passage.text.is_empty() {
                    passage.start = start;
                }
                passage.text.push(letter);
                passage.end = start + code.len();
            }
            None => keep(&mut passage, found),
        }
    }
    keep(&mut passage, found);
}

fn keep(passage: &mut Decoded, found: &mut Vec<Decoded>) {
    let done = std::mem::replace(passage, Decoded { start: 0, end: 0, text: String::new() });
    if done.text.len() >= LETTERS_MIN && found.len() < PASSAGES_MAX {
        found.push(done);
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
            with(|it| format!("0x{it:02X}"), ", "),
            with(|it| format!("%{it:02X}"), ""),
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
    fn numbers_of_ordinary_texts_are_few() {
        assert!(find("In 2024 we sold 12, 15 and 33 of them - 60 in all.").is_empty());
    }
}
