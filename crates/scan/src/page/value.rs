//! Numbers and lengths of CSS, and what is made of them: places, sizes, shapes and transforms.

use cssparser::{ParseError, Parser, Token};

/// A length as far as it is known without layout: a sum of parts in their units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Length {
    pub(super) px: f32,
    pub(super) em: f32,
    pub(super) rem: f32,
    /// Of whatever the property refers to, in hundredths.
    pub(super) percent: f32,
}

/// A number or a length, as they stand in `calc()`.
#[derive(Clone, Copy, Debug)]
enum Amount {
    Number(f32),
    Length(Length),
}

impl Length {
    pub(super) fn of_px(px: f32) -> Self {
        Self { px, ..Self::default() }
    }

    /// In pixels, in text of `font` pixels on a page of `root`, beside something of `whole` pixels.
    pub(super) fn resolve(self, font: f32, root: f32, whole: f32) -> f32 {
        self.px + self.em * font + self.rem * root + self.percent / 100.0 * whole
    }

    /// In pixels, in text of the usual size, in a box as wide as the screen.
    pub(super) fn about(self) -> f32 {
        self.resolve(FONT_PX, FONT_PX, SCREEN_WIDTH)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            px: self.px + other.px,
            em: self.em + other.em,
            rem: self.rem + other.rem,
            percent: self.percent + other.percent,
        }
    }

    fn times(self, by: f32) -> Self {
        let Self { px, em, rem, percent } = self;
        Self { px: px * by, em: em * by, rem: rem * by, percent: percent * by }
    }
}

/// Parses a length or a percentage.
pub(super) fn length(input: &mut Parser<'_>) -> Option<Length> {
    match amount(input)? {
        Amount::Length(length) => Some(length),
        Amount::Number(number) => (number == 0.0).then(Length::default),
    }
}

/// Parses a number; a percentage is a part of one.
pub(super) fn number(input: &mut Parser<'_>) -> Option<f32> {
    match amount(input)? {
        Amount::Number(number) => Some(number),
        Amount::Length(it) => (it == Length { percent: it.percent, ..Length::default() })
            .then_some(it.percent / 100.0),
    }
}

