//! Properties of which more must be known than whether they hide: filters, transforms, shadows, masks.

use std::rc::Rc;

use super::colour::Ink;
use super::css::{Part, components, split};
use super::declare::{Paint, Said, State, Surface, Switch, Wide};
use super::letters::{is_away, paint};
use super::number::{Amount, amount, length};
use super::turn::{Matrix, Turn};
use super::value::only;
use super::{drawn, lens, line, shape, turn};

/// Is it one of these properties, by another name or not?
pub(super) fn is_known(name: &str) -> bool {
    property(name).is_some()
}

#[derive(Clone, Copy)]
enum Property {
    Filter,
    Turn(Turn),
    Perspective,
    BoxShadow,
    TextShadow,
    Line(line::Property),
    Mask,
    MaskImage,
    ClipPath,
}

/// By the names that browsers know: whatever else looks like one says nothing.
fn property(name: &str) -> Option<Property> {
    Some(match name {
        "filter" | "-webkit-filter" => Property::Filter,
        "transform" | "-webkit-transform" => Property::Turn(Turn::Transform),
        "zoom" => Property::Turn(Turn::Zoom),
        "translate" => Property::Turn(Turn::Translate),
        "rotate" => Property::Turn(Turn::Rotate),
        "scale" => Property::Turn(Turn::Scale),
        "perspective" | "-webkit-perspective" => Property::Perspective,
        "box-shadow" | "-webkit-box-shadow" => Property::BoxShadow,
        "text-shadow" => Property::TextShadow,
        "mask" | "-webkit-mask" => Property::Mask,
        "mask-image" | "-webkit-mask-image" => Property::MaskImage,
        "clip-path" | "-webkit-clip-path" => Property::ClipPath,
        _ => Property::Line(line::property(name)?),
    })
}

