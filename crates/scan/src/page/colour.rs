//! Colours as style sheets write them.

use super::css::{Part, Token, components, inside, split};
use super::names::NAMES;
use super::number::{Amount, Kind, amount, amount_with};
use super::space;

/// Red, green, blue and how much of it covers what lies below, each 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ink {
    red: u8,
    green: u8,
    blue: u8,
    cover: u8,
}

pub(super) const WHITE: Ink = Ink { red: 255, green: 255, blue: 255, cover: 255 };
pub(super) const BLACK: Ink = Ink { red: 0, green: 0, blue: 0, cover: 255 };

impl Ink {
    pub(super) const CLEAR: Self = Self { cover: 0, ..BLACK };
    pub(super) const BUTTON: Self = Self { red: 239, green: 239, blue: 239, cover: 255 };
    /// A page of which its style says that it is dark, and no more.
    pub(super) const DARK: Self = Self { red: 18, green: 18, blue: 18, cover: 255 };

    /// The colour that a component of a value is: nothing if it is none, `None` in it if it is one that
    /// cannot be known. In an `old` page digits need no sign.
    pub(super) fn read(item: &[Part<'_>], old: bool) -> Option<Option<Self>> {
        Self::within(item, old, 0)
    }

    /// The old attributes `color`, `bgcolor` and `text`: browsers make a colour of anything.
    pub(super) fn parse_attribute(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() || text == "transparent" {
            return None;
        }
        named(&text)
            .or_else(|| text.strip_prefix('#').filter(|it| it.len() == 3).and_then(hex))
            .or_else(|| anything(&text))
    }

    fn within(item: &[Part<'_>], old: bool, depth: usize) -> Option<Option<Self>> {
        match &item.first()?.token {
            Token::Hash(digits, _) => hex(digits).map(Some),
            Token::Word(word) => {
                let word = word.to_ascii_lowercase();
                if word == "transparent" {
                    return Some(Some(Self::CLEAR));
                }
                let bare = || hex(&word).filter(|_| old && matches!(word.len(), 3 | 6));
                named(&word).or_else(bare).map(Some)
            }
            Token::Call(name) if depth < DEPTH_MAX => {
                call(&name.to_ascii_lowercase(), inside(item), depth + 1)
            }
            Token::Space
            | Token::Call(_)
            | Token::At(_)
            | Token::Text(_)
            | Token::Url(_)
            | Token::Broken
            | Token::Number(_)
            | Token::Share(_)
            | Token::Length(..)
            | Token::Mark
            | Token::Sign(_) => None,
        }
    }

    /// With other parts, each 0 to 1.
    pub(super) fn changed(self, by: impl Fn([f64; 3]) -> [f64; 3]) -> Self {
        let parts = [self.red, self.green, self.blue].map(|it| f64::from(it) / 255.0);
        Self::of(by(parts).map(|it| it * 255.0), f64::from(self.cover))
    }

    /// Of red, green, blue and cover, each 0 to 1.
    pub(super) fn of_parts([red, green, blue, cover]: [f64; 4]) -> Self {
        Self::of([red, green, blue].map(|it| it * 255.0), cover * 255.0)
    }

    /// Each of the four mixed anew from all four and a constant.
    pub(super) fn through(self, by: &[f64; 20]) -> Self {
        let parts = [self.red, self.green, self.blue, self.cover].map(|it| f64::from(it) / 255.0);
        let mut all = by.chunks(5).map(|row| {
            let mixed: f64 = row.iter().zip(parts).map(|(by, part)| by * part).sum();
            mixed + row.last().copied().unwrap_or_default()
        });
        Self::of_parts([(); 4].map(|()| all.next().unwrap_or_default()))
    }

    /// How much of it covers what lies below, 0 to 1.
    pub(super) fn share(self) -> f64 {
        f64::from(self.cover) / 255.0
    }

    fn of(parts: [f64; 3], cover: f64) -> Self {
        let [red, green, blue] = parts.map(byte);
        Self { red, green, blue, cover: byte(cover) }
    }

    /// Does it let everything below show?
    pub(super) fn is_clear(self) -> bool {
        self.cover < COVER_MIN
    }

    /// Does it hide everything below?
    pub(super) fn is_solid(self) -> bool {
        self.cover == 255
    }

    pub(super) fn is_light(self) -> bool {
        self.vanishes_on(WHITE)
    }

    pub(super) fn is_dark(self) -> bool {
        self.vanishes_on(BLACK)
    }

    /// Can nobody tell it from `other`, being painted over it?
    pub(super) fn vanishes_on(self, other: Self) -> bool {
        let apart = |a: u8, b: u8| usize::from(a.abs_diff(b)) * usize::from(self.cover) / 255;
        let all = apart(self.red, other.red)
            + apart(self.green, other.green)
            + apart(self.blue, other.blue);
        all <= APART_MAX
    }

    /// The same, but so much of it that it covers less.
    pub(super) fn thinned(self, share: f64) -> Self {
        Self { cover: byte(f64::from(self.cover) * share), ..self }
    }

    /// What shows where it lies over another one.
    pub(super) fn over(self, below: Self) -> Self {
        let opaque = Self { cover: 255, ..self };
        opaque.mixed(below, f64::from(self.cover) / 255.0)
    }

    /// White or black, whichever is told from it better.
    fn opposite(self) -> Self {
        let light = u32::from(self.red) * 3 + u32::from(self.green) * 6 + u32::from(self.blue);
        if light < 1800 { WHITE } else { BLACK }
    }

    /// Does one look like the other, whatever lies below?
    pub(super) fn is_like(self, other: Self) -> bool {
        let same = Self { cover: 255, ..self }.vanishes_on(other) || self.is_clear();
        same && self.cover.abs_diff(other.cover) < COVER_MIN
    }

    /// So much of this one, and the rest of the other; what covers less counts less.
    pub(super) fn mixed(self, other: Self, share: f64) -> Self {
        let (own, rest) = (f64::from(self.cover) * share, f64::from(other.cover) * (1.0 - share));
        let cover = own + rest;
        let mix = |a: u8, b: u8| (f64::from(a) * own + f64::from(b) * rest) / cover.max(1e-6);
        Self::of(
            [mix(self.red, other.red), mix(self.green, other.green), mix(self.blue, other.blue)],
            cover,
        )
    }
}

fn named(word: &str) -> Option<Ink> {
    let at = NAMES.binary_search_by(|it| it.0.cmp(word)).ok()?;
    let [_, red, green, blue] = u32::to_be_bytes(NAMES.get(at)?.1);
    Some(Ink { red, green, blue, cover: 255 })
}

fn hex(digits: &str) -> Option<Ink> {
    if digits.len() > 8 {
        return None;
    }
    let values: Option<Vec<u8>> =
        digits.chars().map(|it| it.to_digit(16).and_then(|it| u8::try_from(it).ok())).collect();
    let full = |high: u8, low: u8| high * 16 + low;
    match *values?.as_slice() {
        [r, g, b] => Some(Ink { red: full(r, r), green: full(g, g), blue: full(b, b), cover: 255 }),
        [r, g, b, a] => {
            Some(Ink { red: full(r, r), green: full(g, g), blue: full(b, b), cover: full(a, a) })
        }
        [r, s, g, h, b, c] => {
            Some(Ink { red: full(r, s), green: full(g, h), blue: full(b, c), cover: 255 })
        }
        [r, s, g, h, b, c, a, d] => {
            Some(Ink { red: full(r, s), green: full(g, h), blue: full(b, c), cover: full(a, d) })
        }
        _ => None,
    }
}

/// What browsers make of an attribute that names no colour: three parts, of which two digits count.
fn anything(text: &str) -> Option<Ink> {
    let text = text.strip_prefix('#').unwrap_or(text);
    let digits = text.chars().take(ATTRIBUTE_CHARS_MAX);
    let mut digits: Vec<u32> = digits.map(|it| it.to_digit(16).unwrap_or(0)).collect();
    while digits.is_empty() || !digits.len().is_multiple_of(3) {
        digits.push(0);
    }
    let length = digits.len() / 3;
    let parts: Vec<&[u32]> =
        digits.chunks(length).map(|it| it.get(length.saturating_sub(8)..).unwrap_or(it)).collect();
    let zeros = parts.iter().map(|it| it.iter().take_while(|it| **it == 0).count()).min()?;
    let length = parts.first()?.len();
    let skipped = zeros.min(length.saturating_sub(2));
    let part = |at: usize| {
        let two = parts.get(at)?.get(skipped..)?;
        let value = two.iter().take(2).fold(0, |sum, it| sum * 16 + it);
        u8::try_from(value).ok()
    };
    Some(Ink { red: part(0)?, green: part(1)?, blue: part(2)?, cover: 255 })
}

fn call(name: &str, arguments: &[Part<'_>], depth: usize) -> Option<Option<Ink>> {
    match name {
        "color-mix" => return mix(arguments, depth),
        "light-dark" => {
            return Ink::within(super::css::trim(split(arguments, ',').next()?), false, depth);
        }
        "contrast-color" => {
            let ink = Ink::within(super::css::trim(arguments), false, depth)?;
            return Some(ink.map(Ink::opposite));
        }
        "device-cmyk" => return Some(None),
        _ => {}
    }
    let separator = |it: &&[Part<'_>]| !it.first().is_some_and(|it| it.is(',') || it.is('/'));
    let mut items: Vec<&[Part<'_>]> = components(arguments).filter(separator).collect();
    let space = match name {
        "color" => items.iter().position(|it| !it.first().is_some_and(|it| it.is_word("from")))?,
        _ => usize::MAX,
    };
    if items.first()?.first()?.is_word("from") {
        return Some(same(&items, name, depth));
    }
    let space = match items.get(space).and_then(|it| it.first()?.word()) {
        Some(word) => {
            let word = word.to_ascii_lowercase();
            items.remove(space);
            word
        }
        None => name.to_owned(),
    };
    // A part may be missing, which is none of it.
    let zero = Amount { kind: Kind::Plain, ..Amount::pixels_of(0.0) };
    let part =
        |it: &&[Part<'_>]| amount(it).or_else(|| it.first()?.is_word("none").then_some(zero));
    let parts: Option<Vec<Amount>> = items.iter().map(part).collect();
    let (first, cover) = match *parts?.as_slice() {
        [a, b, c] => ([a, b, c], 255.0),
        [a, b, c, d] => ([a, b, c], share(d, 1.0) * 255.0),
        _ => return None,
    };
    Some(space::rgb(&space, first)?.map(|it| Ink::of(it, cover)))
}

/// `rgb(from white r g b)`: a colour calculated from the parts of another one.
fn same(items: &[&[Part<'_>]], name: &str, depth: usize) -> Option<Ink> {
    let (origin, parts) = items.get(1..)?.split_first()?;
    let origin = Ink::within(origin, false, depth)??;
    let (space, parts) = match name {
        "color" => (parts.first()?.first()?.word()?.to_ascii_lowercase(), parts.get(1..)?),
        _ => (name.to_owned(), parts),
    };
    let own = [origin.red, origin.green, origin.blue].map(f64::from);
    let (letters, values) = space::parts(&space, own)?;
    let [first, second, third] = values.map(Amount::plain);
    let [one, two, three] = letters;
    let cover = Amount::plain(origin.share());
    let names = [(one, first), (two, second), (three, third), ("alpha", cover)];
    let part = |it: &&[Part<'_>]| {
        let none = it.first()?.is_word("none").then_some(Amount::plain(0.0));
        amount_with(it, &names).or(none)
    };
    let all: Option<Vec<Amount>> = parts.iter().map(part).collect();
    let (three, cover) = match *all?.as_slice() {
        [a, b, c] => ([a, b, c], cover),
        [a, b, c, d] => ([a, b, c], d),
        _ => return None,
    };
    space::rgb(&space, three)?.map(|it| Ink::of(it, share(cover, 1.0) * 255.0))
}

fn mix(arguments: &[Part<'_>], depth: usize) -> Option<Option<Ink>> {
    let mut inks = Vec::new();
    for part in split(arguments, ',').skip(1).take(2) {
        let items: Vec<&[Part<'_>]> = components(part).collect();
        let ink = items.iter().find_map(|it| Ink::within(it, false, depth))?;
        let share = items.iter().find_map(|it| amount(it)).map(|it| it.value / 100.0);
        inks.push((ink, share));
    }
    let [(first, share), (second, other)] = *inks.as_slice() else { return None };
    let share = match (share, other) {
        (Some(share), Some(other)) if share + other > 0.0 => share / (share + other),
        (Some(share), _) => share,
        (None, Some(other)) => 1.0 - other,
        (None, None) => 0.5,
    };
    Some(match (first, second) {
        (Some(first), Some(second)) => Some(first.mixed(second, share)),
        _ => None,
    })
}

/// A share, or a number of which `whole` is all.
pub(super) fn share(amount: Amount, whole: f64) -> f64 {
    if amount.kind == Kind::Share { amount.value / 100.0 } else { amount.value / whole }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
fn byte(value: f64) -> u8 {
    value.round().clamp(0.0, 255.0) as u8
}

/// The sum of the differences in red, green and blue below which two colours look the same.
const APART_MAX: usize = 48;
/// Less cover than this cannot be seen.
const COVER_MIN: u8 = 13;
/// Colours made of colours.
const DEPTH_MAX: usize = 4;
/// Characters of an old attribute that browsers look at.
const ATTRIBUTE_CHARS_MAX: usize = 128;

#[cfg(test)]
mod tests {
    use super::super::css::tokens;
    use super::*;

    fn read(text: &str) -> Option<Option<Ink>> {
        Ink::read(&tokens(text), false)
    }

    #[test]
    fn one_colour_in_many_spellings() {
        for text in [
            "white",
            "WHITE",
            "#fff",
            "#FFFFFF",
            "#ffff",
            "#ffffffff",
            "rgb(255,255,255)",
            "rgb(255 255 255 / 1)",
            "rgba(100%, 100%, 100%, 100%)",
            "hsl(0, 0%, 100%)",
            "hsl(0turn 0% 100%)",
            "hsla(120deg 50% 100% / 1)",
            "hwb(0 100% 0%)",
            "oklch(1 0 0)",
            "oklab(100% 0 0)",
            "lab(100 0 0)",
            "lch(100% 0 none)",
            "color(srgb 1 1 1)",
            "color(display-p3 1 1 1)",
            "color-mix(in srgb, white, white)",
            "color-mix(in oklab, white 100%, black)",
            "light-dark(white, black)",
            "rgb(from white r g b)",
            "rgb(calc(200 + 55) 255 255)",
            "canvas",
        ] {
            assert_eq!(read(text), Some(Some(WHITE)), "{text}");
        }
        assert_eq!(read("hsl(240,100%,50%)"), read("blue"));
        assert_eq!(read("oklch(62.8% 0.2577 29.23)"), read("red"));
        assert_eq!(Ink::parse_attribute("00FF00"), read("lime").flatten());
        assert_eq!(Ink::parse_attribute("#0f0"), read("lime").flatten());
        assert_eq!(Ink::parse_attribute("zzzzzz"), read("black").flatten());
        for text in ["", "#", "#ff", "#ggg", "rgb(1,2)", "rgb(a,b,c)", "bogus", "é", "rgb(1px 2 3)"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn near_is_the_same_and_grey_is_not() {
        let ink = |text| read(text).flatten().unwrap();
        assert!(ink("#fefefe").vanishes_on(WHITE) && ink("whitesmoke").vanishes_on(WHITE));
        assert!(!ink("#ddd").vanishes_on(WHITE) && !ink("#222").vanishes_on(BLACK));
        assert!(!ink("#999").vanishes_on(WHITE));
        assert!(ink("rgba(0,0,0,0.01)").vanishes_on(WHITE) && ink("transparent").is_clear());
    }
}