fn amount(input: &mut Parser<'_>) -> Option<Amount> {
    let token = input.next().ok()?.clone();
    if let Token::Number { value, .. } = token {
        return Some(Amount::Number(value));
    }
    if let Token::Percentage { unit_value, .. } = token {
        let percent = unit_value * 100.0;
        return Some(Amount::Length(Length { percent, ..Length::default() }));
    }
    if let Token::Dimension { value, unit, .. } = &token {
        return dimension(*value, &unit.to_ascii_lowercase()).map(Amount::Length);
    }
    if matches!(token, Token::ParenthesisBlock) {
        return nested(input, sum);
    }
    let Token::Function(name) = &token else { return None };
    let name = name.to_ascii_lowercase();
    match name.as_str() {
        "calc" | "-webkit-calc" => nested(input, sum),
        "min" | "max" | "clamp" => nested(input, |it| chosen(&name, list(it, sum)?)),
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
        while it.next().is_ok() {}
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

/// A list with commas.
pub(super) fn list<T>(
    input: &mut Parser<'_>,
    one: impl Fn(&mut Parser<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    let one = |it: &mut Parser<'_>| one(it).ok_or(ParseError::<()>::unexpected_token());
    input.parse_comma_separated(one).ok()
}

/// Of several the smallest, the largest, or the middle one.
fn chosen(name: &str, mut all: Vec<Amount>) -> Option<Amount> {
    let size = |it: &Amount| match it {
        Amount::Number(number) => *number,
        Amount::Length(length) => length.about(),
    };
    all.sort_by(|one, other| size(one).total_cmp(&size(other)));
    match name {
        "min" => all.first().copied(),
        "max" => all.last().copied(),
        _ => all.get(1).copied().filter(|_| all.len() == 3),
    }
}

fn sum(input: &mut Parser<'_>) -> Option<Amount> {
    let mut whole = product(input)?;
    while !input.is_exhausted() {
        let minus = match input.try_parse(|it| it.expect_delim('+')) {
            Ok(()) => false,
            Err(_) if input.try_parse(|it| it.expect_delim('-')).is_ok() => true,
            // A comma ends it; whoever reads the list sees anything else.
            Err(_) => return Some(whole),
        };
        let by = if minus { -1.0 } else { 1.0 };
        whole = match (whole, product(input)?) {
            (Amount::Number(one), Amount::Number(other)) => Amount::Number(one + by * other),
            (Amount::Length(one), Amount::Length(other)) => {
                Amount::Length(one.plus(other.times(by)))
            }
            (Amount::Number(_), Amount::Length(_)) | (Amount::Length(_), Amount::Number(_)) => {
                return None;
            }
        };
    }
    Some(whole)
}

fn product(input: &mut Parser<'_>) -> Option<Amount> {
    let mut whole = amount(input)?;
    loop {
        if input.try_parse(|it| it.expect_delim('*')).is_ok() {
            whole = match (whole, amount(input)?) {
                (Amount::Number(one), Amount::Number(other)) => Amount::Number(one * other),
                (Amount::Length(length), Amount::Number(by))
                | (Amount::Number(by), Amount::Length(length)) => Amount::Length(length.times(by)),
                (Amount::Length(_), Amount::Length(_)) => return None,
            };
        } else if input.try_parse(|it| it.expect_delim('/')).is_ok() {
            let Amount::Number(by) = amount(input)? else { return None };
            whole = match whole {
                Amount::Number(number) => Amount::Number(number / by),
                Amount::Length(length) => Amount::Length(length.times(1.0 / by)),
            };
        } else {
            return Some(whole);
        }
    }
}

fn dimension(value: f32, unit: &str) -> Option<Length> {
    let viewport = unit.trim_start_matches(['s', 'l', 'd']);
    let px = match viewport {
        "px" => 1.0,
        "pt" => 4.0 / 3.0,
        "pc" => 16.0,
        "in" => 96.0,
        "cm" => 96.0 / 2.54,
        "mm" => 9.6 / 2.54,
        "q" => 2.4 / 2.54,
        "vw" | "vi" | "vmax" | "cqw" | "cqi" | "cqmax" => SCREEN_WIDTH / 100.0,
        "vh" | "vb" | "vmin" | "cqh" | "cqb" | "cqmin" => SCREEN_HEIGHT / 100.0,
        _ => 0.0,
    };
    let (em, rem) = match unit {
        "em" => (1.0, 0.0),
        "ex" | "ch" => (0.5, 0.0),
        "cap" | "ic" | "lh" => (1.0, 0.0),
        "rem" | "rlh" => (0.0, 1.0),
        "rex" | "rch" => (0.0, 0.5),
        _ if px == 0.0 => return None,
        _ => (0.0, 0.0),
    };
    Some(Length { px, em, rem, percent: 0.0 }.times(value))
}

/// What `transform`, `translate` and `scale` do to a box, as far as it may be lost from sight by it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transform {
    pub(super) x: Length,
    pub(super) y: Length,
    /// How wide and how high it is left.
    pub(super) scale: (f32, f32),
}

impl Transform {
    pub(super) const NONE: Self = {
        let zero = Length { px: 0.0, em: 0.0, rem: 0.0, percent: 0.0 };
        Self { x: zero, y: zero, scale: (1.0, 1.0) }
    };

    /// Both, one after the other.
    pub(super) fn then(self, other: Self) -> Self {
        let scale = (self.scale.0 * other.scale.0, self.scale.1 * other.scale.1);
        Self { x: self.x.plus(other.x), y: self.y.plus(other.y), scale }
    }

    /// How much it leaves of the side that it leaves least of.
    pub(super) fn least(&self) -> f32 {
        self.scale.0.abs().min(self.scale.1.abs())
    }

    /// Parses one function of `transform`.
    pub(super) fn parse(input: &mut Parser<'_>) -> Option<Self> {
        let name = input.expect_function().ok()?.to_ascii_lowercase();
        let none = Self::NONE;
        nested(input, |it| match name.as_str() {
            "translate" | "translate3d" => Self::translate(it),
            "translatex" => Some(Self { x: length(it)?, ..none }),
            "translatey" => Some(Self { y: length(it)?, ..none }),
            "scale" | "scale3d" => Self::scale(it),
            "scalex" => Some(Self { scale: (number(it)?, 1.0), ..none }),
            "scaley" => Some(Self { scale: (1.0, number(it)?), ..none }),
            "matrix" | "matrix3d" => Self::matrix(&list(it, number)?),
            // Turns in space are not followed.
            "rotate" | "rotatex" | "rotatey" | "rotatez" | "rotate3d" | "skew" | "skewx"
            | "skewy" | "translatez" | "scalez" | "perspective" => {
                while it.next().is_ok() {}
                Some(none)
            }
            _ => None,
        })
    }

    /// Parses the values of `translate`, with or without commas.
    pub(super) fn translate(input: &mut Parser<'_>) -> Option<Self> {
        let (x, y) = pair(input, length)?;
        Some(Self { x, y: y.unwrap_or_default(), ..Self::NONE })
    }

    /// Parses the values of `scale`, with or without commas.
    pub(super) fn scale(input: &mut Parser<'_>) -> Option<Self> {
        let (across, down) = pair(input, number)?;
        Some(Self { scale: (across, down.unwrap_or(across)), ..Self::NONE })
    }

    fn matrix(numbers: &[f32]) -> Option<Self> {
        let (a, b, c, d, x, y) = match *numbers {
            [a, b, c, d, x, y] => (a, b, c, d, x, y),
            [a, b, _, _, c, d, _, _, _, _, _, _, x, y, _, _] => (a, b, c, d, x, y),
            _ => return None,
        };
        let scale = (a.hypot(b), c.hypot(d));
        // What is pressed into a line has no area.
        let scale = if (a * d - b * c).abs() < FLAT { (0.0, 0.0) } else { scale };
        Some(Self { x: Length::of_px(x), y: Length::of_px(y), scale })
    }
}

/// One value or two; a third does not matter.
fn pair<T>(
    input: &mut Parser<'_>,
    parse: impl Fn(&mut Parser<'_>) -> Option<T>,
) -> Option<(T, Option<T>)> {
    let first = parse(input)?;
    let _ = input.try_parse(|it| it.expect_comma());
    let second = if input.is_exhausted() { None } else { Some(parse(input)?) };
    while input.next().is_ok() {}
    Some((first, second))
}

/// Parses a shape of `clip` or `clip-path`: does it leave nothing? `None` if it is no shape.
pub(super) fn shape_is_empty(input: &mut Parser<'_>) -> Option<bool> {
    let name = input.expect_function().ok()?.to_ascii_lowercase();
    let mut sides: Vec<f32> = Vec::new();
    let mut at: Option<usize> = None;
    // By lines that are not followed.
    let mut drawn = false;
    block(input, |it| {
        while !it.is_exhausted() && sides.len() < POINTS_MAX {
            if let Ok(found) = it.try_parse(|it| length(it).ok_or(())) {
                sides.push(found.about());
            } else if let Ok(word) = it.try_parse(|it| it.expect_ident_cloned()) {
                match word.to_ascii_lowercase().as_str() {
                    "at" => at = Some(sides.len()),
                    "round" => break,
                    "left" | "top" => sides.push(0.0),
                    "right" | "bottom" => sides.push(SCREEN_WIDTH),
                    "center" | "closest-side" | "farthest-side" => sides.push(MIDDLE),
                    "by" | "hline" | "vline" | "curve" | "smooth" | "arc" => drawn = true,
                    _ => {}
                }
            } else {
                let _ = it.next();
            }
        }
    })?;
    let away = |low: f32, high: f32| high - low <= SPECK || high <= 0.0 || low >= SCREEN_WIDTH;
    let (radii, middle) = sides.split_at_checked(at.unwrap_or(sides.len()))?;
    match (name.as_str(), sides.as_slice()) {
        ("rect", [top, right, bottom, left]) => Some(away(*left, *right) || away(*top, *bottom)),
        ("xywh", [x, y, width, height, ..]) => Some(away(*x, x + width) || away(*y, y + height)),
        ("inset", [top, rest @ ..]) => {
            let right = *rest.first().unwrap_or(top);
            let bottom = *rest.get(1).unwrap_or(top);
            let left = *rest.get(2).unwrap_or(&right);
            Some(away(left, SCREEN_WIDTH - right) || away(*top, SCREEN_WIDTH - bottom))
        }
        ("circle" | "ellipse", _) => {
            let gone = |at: usize| {
                let radius = *radii.get(at).or(radii.first()).unwrap_or(&MIDDLE);
                let around = *middle.get(at).unwrap_or(&MIDDLE);
                away(around - radius, around + radius)
            };
            Some(gone(0) || gone(1))
        }
        ("polygon" | "shape", _) if !drawn => {
            let gone = |from: usize| {
                let all = sides.iter().skip(from).step_by(2).copied();
                away(all.clone().fold(f32::MAX, f32::min), all.fold(f32::MIN, f32::max))
            };
            Some(gone(0) || gone(1))
        }
        ("rect" | "inset" | "xywh" | "path" | "shape", _) => Some(false),
        _ => None,
    }
}

/// The screen that a page is judged for, in pixels.
pub(super) const SCREEN_WIDTH: f32 = 1280.0;
pub(super) const SCREEN_HEIGHT: f32 = 720.0;
/// The middle of a shape's box, which is taken to be as wide and as high as the screen is wide.
const MIDDLE: f32 = SCREEN_WIDTH / 2.0;
/// The size of letters that nobody changed.
pub(super) const FONT_PX: f32 = 16.0;
/// A box or a shape that is no wider shows nothing.
const SPECK: f32 = 2.0;
/// A matrix of a smaller determinant leaves a line.
const FLAT: f32 = 1e-4;
/// Numbers of one shape that are looked at.
const POINTS_MAX: usize = 256;
