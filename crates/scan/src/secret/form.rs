//! Forms of secrets: pieces of text that stand for themselves, and so many characters of a class.

/// A form, ready to be compared.
#[derive(Clone, Debug, Default)]
pub(super) struct Form {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(&'static str),
    Class { class: u8, least: usize, most: usize },
}

impl Form {
    /// Reads a form such as `ghp_{w36}`; nothing if it is not one.
    pub(super) fn parse(text: &'static str) -> Option<Self> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (plain, class) = rest.split_once('{').unwrap_or((rest, ""));
            if !plain.is_empty() {
                pieces.push(Piece::Text(plain));
            }
            if class.is_empty() {
                break;
            }
            let (inner, after) = class.split_once('}')?;
            pieces.push(piece(inner)?);
            rest = after;
        }
        Some(Self { pieces })
    }

    /// Returns the text that every secret of this form begins with.
    pub(super) fn prefix(&self) -> Option<&'static str> {
        match self.pieces.first()? {
            Piece::Text(text) => Some(text),
            Piece::Class { .. } => None,
        }
    }

    /// Returns how far before a later piece of text the form can begin at `at`: characters of its first class.
    pub(super) fn begin(&self, bytes: &[u8], at: usize) -> usize {
        match self.pieces.first() {
            Some(Piece::Class { class, most, .. }) => {
                let before = bytes.iter().take(at).rev().take(*most);
                at - before.take_while(|it| is_in(*class, **it)).count()
            }
            Some(Piece::Text(_)) | None => at,
        }
    }

    /// Returns how many bytes at the beginning of `bytes` are of this form; nothing if they are not, or go on.
    pub(super) fn length(&self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        let mut last = None;
        for piece in &self.pieces {
            let rest = bytes.get(at..)?;
            match piece {
                Piece::Text(text) => {
                    rest.strip_prefix(text.as_bytes())?;
                    at += text.len();
                    last = text.bytes().last().filter(u8::is_ascii_alphanumeric).map(|_| b'w');
                }
                Piece::Class { class, least, most } => {
                    let count =
                        rest.iter().take(*most).take_while(|it| is_in(*class, **it)).count();
                    if count < *least {
                        return None;
                    }
                    at += count;
                    last = Some(*class);
                }
            }
        }
        let next = bytes.get(at).copied();
        let goes_on = next.is_some_and(|next| {
            next.is_ascii_alphanumeric()
                || last.is_some_and(|it| it != b'v' && is_in(it, next) && next != b'=')
        });
        (!goes_on).then_some(at)
    }

    /// Returns a text of this form, for tests: characters of each class in a row that does not repeat soon.
    #[cfg(test)]
    pub(super) fn sample(&self) -> String {
        let mut all = String::new();
        let mut seed = 7_u32;
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => all.push_str(text),
                Piece::Class { class, least, .. } => {
                    let of: Vec<u8> = (33..127).filter(|it| is_in(*class, *it)).collect();
                    for _ in 0..(*least).max(1) {
                        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        all.push(char::from(of[(seed >> 16) as usize % of.len()]));
                    }
                }
            }
        }
        all
    }
}

fn piece(inner: &str) -> Option<Piece> {
    let class = *inner.as_bytes().first()?;
    let count = inner.get(1..)?;
    let (least, most) = count.split_once('-').unwrap_or((count, count));
    let (least, most) = (least.parse().ok()?, most.parse().ok()?);
    (is_known(class) && least <= most).then_some(Piece::Class { class, least, most })
}

fn is_known(class: u8) -> bool {
    b"waALxdusbvBptk".contains(&class)
}

fn is_in(class: u8, byte: u8) -> bool {
    match class {
        b'w' => byte.is_ascii_alphanumeric(),
        b'a' => byte.is_ascii_lowercase() || byte.is_ascii_digit(),
        b'A' => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        b'L' => byte.is_ascii_alphabetic(),
        b'x' => byte.is_ascii_hexdigit(),
        b'd' => byte.is_ascii_digit(),
        b'u' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
        b's' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'='),
        b'v' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~'),
        b't' => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'=' | b'.'),
        b'b' => {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'\\')
        }
        b'k' => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
        b'p' => byte.is_ascii_alphanumeric() || byte == b'%',
        b'B' => byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_compared_from_its_beginning_to_its_end() {
        let form = Form::parse("ab_{d3}-{x2-4}").unwrap();
        for (text, length) in [
            ("ab_123-ffff", Some(11)),
            ("ab_123-ff.", Some(9)),
            ("ab_123-fffff", None),
            ("ab_12-ff", None),
            ("ab_123-f", None),
            ("", None),
        ] {
            assert_eq!(form.length(text.as_bytes()), length, "{text}");
        }
        assert_eq!(form.length(form.sample().as_bytes()), Some(form.sample().len()));
        assert!(Form::parse("{q3}").is_none() && Form::parse("{w").is_none());
    }
}
