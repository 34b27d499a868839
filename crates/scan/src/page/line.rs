//! Lines that are drawn over letters, along their edges or through them: thick ones cover what they are drawn on.

use super::css::Part;
use super::declare::{Line, Paint, Said, State, Surface, Switch, Thickness, Wide};
use super::letters::paint;
use super::number::{Amount, Kind, length};
use super::value::{only, word};

#[derive(Clone, Copy)]
pub(super) enum Property {
    Stroke,
    StrokeWidth,
    StrokeColour,
    PaintOrder,
    Decoration,
    DecorationLine,
    DecorationStyle,
    DecorationColour,
    DecorationThickness,
    Outline,
    OutlineStyle,
    OutlineWidth,
    OutlineOffset,
}

pub(super) fn property(name: &str) -> Option<Property> {
    Some(match name {
        "-webkit-text-stroke" => Property::Stroke,
        "-webkit-text-stroke-width" => Property::StrokeWidth,
        "-webkit-text-stroke-color" => Property::StrokeColour,
        "paint-order" => Property::PaintOrder,
        "text-decoration" | "-webkit-text-decoration" => Property::Decoration,
        "text-decoration-line" => Property::DecorationLine,
        "text-decoration-style" => Property::DecorationStyle,
        "text-decoration-color" => Property::DecorationColour,
        "text-decoration-thickness" => Property::DecorationThickness,
        "outline" => Property::Outline,
        "outline-style" => Property::OutlineStyle,
        "outline-width" => Property::OutlineWidth,
        "outline-offset" => Property::OutlineOffset,
        _ => return None,
    })
}

