//! A text as somebody would read it: with an encoding undone, and the way back to where each byte stood.

use std::borrow::Cow;
use std::ops::Range;

/// The most digits of an entity, zeros before it included.
const ENTITY_DIGITS_MAX: usize = 32;
/// The entities that every writer uses, which readers also know without their `;`.
const ENTITIES: [(&[u8], u8); 5] =
    [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];

/// A reading of a text.
pub(super) struct View<'a> {
    pub(super) bytes: Cow<'a, [u8]>,
    /// Where each byte stood in the text; none if that is where it stands.
    origins: Option<Vec<Range<u32>>>,
}

impl<'a> View<'a> {
    /// The text as it stands.
    pub(super) fn of(text: &'a str) -> Self {
        Self { bytes: Cow::Borrowed(text.as_bytes()), origins: None }
    }

    /// Where in the text something stands that stands here in this view.
    pub(super) fn origin(&self, at: Range<usize>) -> Range<usize> {
        let Some(origins) = &self.origins else { return at };
        let start = origins.get(at.start).map_or(0, |it| it.start as usize);
        let last = at.end.checked_sub(1).and_then(|it| origins.get(it));
        start..last.map_or(start, |it| it.end as usize)
    }

    /// Backslashes undone, as in JSON, in programs and in shells.
    pub(super) fn unescaped(&self) -> Option<View<'static>> {
        self.decoded(b'\\', |rest| match rest {
            [b'\\', b'u', b'{', digits @ ..] => {
                let end = digits.iter().take(7).position(|it| *it == b'}')?;
                let found = character(digits.get(..end)?, 16)?;
                Some((end + 4, found))
            }
            [b'\\', b'u', digits @ ..] => unit(digits),
            [b'\\', b'x', high, low, ..] => Some((4, vec![byte(*high, *low)?])),
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
                Some((4, vec![(a - b'0') << 6 | (b - b'0') << 3 | (c - b'0')]))
            }
            [b'\\', b'n', ..] => Some((2, b"\n".to_vec())),
            [b'\\', b'r', ..] => Some((2, b"\r".to_vec())),
            [b'\\', b't', ..] => Some((2, b"\t".to_vec())),
            [b'\\', other, ..] if other.is_ascii_punctuation() => Some((2, vec![*other])),
            _ => None,
        })
    }

    /// Characters of full width as the letters that they are.
    pub(super) fn narrowed(&self) -> Option<View<'static>> {
        self.decoded(0xef, |rest| {
            let wide = std::str::from_utf8(rest.get(..3)?).ok()?.chars().next()?;
            let narrow = u32::from(wide).checked_sub(0xff01)?.checked_add(0x21)?;
            let narrow = u8::try_from(narrow).ok().filter(u8::is_ascii_graphic)?;
            Some((3, vec![narrow]))
        })
    }

    /// Percent signs undone.
    pub(super) fn percent_decoded(&self) -> Option<View<'static>> {
        self.decoded(b'%', |rest| match rest {
            [b'%', high, low, ..] => Some((3, vec![byte(*high, *low)?])),
            _ => None,
        })
    }

    /// Entities of HTML undone: by number, and those that every writer uses.
    pub(super) fn without_entities(&self) -> Option<View<'static>> {
        self.decoded(b'&', |rest| {
            let name = rest.get(1..)?;
            let (length, found) = match name {
                [b'#', b'x' | b'X', digits @ ..] => {
                    let digits = leading(digits, u8::is_ascii_hexdigit);
                    (2 + digits.len(), character(digits, 16)?)
                }
                [b'#', digits @ ..] => {
                    let digits = leading(digits, u8::is_ascii_digit);
                    (1 + digits.len(), character(digits, 10)?)
                }
                _ => {
                    let (known, sign) = ENTITIES.iter().find(|it| name.starts_with(it.0))?;
                    (known.len(), vec![*sign])
                }
            };
            let end = usize::from(name.get(length) == Some(&b';'));
            Some((1 + length + end, found))
        })
    }

    /// Without blanks, line breaks and what nobody sees.
    pub(super) fn squeezed(&self) -> Option<View<'static>> {
        self.without(|rest| match rest {
            // Blanks and controls; a NUL stands before each letter of UTF-16.
            [0..=b' ' | 0x7f, ..] => 1,
            // Soft hyphen, no-break space.
            [0xc2, 0xad | 0xa0, ..] => 2,
            // Combining grapheme joiner.
            [0xcd, 0x8f, ..] => 2,
            // Spaces and joiners of no width, marks of direction, the invisible operators.
            [0xe2, 0x80, 0x80..=0x8f | 0xa8..=0xaf, ..] | [0xe2, 0x81, 0x9f..=0xaf, ..] => 3,
            // The mark of byte order, variation selectors.
            [0xef, 0xbb, 0xbf, ..] | [0xef, 0xb8, 0x80..=0x8f, ..] => 3,
            // Tags.
            [0xf3, 0xa0, 0x80..=0x81, _, ..] => 4,
            _ => 0,
        })
    }

    /// Lines of mail that go on, joined.
    pub(super) fn unfolded(&self) -> Option<View<'static>> {
        memchr::memchr(b'=', &self.bytes)?;
        self.without(|rest| match rest {
            [b'=', b'\r', b'\n', ..] => 3,
            [b'=', b'\n', ..] => 2,
            _ => 0,
        })
    }

    /// Without what people put between bytes in hex.
    pub(super) fn without_separators(&self) -> Option<View<'static>> {
        self.without(|rest| match rest {
            [b'0', b'x' | b'X', ..] => 2,
            [b':' | b'-' | b',' | b'.' | b'_' | b'\\', ..] => 1,
            _ => 0,
        })
    }

    /// Undoes an encoding that begins with `sign`; none if there is nothing of it.
    fn decoded(
        &self,
        sign: u8,
        undo: impl Fn(&[u8]) -> Option<(usize, Vec<u8>)>,
    ) -> Option<View<'static>> {
        // Before anything is copied: most texts have the sign and nothing of the encoding.
        let there = |at: usize| self.bytes.get(at..).and_then(&undo).is_some();
        let first = memchr::memchr_iter(sign, &self.bytes).find(|at| there(*at))?;
        let mut made = Making::new(self);
        for at in 0..first {
            made.push(self.bytes.get(at..=at).unwrap_or_default(), at..at.saturating_add(1));
        }
        let mut at = first;
        while let Some(rest) = self.bytes.get(at..).filter(|it| !it.is_empty()) {
            let found = if rest.first() == Some(&sign) { undo(rest) } else { None };
            match found {
                Some((length, bytes)) => {
                    made.push(&bytes, at..at.saturating_add(length));
                    at = at.saturating_add(length);
                    made.changed = true;
                }
                None => {
                    made.push(rest.get(..1).unwrap_or_default(), at..at.saturating_add(1));
                    at = at.saturating_add(1);
                }
            }
        }
        made.done()
    }

    /// Leaves out what `skip` gives a length to; none if there is nothing of it.
    fn without(&self, skip: impl Fn(&[u8]) -> usize) -> Option<View<'static>> {
        let mut made = Making::new(self);
        let mut at = 0;
        while let Some(rest) = self.bytes.get(at..).filter(|it| !it.is_empty()) {
            let length = skip(rest);
            if length > 0 {
                at = at.saturating_add(length);
                made.changed = true;
                continue;
            }
            made.push(rest.get(..1).unwrap_or_default(), at..at.saturating_add(1));
            at = at.saturating_add(1);
        }
        made.done()
    }
}

