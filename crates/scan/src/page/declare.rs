//! What a declaration of a style sheet says about whether text can be seen.

use std::rc::Rc;

use super::colour::Ink;
use super::css::{Part, Token, component, tokens, trim};
use super::items::{Item, Items};
use super::lens::Step;
use super::turn::{Matrix, Turn};
use super::value;

/// One thing that a style says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Said {
    /// A property hides, or says that it does not.
    Switch(Switch, State),
    /// The size of letters: so many pixels, and so many times what it was outside and for the page itself.
    Size(f64, f64, f64),
    /// How much of it covers what lies below, 0 to 1.
    Opacity(f64),
    /// The size of letters by a word for all properties.
    SizeWide(Wide),
    Ink(Surface, Paint),
    /// A filter: what it does to colours.
    Lens(Rc<[Step]>),
    /// A shape of the page by that name decides whether this hides.
    Refers(Switch, Rc<str>),
    /// The box is moved, turned or stretched.
    Turn(Turn, Matrix),
    /// How many pixels before what is inside the eye stands, if there is one.
    Eye(Option<f64>),
    /// How thick a line is.
    Thick(Line, Thickness),
    /// Everything at once.
    All(Wide),
    /// Names that an animation may have.
    Animated(Rc<[String]>),
    /// A property that the page made up.
    Own(Rc<str>, Rc<str>),
    /// A property and a value with such properties in it.
    Late(Rc<str>, Rc<str>),
}

/// Lines that are drawn over letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Along their edges.
    Stroke,
    /// Through them.
    Strike,
}

/// In pixels, in sizes of the letters, and in those of the page itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Thickness {
    pub(super) pixels: f64,
    pub(super) letters: f64,
    pub(super) roots: f64,
}

/// What a property says about hiding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Hides,
    Shows,
    Wide(Wide),
}

/// Words that every property knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wide {
    Initial,
    Inherit,
    Unset,
    /// As if no style of the page were there.
    Revert,
    /// As if nothing of the same layer were there.
    RevertLayer,
}

/// What is painted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Surface {
    Colour,
    /// Outranks the colour of text where it is set.
    Fill,
    Background,
    /// A picture over the background that is nothing but a colour.
    Picture,
    /// A shadow that falls on all of the background.
    Cast,
    /// A shadow of the letters.
    Halo,
    /// The edge of the letters.
    Stroke,
    /// A line through them.
    Strike,
}

/// With what.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Paint {
    Known(Ink),
    Unknown,
    /// The colour of the text.
    Current,
    Wide(Wide),
}

