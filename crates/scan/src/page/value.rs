//! Numbers and lengths of CSS, and transforms.

use cssparser::{ParseError, Parser, Token};

/// A sum of a number, of pixels, and of hundredths of whatever the property refers to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Length {
    number: f32,
    pub(super) px: f32,
    pub(super) percent: f32,
}

/// What lengths are counted by: the size of letters here and that of the page.
#[derive(Clone, Copy)]
pub(super) struct Units {
    pub(super) font: f32,
    pub(super) root: f32,
}

impl Length {
    pub(super) const ZERO: Self = Self { number: 0.0, px: 0.0, percent: 0.0 };

    /// In pixels, beside something of `whole` pixels.
    pub(super) fn of(self, whole: f32) -> f32 {
        self.px + self.percent / 100.0 * whole
    }

    fn plus(self, by: f32, other: Self) -> Self {
        Self {
            number: self.number + by * other.number,
            px: self.px + by * other.px,
            percent: self.percent + by * other.percent,
        }
    }

    fn as_number(self) -> Option<f32> {
        (self.px == 0.0).then_some(self.number + self.percent / 100.0)
    }
}

/// Parses a length or a percentage.
pub(super) fn length(input: &mut Parser<'_>, units: Units) -> Option<Length> {
    amount(input, units).filter(|it| it.number == 0.0)
}

/// Parses a number; a percentage is a part of one.
pub(super) fn number(input: &mut Parser<'_>, units: Units) -> Option<f32> {
    amount(input, units)?.as_number()
}

/// Numbers and lengths, with commas or without, to the end.
pub(super) fn amounts(input: &mut Parser<'_>, units: Units) -> Option<Vec<Length>> {
    let mut all = Vec::new();
    while !input.is_exhausted() && all.len() < AMOUNTS_MAX {
        all.push(amount(input, units)?);
        let _ = input.try_parse(|it| it.expect_comma());
    }
    Some(all)
}

fn amount(input: &mut Parser<'_>, units: Units) -> Option<Length> {
    let sum = |it: &mut Parser<'_>| sum(it, units);
    match input.next().cloned() {
        Ok(Token::Number { value, .. }) => Some(Length { number: value, ..Length::ZERO }),
        Ok(Token::Percentage { unit_value, .. }) => {
            Some(Length { percent: unit_value * 100.0, ..Length::ZERO })
        }
        Ok(Token::Dimension { value, unit, .. }) => {
            Some(Length { px: value * pixels(&unit.to_ascii_lowercase(), units)?, ..Length::ZERO })
        }
        Ok(Token::ParenthesisBlock) => nested(input, sum),
        Ok(Token::Function(name)) => match &*name.to_ascii_lowercase() {
            "calc" | "-webkit-calc" => nested(input, sum),
            name if is_one_of("min max clamp", name) => {
                let mut all = nested(input, |it| list(it, sum))?;
                let about = |it: &Length| it.number + it.of(SCREEN_WIDTH);
                all.sort_by(|one, other| about(one).total_cmp(&about(other)));
                let at = ["min", "clamp"].iter().position(|it| *it == name);
                all.get(at.unwrap_or(all.len().saturating_sub(1))).copied()
            }
            _ => None,
        },
        _ => None,
    }
}

/// What `parse` makes of the brackets that were just opened; the rest of them is passed over.
pub(super) fn block<T>(
    input: &mut Parser<'_>,
    parse: impl FnOnce(&mut Parser<'_>) -> T,
) -> Option<T> {
    let whole = input.parse_nested_block(|it| {
        let found = parse(it);
        rest(it);
        Ok::<_, ParseError<()>>(found)
    });
    whole.ok()
}

/// The same if nothing is left in them.
fn nested<T>(
    input: &mut Parser<'_>,
    parse: impl FnOnce(&mut Parser<'_>) -> Option<T>,
) -> Option<T> {
    block(input, |it| parse(it).filter(|_| it.is_exhausted())).flatten()
}

/// What is left, as it stands.
pub(super) fn rest<'i>(input: &mut Parser<'i>) -> &'i str {
    let start = input.position();
    while input.next().is_ok() {}
    input.slice_from(start)
}

