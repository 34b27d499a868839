//! Colours, and whether text of one can be told from what lies behind it.

use cssparser::{Parser, Token};

use super::value::{attempt, block, is_one_of};

/// A colour in sRGB: red, green, blue and opacity, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour([f32; 4]);

/// What a property for colours says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Paint {
    Known(Colour),
    /// `currentcolor`.
    Current,
    /// A colour that is not worked out here, or a picture.
    Unknown,
}

impl Paint {
    /// The colour, where text has the colour `current`.
    pub(super) fn known(self, current: Option<Colour>) -> Option<Colour> {
        match self {
            Self::Known(colour) => Some(colour),
            Self::Current => current,
            Self::Unknown => None,
        }
    }
}

impl Colour {
    pub(super) const WHITE: Self = Self([1.0, 1.0, 1.0, 1.0]);
    pub(super) const BLACK: Self = Self([0.0, 0.0, 0.0, 1.0]);
    /// `transparent`.
    pub(super) const CLEAR: Self = Self([0.0; 4]);
    /// What a browser paints a page with whose `color-scheme` is dark.
    pub(super) const DARK_PAGE: Self = Self([0.07, 0.07, 0.07, 1.0]);

    fn parse(text: &str) -> Option<Self> {
        let parsed = csscolorparser::parse(text).ok()?;
        let clamp = |it: f32| if it.is_finite() { it.clamp(0.0, 1.0) } else { 0.0 };
        Some(Self([parsed.r, parsed.g, parsed.b, parsed.a].map(clamp)))
    }

    /// So little opacity that nothing of it is seen.
    pub(super) fn is_clear(self) -> bool {
        let Self([_, _, _, alpha]) = self;
        alpha < CLEAR_ALPHA
    }

    /// The same with a share of its opacity.
    pub(super) fn faded(self, share: f32) -> Self {
        let Self([red, green, blue, alpha]) = self;
        Self([red, green, blue, alpha * share])
    }

    /// What is seen where it lies over `below`; not known if it lets through what is not known.
    pub(super) fn over(self, below: Option<Self>) -> Option<Self> {
        let Self([r, g, b, alpha]) = self;
        let Some(Self([x, y, z, _])) = below else {
            return (alpha > 1.0 - CLEAR_ALPHA).then_some(self);
        };
        let mix = |one: f32, other: f32| one * alpha + other * (1.0 - alpha);
        Some(Self([mix(r, x), mix(g, y), mix(b, z), 1.0]))
    }

    /// Can nobody tell it from `ground`, being painted over it?
    pub(super) fn vanishes_on(self, ground: Self) -> bool {
        let Some(Self([r, g, b, _])) = self.over(Some(ground)) else { return false };
        let Self([x, y, z, _]) = ground;
        (r - x).abs() + (g - y).abs() + (b - z).abs() <= APART_MAX
    }
}

/// Parses one colour.
pub(super) fn paint(input: &mut Parser<'_>) -> Option<Paint> {
    let start = input.position();
    match input.next().cloned() {
        Ok(Token::Hash(digits) | Token::IDHash(digits)) => {
            Colour::parse(&format!("#{digits}")).map(Paint::Known)
        }
        Ok(Token::Ident(name)) => match &*name.to_ascii_lowercase() {
            "currentcolor" => Some(Paint::Current),
            name if is_one_of(SYSTEM, name) => Some(Paint::Unknown),
            // The parser of colours takes digits without their sign, too.
            name if name.bytes().all(|it| it.is_ascii_hexdigit()) => None,
            name => Colour::parse(name).map(Paint::Known),
        },
        Ok(Token::Function(name)) if name.eq_ignore_ascii_case("color-mix") => {
            Some(block(input, flat).flatten().unwrap_or(Paint::Unknown))
        }
        Ok(Token::Function(name)) if is_one_of(FUNCTIONS, &name.to_ascii_lowercase()) => {
            block(input, |_| ())?;
            let mut text = input.slice_from(start).trim().to_ascii_lowercase();
            if text.starts_with("hsl(from") || text.starts_with("hwb(from") {
                // There, numbers are percentages.
                text.retain(|it| it != '%');
            }
            let short = Some(text).filter(|it| it.len() <= FUNCTION_BYTES_MAX);
            Some(short.and_then(|it| Colour::parse(&it)).map_or(Paint::Unknown, Paint::Known))
        }
        _ => None,
    }
}

/// Parses one image: nothing for `none`, the colour of a gradient of one colour, and else something unknown.
pub(super) fn image(input: &mut Parser<'_>) -> Option<Option<Paint>> {
    match input.next().cloned() {
        Ok(Token::UnquotedUrl(_)) => Some(Some(Paint::Unknown)),
        Ok(Token::Ident(name)) => name.eq_ignore_ascii_case("none").then_some(None),
        Ok(Token::Function(name)) => {
            let name = name.to_ascii_lowercase();
            let only = block(input, flat).flatten().unwrap_or(Paint::Unknown);
            if name.ends_with("gradient") {
                return Some(Some(only));
            }
            is_one_of(IMAGES, &name).then_some(Some(Paint::Unknown))
        }
        _ => None,
    }
}

/// The colour of a gradient, if it is one throughout.
fn flat(input: &mut Parser<'_>) -> Option<Paint> {
    let mut only: Option<Paint> = None;
    while !input.is_exhausted() {
        match attempt(input, paint) {
            Some(found) if only.is_none_or(|it| it == found) => only = Some(found),
            Some(_) => return None,
            None => drop(input.next().is_ok()),
        }
    }
    only
}

/// Sums of the differences of red, green and blue up to which two colours look the same.
const APART_MAX: f32 = 48.0 / 255.0;
/// Less opacity than this leaves nothing of a colour.
const CLEAR_ALPHA: f32 = 0.05;
/// Bytes of a function that is worked out.
const FUNCTION_BYTES_MAX: usize = 256;
/// Functions that make a colour, worked out or not.
const FUNCTIONS: &str =
    "rgb rgba hsl hsla hwb lab lch oklab oklch color light-dark contrast-color device-cmyk";
/// Functions that make a picture.
const IMAGES: &str = "url src image image-set -webkit-image-set cross-fade element paint";
/// Colours of the system.
const SYSTEM: &str = "canvas canvastext linktext visitedtext activetext buttonface buttontext buttonborder field \
    fieldtext highlight highlighttext graytext mark marktext accentcolor accentcolortext";