/// Tells what `name: value` says, if it is one of these.
pub(super) fn read(
    name: &str,
    items: &[&[Part<'_>]],
    value: &[Part<'_>],
    say: &mut dyn FnMut(Said),
) -> Option<()> {
    let switch =
        |which, hides: bool| Said::Switch(which, if hides { State::Hides } else { State::Shows });
    match property(name)? {
        Property::Filter => {
            let (hides, steps) = lens::filter(items)?;
            say(switch(Switch::Filtered, hides));
            say(Said::Lens(Rc::from(steps)));
            let named = items.iter().filter_map(|it| drawn::name_of(it)).take(FILTERS_MAX);
            named.for_each(|it| say(Said::Refers(Switch::Filtered, Rc::from(it))));
        }
        Property::Turn(which) => {
            let matrix = match which {
                Turn::Zoom => turn::zoom(items),
                Turn::Transform => turn::transform(items),
                Turn::Translate => turn::translate(items),
                Turn::Rotate => turn::rotate(items),
                Turn::Scale => turn::scale(items),
            };
            say(Said::Turn(which, matrix?));
        }
        Property::Perspective => match only(items, &["none"]) {
            Some(_) => say(Said::Eye(None)),
            None => {
                let [one] = items else { return None };
                say(Said::Eye(Some(length(one, false)?.pixels())));
            }
        },
        Property::BoxShadow => say(Said::Ink(Surface::Cast, cast(value)?)),
        Property::TextShadow => say(Said::Ink(Surface::Halo, halo(value)?)),
        Property::Line(which) => line::read(which, items, say)?,
        Property::ClipPath => {
            say(switch(Switch::ClipPathEmpty, shape::path(items)?));
            refer(Switch::ClipPathEmpty, items, say);
        }
        which @ (Property::Mask | Property::MaskImage) => {
            let mask = shape::mask(value)?;
            say(switch(Switch::Masked, mask.hides));
            refer(Switch::Masked, items, say);
            say(switch(Switch::MaskDark, mask.dark));
            say(switch(Switch::MaskTwice, mask.twice));
            if matches!(which, Property::Mask) {
                let has = |words: &[&str]| {
                    let is = |it: &&[Part<'_>]| {
                        it.first().is_some_and(|it| words.iter().any(|word| it.is_word(word)))
                    };
                    items.iter().any(is)
                };
                say(switch(Switch::MaskByLight, has(&["luminance"])));
                say(switch(Switch::MaskTurned, has(TURNED)));
                say(switch(Switch::MaskOnce, has(&["no-repeat"])));
                say(switch(Switch::MaskAway, is_away(items)));
            }
        }
    }
    Some(())
}

/// A word for all properties, said of one of these.
pub(super) fn everywhere(name: &str, wide: Wide, say: &mut dyn FnMut(Said)) {
    match property(name) {
        Some(Property::Filter) => say(Said::Lens(Rc::from([]))),
        Some(Property::Turn(which)) => say(Said::Turn(which, Matrix::ONE)),
        Some(Property::Perspective) => say(Said::Eye(None)),
        Some(Property::BoxShadow) => say(Said::Ink(Surface::Cast, Paint::Known(Ink::CLEAR))),
        Some(Property::TextShadow) => say(Said::Ink(Surface::Halo, Paint::Wide(wide))),
        Some(Property::Line(which)) => line::everywhere(which, wide, say),
        Some(Property::Mask | Property::MaskImage | Property::ClipPath) | None => {}
    }
}

/// Tells which shape of the page is meant, if it is one.
fn refer(which: Switch, items: &[&[Part<'_>]], say: &mut dyn FnMut(Said)) {
    let named = items.iter().find_map(|it| drawn::name_of(it));
    named.into_iter().for_each(|it| say(Said::Refers(which, Rc::from(it))));
}

/// Properties of one switch beside the others of `value.rs`: does the value hide, or help to?
pub(super) fn single(name: &str, items: &[&[Part<'_>]]) -> Option<bool> {
    let one = || if let [one] = items { Some(*one) } else { None };
    let has = |word: &str| items.iter().any(|it| it.first().is_some_and(|it| it.is_word(word)));
    match name {
        "backface-visibility" | "-webkit-backface-visibility" => {
            Some(only(items, &["visible", "hidden"])? == "hidden")
        }
        "color-scheme" => Some(has("dark") && !has("light")),
        "isolation" => Some(only(items, &["auto", "isolate"])? == "isolate"),
        "will-change" | "backdrop-filter" | "-webkit-backdrop-filter" | "view-transition-name" => {
            Some(only(items, &["auto", "none"]).is_none())
        }
        "transform-style" | "-webkit-transform-style" => {
            Some(only(items, &["flat", "preserve-3d"])? == "preserve-3d")
        }
        "flex-grow" => Some(amount(one()?)?.value > 0.0),
        "flex-direction" | "flex-flow" => Some(has("column") || has("column-reverse")),
        "table-layout" => Some(only(items, &["auto", "fixed"])? == "fixed"),
        "transform-origin"
        | "-webkit-transform-origin"
        | "mask-position"
        | "-webkit-mask-position" => Some(is_away(items)),
        "mask-mode" | "-webkit-mask-source-type" => Some(has("luminance")),
        "mask-composite" | "-webkit-mask-composite" => Some(TURNED.iter().any(|it| has(it))),
        "mask-repeat" | "-webkit-mask-repeat" => Some(has("no-repeat")),
        _ => None,
    }
}

/// The colour of a shadow inside the box that covers all of its background.
fn cast(value: &[Part<'_>]) -> Option<Paint> {
    for layer in split(value, ',') {
        let items: Vec<&[Part<'_>]> = components(layer).collect();
        let is = |word: &str| items.iter().any(|it| it.first().is_some_and(|it| it.is_word(word)));
        let sizes: Vec<f64> =
            items.iter().filter_map(|it| length(it, false).map(|it| it.pixels())).collect();
        let [across, down, ref rest @ ..] = *sizes.as_slice() else {
            return is("none").then_some(Paint::Known(Ink::CLEAR));
        };
        let wide = rest.get(1).is_some_and(|it| *it >= SPREAD_PIXELS);
        if is("inset") && (wide || across.abs() >= FAR_PIXELS || down.abs() >= COVER_PIXELS) {
            return Some(items.iter().find_map(|it| paint(it, false)).unwrap_or(Paint::Current));
        }
    }
    Some(Paint::Known(Ink::CLEAR))
}

/// The colour of a shadow in which the letters can be read.
fn halo(value: &[Part<'_>]) -> Option<Paint> {
    for layer in split(value, ',') {
        let items: Vec<&[Part<'_>]> = components(layer).collect();
        let sizes: Vec<_> = items.iter().filter_map(|it| length(it, false)).collect();
        let [across, down, ref rest @ ..] = *sizes.as_slice() else {
            let none = items.first().and_then(|it| it.first()).is_some_and(|it| it.is_word("none"));
            return none.then_some(Paint::Known(Ink::CLEAR));
        };
        let sharp = rest.first().is_none_or(|it| it.pixels() <= SHARP_PIXELS);
        let near = |it: Amount| it.pixels().abs() <= SHADOW_PIXELS;
        if sharp && near(across) && near(down) {
            return Some(items.iter().find_map(|it| paint(it, false)).unwrap_or(Paint::Current));
        }
    }
    Some(Paint::Known(Ink::CLEAR))
}

/// Ways of putting two masks together by which one takes away from the other.
const TURNED: &[&str] = &["exclude", "subtract", "xor", "source-out", "destination-out"];
/// A shadow inside a box that spreads so far covers a line of text; and one that is moved so far down, or across.
const SPREAD_PIXELS: f64 = 30.0;
const COVER_PIXELS: f64 = 100.0;
const FAR_PIXELS: f64 = 500.0;
/// A shadow that is blurred by more than this shows no letters.
const SHARP_PIXELS: f64 = 6.0;
/// One that is moved further is seen nowhere near: no page is scrolled to it.
const SHADOW_PIXELS: f64 = 100.0;
/// Filters of the page that one box is behind.
const FILTERS_MAX: usize = 8;