macro_rules! switches {
    ($($name:ident),* $(,)?) => {
        /// Properties that can hide, each by itself or with others.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Switch { $($name),* }

        impl Switch {
            pub(super) const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

switches! {
    DisplayNone, ContentHidden, OpacityZero, Filtered, Masked, Clipped, ClipPathEmpty,
    VisibilityHidden, IndentFar, LettersSqueezed, LineZero, TextSecret, FontFlat,
    IndentFull, Placed, OutOfFlow, Fixed,
    LeftFar, RightFar, TopFar, BottomFar, LeftEdge, RightEdge, TopEdge, BottomEdge,
    LeftBack, RightBack, TopBack, BottomBack,
    MarginLeft, MarginRight, MarginTop, MarginBottom,
    WidthZero, HeightZero, WidthLimitZero, HeightLimitZero, WidthKept, HeightKept,
    PadLeft, PadRight, PadTop, PadBottom,
    OverflowX, OverflowY, Contained, Image, Replaced, MaskEmpty, OffsetFar, Paused, Plays, PictureSmall,
    ClipText, BlendLight, BlendDark, BlendDiffers,
    BackHidden, OriginFar, OutlineOver, PictureNone, DarkScheme,
    MaskDark, MaskByLight, MaskTwice, MaskTurned, MaskAway, MaskOnce,
    Flex, FlexColumn, Grows, Cell, TableFixed, BasisNone, Sizeless, SizelessContainer,
    Grid, RowsThin, RowsNone, RowsAutoNone, ColumnsThin, PictureDot, PictureOnce, PictureAway,
    StrokeBelow, Struck, StrikeBroken, Ranked, RankedBelow, Stacks, KeepsDepth, Boxless, FontShrunk,
    OutlineSolid, OutlineThick, OutlineIn,
}

/// A set of switches.
pub(super) type Bits = u128;

impl Switch {
    /// Goes over to what is inside, unless that says otherwise.
    pub(super) fn is_inherited(self) -> bool {
        Self::INHERITED & self.bit() != 0
    }

    /// All of those.
    pub(super) const INHERITED: Bits = Self::VisibilityHidden.bit()
        | Self::IndentFar.bit()
        | Self::IndentFull.bit()
        | Self::LettersSqueezed.bit()
        | Self::LineZero.bit()
        | Self::TextSecret.bit()
        | Self::FontFlat.bit()
        | Self::StrokeBelow.bit()
        | Self::FontShrunk.bit()
        // Not by the rules of browsers: all cells of a table are meant.
        | Self::TableFixed.bit();

    pub(super) const fn bit(self) -> Bits {
        1 << (self as u32)
    }
}

/// A declaration that matters here, and whether it is marked as important.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Declaration {
    pub(super) said: Said,
    pub(super) important: bool,
}

impl Declaration {
    /// Does it give a box a background that is seen?
    pub(super) fn paints(&self) -> bool {
        if let Said::Ink(Surface::Background | Surface::Picture, paint) = &self.said {
            return match paint {
                Paint::Known(ink) => !ink.is_clear(),
                Paint::Unknown | Paint::Current => true,
                Paint::Wide(_) => false,
            };
        }
        if let Said::Late(name, _) = &self.said {
            return name.starts_with("background");
        }
        self.turns_on(Switch::Image)
    }

    pub(super) fn turns_on(&self, which: Switch) -> bool {
        self.said == Said::Switch(which, State::Hides)
    }

    /// Can it do nothing but hide? Such a one counts even where it is not known whether it holds.
    pub(super) fn hides(&self) -> bool {
        match &self.said {
            Said::Switch(Switch::PadLeft | Switch::PadRight | Switch::PadTop, _)
            | Said::Switch(Switch::PadBottom | Switch::WidthKept | Switch::HeightKept, _)
            | Said::Switch(Switch::Image | Switch::ClipText | Switch::BlendDiffers, _)
            | Said::Switch(Switch::Paused | Switch::Plays | Switch::PictureSmall, _)
            | Said::Switch(Switch::Flex | Switch::FlexColumn | Switch::Grows, _)
            | Said::Switch(Switch::PictureDot | Switch::PictureOnce | Switch::PictureAway, _)
            | Said::Switch(Switch::StrokeBelow | Switch::StrikeBroken | Switch::Ranked, _)
            | Said::Switch(Switch::Stacks | Switch::KeepsDepth | Switch::Boxless, _)
            | Said::Switch(Switch::Cell | Switch::DarkScheme | Switch::Grid, _) => false,
            Said::Switch(_, state) => *state == State::Hides,
            Said::Size(pixels, times, roots) => {
                *pixels + (*times + *roots) * 16.0 <= value::TINY_LETTERS
            }
            Said::Turn(_, matrix) => matrix.view().gone,
            Said::Opacity(opacity) => *opacity < value::FAINT,
            Said::Ink(surface, paint) => {
                matches!(surface, Surface::Colour | Surface::Fill)
                    && matches!(paint, Paint::Known(_))
            }
            Said::SizeWide(_)
            | Said::All(_)
            | Said::Animated(_)
            | Said::Lens(_)
            | Said::Refers(..)
            | Said::Eye(_)
            | Said::Thick(..)
            | Said::Own(..)
            | Said::Late(..) => false,
        }
    }
}

/// The declarations of a `style` attribute. In an `old` page numbers need no unit.
pub(super) fn declarations(text: &str, old: bool) -> Vec<Declaration> {
    let mut found = Vec::new();
    if text.trim().is_empty() {
        return found;
    }
    let parts = tokens(text);
    for item in Items::of_block(&parts) {
        match item {
            Item::Declaration(parts) => declare(parts, text, old, &mut found),
            Item::Rule(..) | Item::At(..) => {}
        }
    }
    found
}

/// Adds what one declaration says, `text` being what its tokens stand in.
pub(super) fn declare(parts: &[Part<'_>], text: &str, old: bool, found: &mut Vec<Declaration>) {
    let Some(name) = parts.first().and_then(Part::word) else { return };
    let Some(colon) = parts.iter().position(|it| it.is(':')) else { return };
    let (value, important) = importance(trim(parts.get(colon + 1..).unwrap_or_default()));
    let mut say = |said| found.push(Declaration { said, important });
    if name.starts_with("--") {
        say(Said::Own(Rc::from(name), Rc::from(raw(value, text))));
        return;
    }
    let name = name.to_ascii_lowercase();
    if value.is_empty() || !value::is_known(&name) || !is_whole(value) {
        return;
    }
    if value::is_late(value) {
        say(Said::Late(Rc::from(name), Rc::from(raw(value, text))));
    } else {
        value::read(&name, value, old, say);
    }
}

/// Without `!important`, and whether it stood there.
fn importance<'p, 'a>(value: &'p [Part<'a>]) -> (&'p [Part<'a>], bool) {
    if let Some((last, before)) = value.split_last()
        && last.is_word("important")
        && let Some((sign, before)) = trim(before).split_last()
        && sign.is('!')
    {
        return (trim(before), true);
    }
    (value, false)
}

/// The text of a value as it stands there.
pub(super) fn raw<'t>(value: &[Part<'_>], text: &'t str) -> &'t str {
    match (value.first(), value.last()) {
        (Some(first), Some(last)) => text.get(first.at..last.end).unwrap_or_default(),
        _ => "",
    }
}

/// Nothing in it that breaks a value: an unclosed string, a closing bracket too many, a lone `!`.
fn is_whole(value: &[Part<'_>]) -> bool {
    let mut rest = value;
    while let Some((one, after)) = component(rest) {
        rest = after;
        let breaks = |it: &Part<'_>| matches!(it.token, Token::Sign(')' | ']' | '}' | '!' | ';'));
        if one.first().is_some_and(breaks) {
            return false;
        }
    }
    !value.iter().any(|it| it.token == Token::Broken)
}
