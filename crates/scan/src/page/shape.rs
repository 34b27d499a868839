//! Values that move, turn, cut or veil a box: do they leave anything of it to be seen?
//!
//! Each gives `None` for a value that browsers do not know either.

use super::colour::Ink;
use super::css::{Part, Token, component, components, split};
use super::letters::is_image;
use super::number::{Amount, Kind, amount, length};
use super::value::{FAINT, TINY_PIXELS, called, is_faint, is_far};

type Items<'i, 'p, 'a> = &'i [&'p [Part<'a>]];

fn is_none(items: Items<'_, '_, '_>) -> bool {
    matches!(items, [one] if one.first().is_some_and(|it| it.is_word("none")))
}

pub(super) fn filter(items: Items<'_, '_, '_>) -> Option<bool> {
    if is_none(items) {
        return Some(false);
    }
    let mut hides = false;
    for item in items {
        if matches!(item.first()?.token, Token::Url(_)) {
            continue;
        }
        let (name, inside) = called(item)?;
        let first = components(inside).next().and_then(amount);
        match name.as_str() {
            "opacity" => hides |= first.map_or(Some(false), is_faint)?,
            // A way of old that browsers pass over.
            "alpha" => return None,
            "blur" => hides |= first.is_some_and(|it| it.value >= BLUR_PIXELS),
            "brightness" | "contrast" | "drop-shadow" | "grayscale" | "hue-rotate" | "invert"
            | "saturate" | "sepia" | "url" => {}
            _ => return None,
        }
    }
    Some(hides)
}

pub(super) fn transform(items: Items<'_, '_, '_>) -> Option<bool> {
    if is_none(items) {
        return Some(false);
    }
    let mut hides = false;
    for item in items {
        let (name, inside) = called(item)?;
        let all: Option<Vec<Amount>> = split(inside, ',').map(|it| amount(trimmed(it))).collect();
        let all = match all {
            Some(all) => all,
            None if name == "perspective" => continue,
            None => return None,
        };
        let value = |at: usize| all.get(at).map(|it| it.value);
        let nothing = |at: usize| value(at).is_some_and(|it| it.abs() < FAINT);
        hides |= match name.as_str() {
            "translate" | "translatex" | "translatey" | "translate3d" => all.iter().any(is_gone),
            "translatez" | "perspective" => false,
            "scale" | "scalex" | "scaley" => nothing(0) || nothing(1),
            "scale3d" => nothing(0) || nothing(1),
            "scalez" | "rotate" | "rotatez" => false,
            "rotatex" | "rotatey" => value(0).is_some_and(is_edge),
            "rotate3d" => value(3).is_some_and(is_edge) && (!nothing(0) || !nothing(1)),
            "skew" | "skewx" | "skewy" => all.iter().any(|it| is_edge(it.value)),
            "matrix" => match *all.as_slice() {
                [a, b, c, d, x, y] => {
                    (a.value * d.value - b.value * c.value).abs() < FAINT * FAINT
                        || [x, y].iter().any(|it| is_far(*it).is_some())
                }
                _ => return None,
            },
            "matrix3d" => match *all.as_slice() {
                [a, b, _, _, c, d, _, _, _, _, _, _, x, y, ..] => {
                    (a.value * d.value - b.value * c.value).abs() < FAINT * FAINT
                        || [x, y].iter().any(|it| is_far(*it).is_some())
                }
                _ => return None,
            },
            _ => return None,
        };
    }
    Some(hides)
}

/// Moved by a length off the screen; a share is one of the box itself, and a whole one is no distance.
fn is_gone(amount: &Amount) -> bool {
    match amount.kind {
        Kind::Share => amount.value.abs() >= MANY_BOXES,
        Kind::Length | Kind::Plain | Kind::Angle => is_far(*amount).is_some(),
    }
}

/// Seen from the edge.
fn is_edge(degrees: f64) -> bool {
    ((degrees.abs() % 180.0) - 90.0).abs() < 3.0
}

pub(super) fn translate(items: Items<'_, '_, '_>) -> Option<bool> {
    if is_none(items) {
        return Some(false);
    }
    let all: Option<Vec<Amount>> = items.iter().map(|it| length(it, false)).collect();
    Some(all?.iter().any(is_gone))
}

pub(super) fn scale(items: Items<'_, '_, '_>) -> Option<bool> {
    if is_none(items) {
        return Some(false);
    }
    let all: Option<Vec<bool>> = items.iter().map(|it| is_faint(absolute(amount(it)?))).collect();
    Some(all?.iter().take(2).any(|it| *it))
}

fn absolute(amount: Amount) -> Amount {
    Amount { value: amount.value.abs(), ..amount }
}

