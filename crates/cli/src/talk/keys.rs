//! Keys of a terminal, out of the bytes that it sends.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D.
    EndOfInput,
    /// Ctrl-U.
    Clear,
    /// Ctrl-W.
    Word,
}

/// Bytes of one sequence that a terminal sends.
const SEQUENCE_BYTES_MAX: usize = 16;

/// Takes the first key out of `bytes`; none if it is not whole yet. What is no key is skipped.
pub(super) fn take(bytes: &mut Vec<u8>) -> Option<Key> {
    loop {
        let first = *bytes.first()?;
        if first == ESCAPE {
            match sequence(bytes) {
                Sequence::Unfinished => return None,
                Sequence::Whole(length, key) => {
                    bytes.drain(..length);
                    match key {
                        Some(key) => return Some(key),
                        None => continue,
                    }
                }
            }
        }
        if let Some(key) = control(first) {
            bytes.remove(0);
            return Some(key);
        }
        let length = match first {
            0..=0x1f => {
                bytes.remove(0);
                continue;
            }
            0x20..=0x7f => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            0x80..=0xbf | 0xf8..=0xff => {
                bytes.remove(0);
                continue;
            }
        };
        let text = bytes.get(..length)?.to_vec();
        bytes.drain(..length);
        let seen = |it: &char| !it.is_control();
        if let Some(it) = String::from_utf8(text).ok().and_then(|it| it.chars().next()).filter(seen)
        {
            return Some(Key::Char(it));
        }
    }
}

const ESCAPE: u8 = 0x1b;

enum Sequence {
    Unfinished,
    Whole(usize, Option<Key>),
}

fn sequence(bytes: &[u8]) -> Sequence {
    let Some(second) = bytes.get(1) else { return Sequence::Unfinished };
    if *second != b'[' && *second != b'O' {
        return Sequence::Whole(1, None);
    }
    let end = bytes.iter().skip(2).position(|it| (0x40..=0x7e).contains(it));
    let Some(end) = end.map(|it| it + 2) else {
        let long = bytes.len() > SEQUENCE_BYTES_MAX;
        return if long { Sequence::Whole(bytes.len(), None) } else { Sequence::Unfinished };
    };
    let key = match (bytes.get(2..end), bytes.get(end)) {
        (_, Some(b'A')) => Some(Key::Up),
        (_, Some(b'B')) => Some(Key::Down),
        (_, Some(b'C')) => Some(Key::Right),
        (_, Some(b'D')) => Some(Key::Left),
        (_, Some(b'H')) | (Some(b"1" | b"7"), Some(b'~')) => Some(Key::Home),
        (_, Some(b'F')) | (Some(b"4" | b"8"), Some(b'~')) => Some(Key::End),
        (Some(b"3"), Some(b'~')) => Some(Key::Delete),
        (_, _) => None,
    };
    Sequence::Whole(end + 1, key)
}

fn control(byte: u8) -> Option<Key> {
    match byte {
        b'\r' | b'\n' => Some(Key::Enter),
        0x7f | 0x08 => Some(Key::Backspace),
        0x01 => Some(Key::Home),
        0x03 => Some(Key::Interrupt),
        0x04 => Some(Key::EndOfInput),
        0x05 => Some(Key::End),
        0x15 => Some(Key::Clear),
        0x17 => Some(Key::Word),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut bytes = bytes.to_vec();
        std::iter::from_fn(|| take(&mut bytes)).collect()
    }

    #[test]
    fn letters_arrows_and_what_is_none() {
        assert_eq!(keys("aé漢".as_bytes()), ['a', 'é', '漢'].map(Key::Char));
        assert_eq!(keys(b"\x1b[A\x1b[3~\x1bOH"), [Key::Up, Key::Delete, Key::Home]);
        assert_eq!(keys(b"\x1b[200~x\x00\xff"), [Key::Char('x')]);
        assert_eq!(keys(b"\x1b["), []);
        assert_eq!(keys(&[0xe6, 0xbc]), []);
        assert_eq!(keys(b"\x03\x04\r"), [Key::Interrupt, Key::EndOfInput, Key::Enter]);
    }
}