/// A view while it is made of another.
struct Making<'a, 'b> {
    from: &'a View<'b>,
    bytes: Vec<u8>,
    origins: Vec<Range<u32>>,
    changed: bool,
}

impl<'a, 'b> Making<'a, 'b> {
    fn new(from: &'a View<'b>) -> Self {
        let most = from.bytes.len();
        Self {
            from,
            bytes: Vec::with_capacity(most),
            origins: Vec::with_capacity(most),
            changed: false,
        }
    }

    fn push(&mut self, bytes: &[u8], at: Range<usize>) {
        let Range { start, end } = self.from.origin(at);
        let small = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
        for byte in bytes {
            self.bytes.push(*byte);
            self.origins.push(small(start)..small(end));
        }
    }

    fn done(self) -> Option<View<'static>> {
        let Self { bytes, origins, changed, .. } = self;
        changed.then_some(View { bytes: Cow::Owned(bytes), origins: Some(origins) })
    }
}

fn byte(high: u8, low: u8) -> Option<u8> {
    let digit = |it: u8| char::from(it).to_digit(16).and_then(|it| u8::try_from(it).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// The digits that stand at the beginning.
fn leading(bytes: &[u8], is_digit: impl Fn(&u8) -> bool) -> &[u8] {
    let count = bytes.iter().take(ENTITY_DIGITS_MAX).take_while(|it| is_digit(it)).count();
    bytes.get(..count).unwrap_or_default()
}

fn character(digits: &[u8], base: u32) -> Option<Vec<u8>> {
    let digits = std::str::from_utf8(digits).ok().filter(|it| !it.starts_with('+'))?;
    let found = u32::from_str_radix(digits, base).ok().and_then(char::from_u32)?;
    Some(found.to_string().into_bytes())
}

/// Four digits behind `\u`, and the other half where they are only one.
fn unit(digits: &[u8]) -> Option<(usize, Vec<u8>)> {
    let four = |digits: &[u8]| match digits {
        [a, b, c, d, ..] => Some(u16::from_be_bytes([byte(*a, *b)?, byte(*c, *d)?])),
        _ => None,
    };
    let first = four(digits)?;
    let second = match digits.get(4..) {
        Some([b'\\', b'u', digits @ ..]) => four(digits),
        _ => None,
    };
    let units: Vec<u16> = std::iter::once(first).chain(second).collect();
    let mut characters = char::decode_utf16(units);
    let found = characters.next()?.ok()?;
    let length = if found.len_utf16() == 2 { 12 } else { 6 };
    Some((length, found.to_string().into_bytes()))
}
