//! Values that cut or veil a box: do they leave anything of it to be seen?
//!
//! Each gives `None` for a value that browsers do not know either.

use super::colour::Ink;
use super::css::{Part, Token, component, components, split};
use super::gradient;
use super::letters::{is_image, leads_to_no_image};
use super::number::{Amount, Kind, length};
use super::value::{TINY_PIXELS, called};

type Items<'i, 'p, 'a> = &'i [&'p [Part<'a>]];

fn is_none(items: Items<'_, '_, '_>) -> bool {
    matches!(items, [one] if one.first().is_some_and(|it| it.is_word("none")))
}

/// `rect(0,0,0,0)`, `rect(1px 1px 1px 1px)` and their like: nothing is left between the edges.
pub(super) fn clip(item: &[Part<'_>]) -> Option<bool> {
    if item.first()?.is_word("auto") {
        return Some(false);
    }
    let (name, inside) = called(item)?;
    (name == "rect").then_some(())?;
    let edges: Vec<Option<f64>> = numbers(inside)?;
    let [top, right, bottom, left] = *edges.as_slice() else { return None };
    Some(is_gap(left, right) || is_gap(top, bottom))
}

fn is_gap(from: Option<f64>, to: Option<f64>) -> bool {
    matches!((from, to), (Some(from), Some(to)) if to - from <= TINY_PIXELS)
}

/// Lengths between blanks or commas, `None` in it for `auto`.
fn numbers(parts: &[Part<'_>]) -> Option<Vec<Option<f64>>> {
    components(parts)
        .filter(|it| !it.first().is_some_and(|it| it.is(',')))
        .map(|it| match length(it, false) {
            Some(it) => Some(Some(it.pixels())),
            None => it.first()?.is_word("auto").then_some(None),
        })
        .collect()
}

pub(super) fn path(items: Items<'_, '_, '_>) -> Option<bool> {
    if is_none(items) {
        return Some(false);
    }
    let boxes = [
        "border-box",
        "padding-box",
        "content-box",
        "margin-box",
        "fill-box",
        "stroke-box",
        "view-box",
    ];
    let mut hides = false;
    for item in items {
        let first = item.first()?;
        if boxes.iter().any(|it| first.is_word(it)) || matches!(first.token, Token::Url(_)) {
            continue;
        }
        let (name, inside) = called(item)?;
        hides |= is_empty(&name, inside)?;
    }
    Some(hides)
}

fn is_empty(name: &str, inside: &[Part<'_>]) -> Option<bool> {
    // The form of the corners does not matter, nor where the middle is.
    let words = components(inside)
        .take_while(|it| !it.first().is_some_and(|it| it.is_word("round") || it.is_word("at")));
    let numbers: Vec<Amount> = words.clone().filter_map(|it| length(it, false)).collect();
    let share = |at: usize| {
        numbers
            .get(at)
            .map_or(0.0, |it| if it.kind == Kind::Share { it.value } else { it.value / 10.0 })
    };
    match name {
        "inset" => {
            let across = if numbers.len() > 1 { share(1) } else { share(0) };
            let low = if numbers.len() > 2 { share(2) } else { share(0) };
            let left = if numbers.len() > 3 { share(3) } else { across };
            (1..=4)
                .contains(&numbers.len())
                .then_some(share(0) + low >= 99.5 || across + left >= 99.5)
        }
        "circle" | "ellipse" => {
            let small = numbers.iter().any(|it| it.pixels().abs() <= TINY_PIXELS);
            let middle: Vec<f64> = components(inside)
                .skip_while(|it| !it.first().is_some_and(|it| it.is_word("at")))
                .filter_map(|it| length(it, false).map(Amount::pixels))
                .collect();
            let wide = numbers.iter().map(|it| it.pixels()).fold(0.0, f64::max);
            let beside = |it: &f64| *it + wide <= 0.0 || *it - wide >= BOX_PIXELS;
            Some(small || (wide > 0.0 && middle.iter().any(beside)))
        }
        "polygon" => {
            let points: Vec<(f64, f64)> = split(inside, ',')
                .filter_map(|it| {
                    match *components(it).filter_map(|it| length(it, false)).collect::<Vec<_>>() {
                        [x, y] => Some((x.pixels(), y.pixels())),
                        _ => None,
                    }
                })
                .collect();
            (!points.is_empty()).then(|| area(&points) <= AREA_MIN || are_beside(&points))
        }
        "rect" => {
            let edges = self::numbers(inside.get(..).unwrap_or_default()).unwrap_or_default();
            let [top, right, bottom, left] = *edges.as_slice() else { return Some(false) };
            Some(is_gap(left, right) || is_gap(top, bottom))
        }
        "xywh" => match *numbers.as_slice() {
            [x, y, wide, high, ..] => {
                let (x, y) = (x.pixels(), y.pixels());
                let (wide, high) = (wide.pixels(), high.pixels());
                let small = wide <= TINY_PIXELS || high <= TINY_PIXELS;
                Some(small || are_beside(&[(x, y), (x + wide, y + high)]))
            }
            _ => None,
        },
        "path" => Some(path_text(inside)),
        "shape" => {
            let numbers = self::numbers_of(inside);
            Some(!numbers.is_empty() && numbers.iter().all(|it| *it <= TINY_PIXELS))
        }
        "url" => Some(false),
        _ => None,
    }
}

/// The area between points, of a box of a thousand by a thousand.
fn area(points: &[(f64, f64)]) -> f64 {
    let next = points.iter().cycle().skip(1);
    let twice: f64 = points.iter().zip(next).map(|(a, b)| a.0 * b.1 - b.0 * a.1).sum();
    (twice / 2.0).abs()
}

/// Do all points lie to the same side of the box?
fn are_beside(points: &[(f64, f64)]) -> bool {
    points.iter().all(|it| it.0 <= 0.0)
        || points.iter().all(|it| it.1 <= 0.0)
        || points.iter().all(|it| it.0 >= BOX_PIXELS)
}

fn numbers_of(parts: &[Part<'_>]) -> Vec<f64> {
    components(parts).filter_map(|it| length(it, false).map(Amount::pixels)).collect()
}

/// A drawn path of which no number leads anywhere, or that begins beside the box and does not come near it.
fn path_text(inside: &[Part<'_>]) -> bool {
    inside.iter().filter_map(Part::text).any(|text| {
        let words = text.split(|it: char| !(it.is_ascii_digit() || matches!(it, '.' | '-')));
        let numbers: Vec<f64> = words.filter_map(|it| it.parse().ok()).collect();
        let most = numbers.iter().skip(2).map(|it| it.abs()).fold(0.0, f64::max);
        let beside = numbers.iter().take(2).any(|it| *it < 0.0 && most < it.abs());
        beside || numbers.iter().all(|it| it.abs() <= TINY_PIXELS)
    })
}

/// A size of which one side is nothing.
pub(super) fn is_nothing(items: &[&[Part<'_>]]) -> bool {
    items.iter().any(|it| length(it, false).is_some_and(|it| it.pixels() <= TINY_PIXELS))
}

/// A path that leads to where nobody looks.
pub(super) fn leads_away(item: &[Part<'_>]) -> bool {
    let Some((_, inside)) = called(item).filter(|it| it.0 == "path") else { return false };
    inside.iter().filter_map(Part::text).any(|text| {
        let numbers = text.split(|it: char| !(it.is_ascii_digit() || matches!(it, '.' | '-')));
        let mut numbers = numbers.filter_map(|it| it.parse::<f64>().ok());
        numbers.any(|it| it <= -AWAY_PIXELS || it >= AWAY_PIXELS)
    })
}

/// What a mask leaves.
pub(super) struct Mask {
    /// All of its colours are clear, or it has no size.
    pub(super) hides: bool,
    /// All of them are dark.
    pub(super) dark: bool,
    /// There are several, and nothing of them is clear.
    pub(super) twice: bool,
}

pub(super) fn mask(value: &[Part<'_>]) -> Option<Mask> {
    let mut behind = components(value).skip_while(|it| !it.first().is_some_and(|it| it.is('/')));
    let _slash = behind.next();
    let flat = is_nothing(&behind.take(2).collect::<Vec<_>>());
    let (mut clear, mut dark, mut solid) = (true, true, true);
    let mut images = 0_usize;
    let mut plain = 0_usize;
    let mut rest = value;
    while let Some((item, after)) = component(rest) {
        rest = after;
        if is_image(item) {
            images += 1;
            clear &= gradient::is_clear(item);
            dark &= has_only(item, Ink::is_dark);
            solid &= has_only(item, Ink::is_solid);
        } else if leads_to_no_image(item) {
            // What cannot be shown is clear all over.
            images += 1;
            (dark, solid) = (false, false);
        } else if item.first().is_some_and(|it| it.is_word("none")) {
            plain += 1;
        }
    }
    match (images, plain) {
        (0, 0) => None,
        (0, _) => Some(Mask { hides: false, dark: false, twice: false }),
        _ => Some(Mask { hides: clear || flat, dark, twice: solid && images > 1 }),
    }
}

/// Is it a gradient whose colours are all like this?
fn has_only(item: &[Part<'_>], like: fn(Ink) -> bool) -> bool {
    called(item).filter(|it| it.0.ends_with("gradient")).is_some_and(|(_, inside)| {
        let mut inks = components(inside).filter_map(|it| Ink::read(it, false)).peekable();
        inks.peek().is_some() && inks.all(|it| it.is_some_and(like))
    })
}

/// So far away nobody looks.
const AWAY_PIXELS: f64 = 3000.0;
/// A part of a box of a thousand by a thousand that shows nothing.
const AREA_MIN: f64 = 100.0;
/// No box reaches so far.
const BOX_PIXELS: f64 = 1300.0;
