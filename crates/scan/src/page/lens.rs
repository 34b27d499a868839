//! Filters: what they make of a colour, and whether they leave anything to be seen.

use super::colour::Ink;
use super::css::{Part, Token, components};
use super::number::{Amount, Kind, amount};
use super::value::{FAINT, called, is_faint};

/// One thing that a filter does to each of red, green and blue, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    Brighten(f64),
    Contrast(f64),
    Invert(f64),
    /// So much of it is grey.
    Grey(f64),
    /// So much of it covers what lies below.
    Fade(f64),
    /// All of it has this colour.
    Paint(Ink),
    /// Red, green, blue and cover are mixed anew: for each a factor of all four and a constant.
    Matrix([f64; 20]),
}

/// What `filter` does to colours, and whether it hides; nothing for what browsers do not know.
pub(super) fn filter(items: &[&[Part<'_>]]) -> Option<(bool, Vec<Step>)> {
    let mut steps = Vec::new();
    if matches!(items, [one] if one.first().is_some_and(|it| it.is_word("none"))) {
        return Some((false, steps));
    }
    let mut hides = false;
    for item in items {
        if matches!(item.first()?.token, Token::Url(_)) {
            continue;
        }
        let (name, inside) = called(item)?;
        let first = components(inside).next().and_then(amount);
        let by = |usual: f64| first.map_or(usual, share);
        match name.as_str() {
            "opacity" => {
                first.map_or(Some(false), is_faint)?;
                steps.push(Step::Fade(by(1.0).clamp(0.0, 1.0)));
            }
            // A way of old that browsers pass over.
            "alpha" => return None,
            "blur" => hides |= first.is_some_and(|it| it.value >= BLUR_PIXELS),
            "brightness" => steps.push(Step::Brighten(by(1.0))),
            "contrast" => steps.push(Step::Contrast(by(1.0))),
            "invert" => steps.push(Step::Invert(by(1.0).min(1.0))),
            "grayscale" => steps.push(Step::Grey(by(1.0).min(1.0))),
            "saturate" => steps.push(Step::Grey((1.0 - by(1.0)).clamp(0.0, 1.0))),
            "drop-shadow" | "hue-rotate" | "sepia" | "url" => {}
            _ => return None,
        }
    }
    Some((hides || fade(&steps) < FAINT, steps))
}

fn share(amount: Amount) -> f64 {
    let share = if amount.kind == Kind::Share { amount.value / 100.0 } else { amount.value };
    share.max(0.0)
}

/// How much of a box these leave to cover what lies below.
pub(super) fn fade(steps: &[Step]) -> f64 {
    let share = |step: &Step| match step {
        Step::Fade(by) => *by,
        Step::Brighten(_)
        | Step::Contrast(_)
        | Step::Invert(_)
        | Step::Grey(_)
        | Step::Paint(_)
        | Step::Matrix(_) => 1.0,
    };
    steps.iter().map(share).product()
}

/// A colour behind all of these, one after the other.
pub(super) fn seen(ink: Ink, steps: &[Step]) -> Ink {
    steps.iter().fold(ink, |ink, step| match step {
        Step::Paint(paint) => paint.thinned(ink.share()),
        Step::Matrix(by) => ink.through(by),
        Step::Brighten(by) => ink.changed(|parts| parts.map(|it| it * by)),
        Step::Contrast(by) => ink.changed(|parts| parts.map(|it| (it - 0.5) * by + 0.5)),
        Step::Invert(by) => ink.changed(|parts| parts.map(|it| it * (1.0 - 2.0 * by) + by)),
        Step::Grey(by) => ink.changed(|parts| {
            let [red, green, blue] = parts;
            let grey = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            parts.map(|it| it * (1.0 - by) + grey * by)
        }),
        Step::Fade(_) => ink,
    })
}

/// Blurred by so much, nothing can be read.
pub(super) const BLUR_PIXELS: f64 = 8.0;
