//! Values of properties, each as its property has them.

use cssparser::{Parser, Token};

use super::colour::{Paint, paint};
use super::property::{Display, Position, Size};
use super::value::{
    AMOUNTS_MAX, FONT_PX, SCREEN_WIDTH, Transform, Units, amounts, attempt, block, is_one_of,
    length, list, number, rest, word,
};

/// What `parse` makes of the whole text.
pub(super) fn whole<T>(text: &str, parse: impl FnOnce(&mut Parser<'_>) -> Option<T>) -> Option<T> {
    let mut input = Parser::new(text);
    parse(&mut input).filter(|_| input.is_exhausted())
}

/// The parts of a value, as they stand.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut input = Parser::new(text);
    let mut parts = Vec::new();
    input.skip_whitespace();
    while parts.len() < 4 && !input.is_exhausted() {
        let start = input.position();
        if matches!(input.next(), Ok(Token::Function(_))) {
            let _ = block(&mut input, |_| ());
        }
        parts.push(input.slice_from(start));
        input.skip_whitespace();
    }
    parts
}

/// One word: of these it holds, of those it does not.
pub(super) fn flag(input: &mut Parser<'_>, yes: &str, no: &str) -> Option<bool> {
    let word = word(input)?;
    let holds = is_one_of(yes, &word);
    (holds || is_one_of(no, &word)).then_some(holds)
}

/// Does a value hold one of these words?
pub(super) fn has(input: &mut Parser<'_>, words: &str) -> Option<bool> {
    let text = rest(input).to_ascii_lowercase();
    Some(text.split([' ', ',']).any(|it| is_one_of(words, it)))
}

pub(super) fn none(input: &mut Parser<'_>) -> bool {
    attempt(input, |it| it.expect_ident_matching("none").ok()).is_some()
}

pub(super) fn overflow(input: &mut Parser<'_>, _: Units) -> Option<bool> {
    flag(input, "hidden clip scroll auto overlay", "visible")
}

pub(super) fn display(input: &mut Parser<'_>, _: Units) -> Option<Display> {
    let known = Some(match word(input)?.as_str() {
        "none" | "table-column" | "table-column-group" => Display::None,
        "contents" => Display::Contents,
        "flex" | "inline-flex" | "-webkit-flex" => Display::Flex,
        word => is_one_of(DISPLAYS, word).then_some(Display::Other)?,
    });
    // Of two words the first tells how the box stands among others.
    known.filter(|_| word(input).is_none_or(|it| is_one_of(DISPLAYS, &it)))
}

pub(super) fn position(input: &mut Parser<'_>, _: Units) -> Option<Position> {
    Some(match word(input)?.as_str() {
        "static" => Position::Static,
        "relative" | "sticky" | "-webkit-sticky" => Position::Relative,
        "absolute" => Position::Absolute,
        "fixed" => Position::Fixed,
        _ => return None,
    })
}

pub(super) fn size(input: &mut Parser<'_>, units: Units) -> Option<Size> {
    if let Some(found) = attempt(input, |it| length(it, units)) {
        // `hanging` and `each-line` of an indent.
        while word(input).is_some() {}
        return Some(Some(found));
    }
    match word(input) {
        Some(word) => (is_one_of(SIZES, &word) || word.starts_with('-')).then_some(None),
        None => {
            input.expect_function().ok()?;
            block(input, |_| None)
        }
    }
}

pub(super) fn line_height(input: &mut Parser<'_>, units: Units) -> Option<Option<f32>> {
    match attempt(input, |it| number(it, units)) {
        Some(times) => Some(Some(times * units.font)),
        None => Some(size(input, units)?.map(|it| it.px)),
    }
}

pub(super) fn font_size(input: &mut Parser<'_>, units: Units) -> Option<f32> {
    match attempt(input, |it| length(it, units)) {
        Some(found) => Some(found.of(units.font)),
        None => is_one_of(FONT_SIZES, &word(input)?).then_some(FONT_PX),
    }
}

/// The size in `font`: behind words, and before a family.
pub(super) fn font_shorthand(input: &mut Parser<'_>, units: Units) -> Option<f32> {
    let mut words = 0;
    while !input.is_exhausted() {
        if let Some(size) = attempt(input, |it| font_size(it, units)) {
            if attempt(input, |it| it.expect_delim('/').ok()).is_some() {
                let _ = input.next();
            }
            return Some(size).filter(|_| !rest(input).trim().is_empty());
        }
        let _ = input.next();
        words += 1;
    }
    // One word alone is a font of the system.
    (words == 1).then_some(FONT_PX)
}

/// The opacity that filters leave, and whether they change colours.
pub(super) fn filter(input: &mut Parser<'_>, units: Units) -> Option<(f32, bool)> {
    let (mut opacity, mut recolours) = (1.0, false);
    if none(input) {
        return Some((opacity, recolours));
    }
    while !input.is_exhausted() {
        if input.try_parse(|it| it.expect_url()).is_ok() {
            recolours = true;
            continue;
        }
        let name = input.expect_function().ok()?.to_ascii_lowercase();
        let share = block(input, |it| number(it, units)).flatten();
        match name.as_str() {
            "opacity" => opacity *= share.unwrap_or(1.0).clamp(0.0, 1.0),
            name => recolours |= !is_one_of("drop-shadow blur saturate", name),
        }
    }
    Some((opacity, recolours))
}