pub(super) fn rotate(items: Items<'_, '_, '_>) -> Option<bool> {
    if is_none(items) {
        return Some(false);
    }
    let angle = items.iter().find_map(|it| amount(it).filter(|it| it.kind == Kind::Angle))?;
    let flat = |it: &&[Part<'_>]| it.first().is_some_and(|it| it.is_word("x") || it.is_word("y"));
    let vector: Vec<f64> = items
        .iter()
        .filter_map(|it| amount(it).filter(|it| it.kind == Kind::Plain).map(|it| it.value))
        .collect();
    let tilted = matches!(*vector.as_slice(), [x, y, _] if x != 0.0 || y != 0.0);
    Some((items.iter().any(flat) || tilted) && is_edge(angle.value))
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
        "circle" | "ellipse" => Some(numbers.iter().any(|it| it.pixels().abs() <= TINY_PIXELS)),
        "polygon" => {
            let points: Vec<(f64, f64)> = split(inside, ',')
                .filter_map(|it| {
                    match *components(it).filter_map(|it| length(it, false)).collect::<Vec<_>>() {
                        [x, y] => Some((x.pixels(), y.pixels())),
                        _ => None,
                    }
                })
                .collect();
            (!points.is_empty()).then(|| area(&points) <= AREA_MIN)
        }
        "rect" => {
            let edges = self::numbers(inside.get(..).unwrap_or_default()).unwrap_or_default();
            let [top, right, bottom, left] = *edges.as_slice() else { return Some(false) };
            Some(is_gap(left, right) || is_gap(top, bottom))
        }
        "xywh" => Some(
            [2, 3].iter().any(|it| numbers.get(*it).is_some_and(|it| it.pixels() <= TINY_PIXELS)),
        ),
        "path" | "shape" => Some(path_text(inside)),
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

/// A drawn path of which no number leads anywhere.
fn path_text(inside: &[Part<'_>]) -> bool {
    inside.iter().filter_map(Part::text).any(|text| {
        text.split(|it: char| !(it.is_ascii_digit() || it == '.'))
            .filter_map(|it| it.parse::<f64>().ok())
            .all(|it| it <= TINY_PIXELS)
    })
}

/// A size of which one side is nothing.
pub(super) fn is_nothing(items: &[&[Part<'_>]]) -> bool {
    items.iter().any(|it| length(it, false).is_some_and(|it| it.pixels() <= TINY_PIXELS))
}

/// A path that begins where nobody looks.
pub(super) fn leads_away(item: &[Part<'_>]) -> bool {
    let Some((_, inside)) = called(item).filter(|it| it.0 == "path") else { return false };
    inside.iter().filter_map(Part::text).any(|text| {
        let numbers = text.split(|it: char| !(it.is_ascii_digit() || matches!(it, '.' | '-')));
        let mut first = numbers.filter_map(|it| it.parse::<f64>().ok()).take(2);
        first.any(|it| it <= -AWAY_PIXELS || it >= AWAY_PIXELS)
    })
}

/// A mask all of whose colours are clear, or that has no size.
pub(super) fn mask(value: &[Part<'_>]) -> Option<bool> {
    let mut behind = components(value).skip_while(|it| !it.first().is_some_and(|it| it.is('/')));
    let _slash = behind.next();
    let flat = is_nothing(&behind.take(2).collect::<Vec<_>>());
    let mut clear = true;
    let mut images = 0_usize;
    let mut plain = 0_usize;
    let mut rest = value;
    while let Some((item, after)) = component(rest) {
        rest = after;
        if is_image(item) {
            images += 1;
            clear &= is_clear_gradient(item);
        } else if item.first().is_some_and(|it| it.is_word("none")) {
            plain += 1;
        }
    }
    match (images, plain) {
        (0, 0) => None,
        (0, _) => Some(false),
        _ => Some(clear || flat),
    }
}

fn is_clear_gradient(item: &[Part<'_>]) -> bool {
    let Some((name, inside)) = called(item).filter(|it| it.0.ends_with("gradient")) else {
        return false;
    };
    let mut inks = components(inside).filter_map(|it| Ink::read(it, false)).peekable();
    !name.is_empty() && inks.peek().is_some() && inks.all(|it| it.is_some_and(Ink::is_clear))
}

fn trimmed<'p, 'a>(parts: &'p [Part<'a>]) -> &'p [Part<'a>] {
    super::css::trim(parts)
}

/// So far away nobody looks.
const AWAY_PIXELS: f64 = 3000.0;
/// Blurred by so much, nothing can be read.
const BLUR_PIXELS: f64 = 8.0;
/// Moved by so many hundredths of its own size, a box is elsewhere.
const MANY_BOXES: f64 = 1000.0;
/// A part of a box of a thousand by a thousand that shows nothing.
const AREA_MIN: f64 = 100.0;