/// Tells what one of them says; nothing for what browsers do not know.
pub(super) fn read(
    which: Property,
    items: &[&[Part<'_>]],
    say: &mut dyn FnMut(Said),
) -> Option<()> {
    let switch =
        |which, on: bool| Said::Switch(which, if on { State::Hides } else { State::Shows });
    let has = |word: &str| items.iter().any(|it| it.first().is_some_and(|it| it.is_word(word)));
    let ink = || items.iter().find_map(|it| paint(it, false));
    let thick = || items.iter().find_map(|it| length(it, false)).map(thickness);
    match which {
        Property::Stroke => {
            say(Said::Thick(Line::Stroke, thick().unwrap_or_default()));
            say(Said::Ink(Surface::Stroke, ink().unwrap_or(Paint::Current)));
        }
        Property::StrokeWidth => say(Said::Thick(Line::Stroke, thick()?)),
        Property::StrokeColour => say(Said::Ink(Surface::Stroke, ink()?)),
        Property::PaintOrder => {
            only(items.get(..1)?, &["normal", "fill", "stroke", "markers"])?;
            let place = |word: &str| {
                items.iter().position(|it| it.first().is_some_and(|it| it.is_word(word)))
            };
            let below = place("stroke").is_some_and(|at| place("fill").is_none_or(|it| at < it));
            say(switch(Switch::StrokeBelow, below));
        }
        Property::Decoration => {
            let known = |it: &&[Part<'_>]| {
                word(it, WORDS).is_some()
                    || paint(it, false).is_some()
                    || length(it, false).is_some()
            };
            items.iter().all(known).then_some(())?;
            say(switch(Switch::Struck, has("line-through")));
            say(switch(Switch::StrikeBroken, BROKEN.iter().any(|it| has(it))));
            say(Said::Ink(Surface::Strike, ink().unwrap_or(Paint::Current)));
            say(Said::Thick(Line::Strike, thick().unwrap_or_default()));
        }
        Property::DecorationLine => {
            items.iter().all(|it| word(it, WORDS).is_some()).then_some(())?;
            say(switch(Switch::Struck, has("line-through")));
        }
        Property::DecorationStyle => {
            let style = only(items, WORDS)?;
            say(switch(Switch::StrikeBroken, BROKEN.contains(&style.as_str())));
        }
        Property::DecorationColour => say(Said::Ink(Surface::Strike, ink()?)),
        Property::DecorationThickness => {
            let thick = match only(items, &["auto", "from-font"]) {
                Some(_) => Thickness::default(),
                None => thick()?,
            };
            say(Said::Thick(Line::Strike, thick));
        }
        Property::Outline
        | Property::OutlineStyle
        | Property::OutlineWidth
        | Property::OutlineOffset => outline(which, items, say)?,
    }
    Some(())
}

/// The same of a line around the box.
fn outline(which: Property, items: &[&[Part<'_>]], say: &mut dyn FnMut(Said)) -> Option<()> {
    let switch =
        |which, on: bool| Said::Switch(which, if on { State::Hides } else { State::Shows });
    let has = |word: &str| items.iter().any(|it| it.first().is_some_and(|it| it.is_word(word)));
    let solid = SOLID.iter().any(|it| has(it));
    let thick = items.iter().find_map(|it| length(it, false)).map(thickness);
    match which {
        Property::Outline => {
            let ink = items.iter().find_map(|it| paint(it, false));
            let clear = matches!(ink, Some(Paint::Known(ink)) if !ink.is_solid());
            say(switch(Switch::OutlineSolid, solid && !clear));
            say(switch(Switch::OutlineThick, thick.is_some_and(is_thick)));
        }
        Property::OutlineStyle => say(switch(Switch::OutlineSolid, solid)),
        Property::OutlineWidth => {
            let words = only(items, &["thin", "medium", "thick"]);
            say(switch(Switch::OutlineThick, words.is_none() && is_thick(thick?)));
        }
        Property::OutlineOffset => {
            let [one] = items else { return None };
            let by = length(one, false)?.pixels();
            say(switch(Switch::OutlineOver, by <= -OVER_PIXELS));
            say(switch(Switch::OutlineIn, by <= -IN_PIXELS));
        }
        Property::Stroke
        | Property::StrokeWidth
        | Property::StrokeColour
        | Property::PaintOrder
        | Property::Decoration
        | Property::DecorationLine
        | Property::DecorationStyle
        | Property::DecorationColour
        | Property::DecorationThickness => {}
    }
    Some(())
}

/// Does an outline of this reach over a line of text?
fn is_thick(thick: Thickness) -> bool {
    thick.of(16.0, 16.0) >= OUTLINE_PIXELS
}

/// A word for all properties, said of one of these.
pub(super) fn everywhere(which: Property, wide: Wide, say: &mut dyn FnMut(Said)) {
    let inherits = matches!(wide, Wide::Inherit | Wide::Unset);
    let none = Thickness::default();
    match which {
        Property::Stroke | Property::StrokeWidth if inherits => {}
        Property::Stroke | Property::StrokeWidth => say(Said::Thick(Line::Stroke, none)),
        Property::StrokeColour => say(Said::Ink(Surface::Stroke, Paint::Wide(wide))),
        Property::Decoration | Property::DecorationThickness => {
            say(Said::Thick(Line::Strike, none));
        }
        Property::PaintOrder
        | Property::DecorationLine
        | Property::DecorationStyle
        | Property::DecorationColour
        | Property::Outline
        | Property::OutlineStyle
        | Property::OutlineWidth
        | Property::OutlineOffset => {}
    }
}

fn thickness(amount: Amount) -> Thickness {
    if amount.kind == Kind::Share {
        return Thickness { letters: amount.value / 100.0, ..Thickness::default() };
    }
    let pixels = amount.value - (amount.letters + amount.roots) * 16.0;
    Thickness { pixels, letters: amount.letters, roots: amount.roots }
}

impl Thickness {
    /// In pixels, of letters of a size on a page of letters of another.
    pub(super) fn of(self, size: f64, root: f64) -> f64 {
        self.pixels + self.letters * size + self.roots * root
    }
}

/// Words of `text-decoration`, and those of lines that are not drawn throughout.
const WORDS: &[&str] = &[
    "none",
    "underline",
    "overline",
    "line-through",
    "blink",
    "auto",
    "from-font",
    "solid",
    "double",
    "dotted",
    "dashed",
    "wavy",
];
const BROKEN: &[&str] = &["double", "dotted", "dashed", "wavy"];
/// Styles of an outline that leave nothing between.
const SOLID: &[&str] = &["solid", "groove", "ridge", "inset", "outset"];
/// An outline that is so thick and drawn so far inside of its box covers a line; drawn further inside, it does so
/// however thick it is.
const OUTLINE_PIXELS: f64 = 16.0;
const IN_PIXELS: f64 = 8.0;
const OVER_PIXELS: f64 = 100.0;
/// The thinnest edge of letters that is seen, in pixels.
pub(super) const STROKE_PIXELS: f64 = 0.4;
/// Edges that are so thick meet in the middle of a letter's strokes, by its size.
pub(super) const STROKE_COVERS: f64 = 0.12;
/// And so thick, no letter is told from another.
pub(super) const STROKE_BLOTS: f64 = 0.6;
/// A line so thick lies over all of a letter.
pub(super) const STRIKE_COVERS: f64 = 0.9;