/// Does a shape leave nothing?
pub(super) fn clip(input: &mut Parser<'_>, units: Units) -> Option<bool> {
    let mut empty = false;
    while !input.is_exhausted() {
        if let Some(found) = attempt(input, |it| shape_is_empty(it, units)) {
            empty |= found;
        } else if let Some(word) = word(input) {
            (is_one_of("auto none", &word) || word.ends_with("-box")).then_some(())?;
        } else {
            input.expect_url().ok()?;
        }
    }
    Some(empty)
}

/// Parses a shape of `clip` or `clip-path`: does it leave nothing? `None` if it is no shape.
fn shape_is_empty(input: &mut Parser<'_>, units: Units) -> Option<bool> {
    let name = input.expect_function().ok()?.to_ascii_lowercase();
    let mut sides: Vec<f32> = Vec::new();
    let mut at: Option<usize> = None;
    // By lines that are not followed.
    let mut drawn = name == "path";
    block(input, |it| {
        while !it.is_exhausted() && sides.len() < AMOUNTS_MAX {
            if let Some(found) = attempt(it, |it| length(it, units)) {
                sides.push(found.of(SCREEN_WIDTH));
                continue;
            }
            match word(it).as_deref() {
                Some("at") => at = Some(sides.len()),
                Some("round") => break,
                Some("left" | "top") => sides.push(0.0),
                Some("right" | "bottom") => sides.push(SCREEN_WIDTH),
                Some("center" | "closest-side" | "farthest-side") => sides.push(MIDDLE),
                Some("by" | "hline" | "vline" | "curve" | "smooth" | "arc") => drawn = true,
                Some(_) => {}
                None => drop(it.next().is_ok()),
            }
        }
    })?;
    let gone = |low: f32, high: f32| high - low <= SPECK || high <= 0.0 || low >= SCREEN_WIDTH;
    let side = |at: usize| sides.get(at).copied();
    Some(match (name.as_str(), sides.as_slice()) {
        ("rect", [top, right, bottom, left]) => gone(*left, *right) || gone(*top, *bottom),
        ("xywh", [x, y, width, height, ..]) => gone(*x, x + width) || gone(*y, y + height),
        ("inset", [top, ..]) => {
            let right = side(1).unwrap_or(*top);
            let (bottom, left) = (side(2).unwrap_or(*top), side(3).unwrap_or(right));
            gone(left, SCREEN_WIDTH - right) || gone(*top, SCREEN_WIDTH - bottom)
        }
        ("circle" | "ellipse", _) => (0..2).any(|axis| {
            let middle = at.unwrap_or(sides.len());
            let radius = sides.iter().take(middle).take(axis + 1).next_back().unwrap_or(&MIDDLE);
            let around = side(middle + axis).unwrap_or(MIDDLE);
            gone(around - radius, around + radius)
        }),
        ("polygon" | "shape", _) if !drawn => (0..2).any(|axis| {
            let all = sides.iter().skip(axis).step_by(2).copied();
            gone(all.clone().fold(f32::MAX, f32::min), all.fold(f32::MIN, f32::max))
        }),
        ("rect" | "inset" | "xywh" | "path" | "shape", _) => false,
        _ => return None,
    })
}

pub(super) fn transform(name: &str, input: &mut Parser<'_>, units: Units) -> Option<Transform> {
    if none(input) {
        return Some(Transform::NONE);
    }
    if name.is_empty() {
        Transform::parse(input, units)
    } else {
        Transform::of(name, &amounts(input, units)?)
    }
}

/// The colour of a shadow that can be read in the place of the letters.
pub(super) fn text_shadow(input: &mut Parser<'_>, units: Units) -> Option<Option<Paint>> {
    if none(input) {
        return Some(None);
    }
    let all = list(input, |it| {
        let (mut ink, mut places) = (Paint::Current, Vec::new());
        while !it.is_exhausted() {
            match attempt(it, |it| length(it, units)) {
                Some(long) => places.push(long.px.abs()),
                None => ink = paint(it)?,
            }
        }
        let far = [SHADOW_PX_MAX, SHADOW_PX_MAX, BLUR_PX_MAX];
        Some(places.iter().zip(far).all(|(px, most)| *px <= most).then_some(ink))
    })?;
    Some(all.into_iter().flatten().next_back())
}

/// A shadow that lies further away is not read as the text, nor one that is blurred more.
const SHADOW_PX_MAX: f32 = 100.0;
const BLUR_PX_MAX: f32 = 8.0;

/// Words that properties know, beside those that matter.
const DISPLAYS: &str = "block inline inline-block grid inline-grid flow-root flow list-item table inline-table \
    table-row table-cell table-row-group table-header-group table-footer-group table-caption ruby ruby-text ruby-base \
    run-in math -webkit-box -webkit-inline-box -ms-flexbox -ms-grid";
const SIZES: &str = "auto none normal content stretch fit-content min-content max-content";
const FONT_SIZES: &str =
    "xx-small x-small small medium large x-large xx-large xxx-large math smaller larger";
/// The middle of a shape's box, which is taken to be as wide and as high as the screen is wide.
const MIDDLE: f32 = SCREEN_WIDTH / 2.0;
/// A box or a shape that is no wider shows nothing.
const SPECK: f32 = 2.0;
