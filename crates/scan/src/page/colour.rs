//! Colours, and whether text of one can be told from what lies behind it.

use cssparser::{Parser, Token};

use super::value::block;

/// A colour in sRGB: red, green, blue and opacity, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour([f32; 4]);

/// What a property for colours says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Paint {
    Known(Colour),
    /// `currentcolor`.
    Current,
    /// A colour that is not worked out here.
    Unknown,
}

/// What lies on the background colour of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Image {
    None,
    /// A gradient of one colour.
    Flat(Paint),
    /// A picture, or a gradient of several colours.
    Picture,
}

impl Colour {
    pub(super) const WHITE: Self = Self([1.0, 1.0, 1.0, 1.0]);
    pub(super) const BLACK: Self = Self([0.0, 0.0, 0.0, 1.0]);
    /// `transparent`.
    pub(super) const CLEAR: Self = Self([0.0; 4]);
    /// What a browser paints a page with whose `color-scheme` is dark.
    pub(super) const DARK_PAGE: Self = Self([0.07, 0.07, 0.07, 1.0]);
    /// A link that nobody followed.
    pub(super) const LINK: Self = Self([0.0, 0.0, 0.93, 1.0]);

    fn parse(text: &str) -> Option<Self> {
        let parsed = csscolorparser::parse(text).ok()?;
        let all = [parsed.r, parsed.g, parsed.b, parsed.a];
        let clamp = |it: f32| if it.is_finite() { it.clamp(0.0, 1.0) } else { 0.0 };
        Some(Self(all.map(clamp)))
    }

    /// A colour in an attribute such as `bgcolor`: a name, or digits with or without their sign.
    pub(super) fn of_attribute(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = text.strip_prefix('#').unwrap_or(text);
        let plain =
            text.len() <= ATTRIBUTE_BYTES_MAX && plain.bytes().all(|it| it.is_ascii_alphanumeric());
        plain.then(|| Self::parse(text)).flatten()
    }

    fn alpha(self) -> f32 {
        let Self([_, _, _, alpha]) = self;
        alpha
    }

    /// So little opacity that nothing of it is seen.
    pub(super) fn is_clear(self) -> bool {
        self.alpha() < CLEAR_ALPHA
    }

    /// So much that nothing below it is seen.
    pub(super) fn is_opaque(self) -> bool {
        self.alpha() > 1.0 - CLEAR_ALPHA
    }

    /// The same with a share of its opacity.
    pub(super) fn faded(self, share: f32) -> Self {
        let Self([red, green, blue, alpha]) = self;
        Self([red, green, blue, alpha * share])
    }

    /// What is seen where it lies over `below`.
    pub(super) fn over(self, below: Self) -> Self {
        let (Self([r, g, b, alpha]), Self([x, y, z, _])) = (self, below);
        let mix = |one: f32, other: f32| one * alpha + other * (1.0 - alpha);
        Self([mix(r, x), mix(g, y), mix(b, z), 1.0])
    }

    /// Can nobody tell it from `ground`, being painted over it?
    pub(super) fn vanishes_on(self, ground: Self) -> bool {
        let (Self([r, g, b, _]), Self([x, y, z, _])) = (self.over(ground), ground);
        (r - x).abs() + (g - y).abs() + (b - z).abs() <= APART_MAX
    }
}

/// Parses one colour.
pub(super) fn paint(input: &mut Parser<'_>) -> Option<Paint> {
    let start = input.position();
    let token = input.next().ok()?.clone();
    if let Token::Hash(digits) | Token::IDHash(digits) = &token {
        return Colour::parse(&format!("#{digits}")).map(Paint::Known);
    }
    if let Token::Ident(name) = &token {
        let name = name.to_ascii_lowercase();
        return match name.as_str() {
            "currentcolor" => Some(Paint::Current),
            name if SYSTEM.split_ascii_whitespace().any(|it| it == name) => Some(Paint::Unknown),
            // The parser of colours takes digits without their sign, too.
            _ if name.bytes().all(|it| it.is_ascii_hexdigit()) => None,
            _ => Colour::parse(&name).map(Paint::Known),
        };
    }
    let Token::Function(name) = &token else { return None };
    let known = match name.to_ascii_lowercase().as_str() {
        "rgb" | "rgba" | "hsl" | "hsla" | "hwb" | "lab" | "lch" | "oklab" | "oklch" | "color" => {
            true
        }
        "light-dark" | "contrast-color" | "device-cmyk" => false,
        "color-mix" => {
            return Some(block(input, flat).flatten().unwrap_or(Paint::Unknown));
        }
        _ => return None,
    };
    block(input, |_| ())?;
    let mut text = input.slice_from(start).trim().to_ascii_lowercase();
    if text.starts_with("hsl(from") || text.starts_with("hwb(from") {
        // There, numbers are percentages.
        text.retain(|it| it != '%');
    }
    let colour =
        (known && text.len() <= FUNCTION_BYTES_MAX).then(|| Colour::parse(&text)).flatten();
    Some(colour.map_or(Paint::Unknown, Paint::Known))
}

/// Parses one image: a gradient, an address or a function that makes a picture.
pub(super) fn image(input: &mut Parser<'_>) -> Option<Image> {
    let token = input.next().ok()?.clone();
    if matches!(&token, Token::UnquotedUrl(_)) {
        return Some(Image::Picture);
    }
    if let Token::Ident(name) = &token {
        return name.eq_ignore_ascii_case("none").then_some(Image::None);
    }
    let Token::Function(name) = &token else { return None };
    let name = name.to_ascii_lowercase();
    if name.ends_with("gradient") {
        return Some(block(input, flat).flatten().map_or(Image::Picture, Image::Flat));
    }
    block(input, |_| ())?;
    IMAGES.split(' ').any(|it| it == name).then_some(Image::Picture)
}

/// The colour of a gradient, if it is one throughout.
fn flat(input: &mut Parser<'_>) -> Option<Paint> {
    let mut only: Option<Paint> = None;
    while !input.is_exhausted() {
        match input.try_parse(|it| paint(it).ok_or(())) {
            Ok(found) if only.is_none_or(|it| it == found) => only = Some(found),
            Ok(_) => return None,
            Err(()) => {
                let _ = input.next();
            }
        }
    }
    only
}

/// Sums of the differences of red, green and blue up to which two colours look the same.
const APART_MAX: f32 = 48.0 / 255.0;
/// Less opacity than this leaves nothing of a colour.
const CLEAR_ALPHA: f32 = 0.05;
/// Bytes of an attribute that can be a colour.
const ATTRIBUTE_BYTES_MAX: usize = 32;
/// Bytes of a function that is worked out.
const FUNCTION_BYTES_MAX: usize = 256;
/// Functions that make a picture.
const IMAGES: &str = "url src image image-set -webkit-image-set cross-fade element paint";
/// Colours of the system.
const SYSTEM: &str = "canvas canvastext linktext visitedtext activetext buttonface buttontext buttonborder field \
    fieldtext highlight highlighttext graytext mark marktext accentcolor accentcolortext";