/// A list with commas.
pub(super) fn list<T>(
    input: &mut Parser<'_>,
    one: impl Fn(&mut Parser<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let one = |it: &mut Parser<'_>| one(it).ok_or(ParseError::<()>::unexpected_token());
    input.parse_comma_separated(one).ok()
}

/// Tries to parse something, and leaves the input as it was if it is something else.
pub(super) fn attempt<T>(
    input: &mut Parser<'_>,
    parse: impl FnOnce(&mut Parser<'_>) -> Option<T>,
) -> Option<T> {
    input.try_parse(|it| parse(it).ok_or(())).ok()
}

/// Parses a word, in small letters.
pub(super) fn word(input: &mut Parser<'_>) -> Option<String> {
    input.try_parse(|it| it.expect_ident_cloned()).ok().map(|it| it.to_ascii_lowercase())
}

/// Is it one of the words of a list?
pub(super) fn is_one_of(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

fn sum(input: &mut Parser<'_>, units: Units) -> Option<Length> {
    let mut whole = product(input, units)?;
    loop {
        // A comma ends it; whoever reads the list sees anything else.
        let by = match () {
            () if delim(input, '+') => 1.0,
            () if delim(input, '-') => -1.0,
            () => return Some(whole),
        };
        whole = whole.plus(by, product(input, units)?);
    }
}

fn delim(input: &mut Parser<'_>, sign: char) -> bool {
    input.try_parse(|it| it.expect_delim(sign)).is_ok()
}

fn product(input: &mut Parser<'_>, units: Units) -> Option<Length> {
    let mut whole = amount(input, units)?;
    loop {
        let by = match () {
            () if delim(input, '*') => amount(input, units)?,
            () if delim(input, '/') => {
                Length { number: 1.0 / number(input, units)?, ..Length::ZERO }
            }
            () => return Some(whole),
        };
        let (length, by) = if by.of(1.0) == 0.0 { (whole, by) } else { (by, whole) };
        whole = Length::ZERO.plus(by.as_number()?, length);
    }
}

fn pixels(unit: &str, Units { font, root }: Units) -> Option<f32> {
    Some(match unit.trim_start_matches(['s', 'l', 'd']) {
        "px" => 1.0,
        "pt" => 4.0 / 3.0,
        "pc" => 16.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 9.6 / 2.54,
        "vw" | "vi" | "vmax" | "cqw" | "cqi" => SCREEN_WIDTH / 100.0,
        "vh" | "vb" | "vmin" | "cqh" | "cqb" => SCREEN_HEIGHT / 100.0,
        "em" => font,
        "ex" | "ch" => font / 2.0,
        "rem" => root,
        _ => return None,
    })
}

/// What `transform`, `translate` and `scale` do to a box, as far as it may be lost from sight by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transform {
    pub(super) x: Length,
    pub(super) y: Length,
    /// How wide and how high it is left.
    scale: (f32, f32),
}

impl Transform {
    pub(super) const NONE: Self = Self { x: Length::ZERO, y: Length::ZERO, scale: (1.0, 1.0) };

    /// Both, one after the other.
    pub(super) fn then(self, other: Self) -> Self {
        let scale = (self.scale.0 * other.scale.0, self.scale.1 * other.scale.1);
        Self { x: self.x.plus(1.0, other.x), y: self.y.plus(1.0, other.y), scale }
    }

    /// How much it leaves of the side that it leaves least of.
    pub(super) fn least(&self) -> f32 {
        self.scale.0.abs().min(self.scale.1.abs())
    }

    /// Parses the functions of `transform`.
    pub(super) fn parse(input: &mut Parser<'_>, units: Units) -> Option<Self> {
        let mut whole = Self::NONE;
        while !input.is_exhausted() {
            let name = input.expect_function().ok()?.to_ascii_lowercase();
            let known = block(input, |it| amounts(it, units))?;
            // Turns are not followed.
            if !TURNS.iter().any(|it| name.starts_with(it)) {
                whole = whole.then(Self::of(&name, &known?)?);
            }
        }
        Some(whole)
    }

    /// One function of these values.
    pub(super) fn of(name: &str, values: &[Length]) -> Option<Self> {
        let at = |it: usize| values.get(it).copied().unwrap_or_default();
        let number = |it: usize| values.get(it)?.as_number();
        let (x, y) = match name {
            "translate" | "translate3d" => (at(0), at(1)),
            "translatex" => (at(0), Length::ZERO),
            "translatey" => (Length::ZERO, at(0)),
            "matrix" => (at(4), at(5)),
            "matrix3d" => (at(12), at(13)),
            _ => (Length::ZERO, Length::ZERO),
        };
        let scale = match name {
            "scale" | "scale3d" => (number(0)?, number(1).or(number(0))?),
            "scalex" => (number(0)?, 1.0),
            "scaley" => (1.0, number(0)?),
            "matrix" => pressed(number(0)?, number(1)?, number(2)?, number(3)?),
            "matrix3d" => pressed(number(0)?, number(1)?, number(4)?, number(5)?),
            _ => (1.0, 1.0),
        };
        let px = |it: Length| Length { number: 0.0, px: it.px + it.number, ..it };
        let known = is_one_of(FUNCTIONS, name) && !values.is_empty();
        known.then_some(Self { x: px(x), y: px(y), scale })
    }
}

/// How wide and how high a matrix leaves a box. What is pressed into a line has no area.
fn pressed(a: f32, b: f32, c: f32, d: f32) -> (f32, f32) {
    if (a * d - b * c).abs() < FLAT { (0.0, 0.0) } else { (a.hypot(b), c.hypot(d)) }
}

/// The screen that a page is judged for, in pixels.
pub(super) const SCREEN_WIDTH: f32 = 1280.0;
pub(super) const SCREEN_HEIGHT: f32 = 720.0;
/// The size of letters that nobody changed.
pub(super) const FONT_PX: f32 = 16.0;
/// Functions that move or scale, and how the names of others begin.
const FUNCTIONS: &str =
    "translate translate3d translatex translatey scale scale3d scalex scaley matrix matrix3d";
const TURNS: [&str; 5] = ["rotate", "skew", "translatez", "scalez", "perspective"];
/// A matrix of a smaller determinant leaves a line.
const FLAT: f32 = 1e-4;
/// Numbers of one function that are looked at.
pub(super) const AMOUNTS_MAX: usize = 256;
