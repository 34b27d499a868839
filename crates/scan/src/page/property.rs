//! Properties of CSS by which text is lost from sight, and what declarations make of them.

use std::rc::Rc;

use cssparser::{Delimiter, ParseError, Parser, Token};

use super::colour::{Colour, Paint, image, paint};
use super::value::{
    FONT_PX, Length, Transform, Units, amounts, attempt, block, is_one_of, length, list, number,
    rest, shape_is_empty, word,
};

/// A size or a place; nothing for `auto` and what is not known without layout.
pub(super) type Size = Option<Length>;

/// How a box is displayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Display {
    None,
    Contents,
    Flex,
    Other,
}

/// How a box is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Position {
    Static,
    Relative,
    Absolute,
    Fixed,
}

/// What a declaration says, if it does not give a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Value,
    Inherit,
    Initial,
}

/// Lists what is known of a style: its type, what it is at first, the names of its property and how a value is parsed.
macro_rules! properties {
    ($($field:ident: $kind:ty = $initial:expr, $($name:literal)|+ => $parse:expr;)+) => {
        /// What counts of an element, as far as it matters here. Names are those of the properties.
        #[derive(Clone, Debug)]
        pub(super) struct Style { $(pub(super) $field: $kind),+ }

        impl Default for Style {
            fn default() -> Self {
                Self { $($field: $initial),+ }
            }
        }

        impl Style {
            fn longhand(&mut self, name: &str, text: &str, said: Said, outer: &Self, units: Units) -> Option<()> {
                match name {
                    $($($name)|+ => self.$field = match said {
                        Said::Value => whole(text, |it| $parse(it, units))?,
                        Said::Inherit => outer.$field.clone(),
                        Said::Initial => $initial,
                    },)+
                    _ => return None,
                }
                Some(())
            }
        }
    };
}

properties! {
    animation: Option<Rc<str>> = None, "animation" | "-webkit-animation" => animation;
    background_clip_text: bool = false, "background-clip" | "-webkit-background-clip" => |it, _| has(it, "text");
    background_color: Paint = Paint::Known(Colour::CLEAR), "background-color" => |it, _| paint(it);
    background_image: Option<Paint> = None, "background-image" => |it, _| list(it, image)?.into_iter().next();
    background_sized: bool = false, "background-size" => |it, _| has(it, "");
    bottom: Size = None, "bottom" | "inset-block-end" => size;
    box_shadow_inset: bool = false, "box-shadow" => |it, _| has(it, "inset");
    clip: bool = false, "clip" => clip;
    clip_path: bool = false, "clip-path" | "-webkit-clip-path" => clip;
    color: Paint = Paint::Known(Colour::BLACK), "color" => |it, _| paint(it);
    content: bool = false, "content" => |it, _| Some(!is_one_of("none normal", rest(it)));
    content_hidden: bool = false, "content-visibility" => |it, _| flag(it, "hidden", "visible auto");
    dark: bool = false, "color-scheme" => |it, _| Some(is_one_of("dark", rest(it)));
    display: Display = Display::Other, "display" => display;
    fill: Paint = Paint::Current, "-webkit-text-fill-color" => |it, _| paint(it);
    filter: (f32, bool) = (1.0, false), "filter" | "-webkit-filter" => filter;
    flex_basis: Size = None, "flex-basis" => size;
    flex_column: bool = false, "flex-direction" | "flex-flow" => |it, _| has(it, "column");
    flex_grow: f32 = 0.0, "flex-grow" => number;
    font: f32 = FONT_PX, "font-size" => font_size;
    height: Size = None, "height" | "block-size" => size;
    hidden: bool = false, "visibility" => |it, _| flag(it, "hidden collapse", "visible");
    left: Size = None, "left" | "inset-inline-start" => size;
    line_height: Option<f32> = None, "line-height" => line_height;
    margin_bottom: Size = None, "margin-bottom" | "margin-block-end" => size;
    margin_left: Size = None, "margin-left" | "margin-inline-start" => size;
    margin_right: Size = None, "margin-right" | "margin-inline-end" => size;
    margin_top: Size = None, "margin-top" | "margin-block-start" => size;
    max_height: Size = None, "max-height" | "max-block-size" => size;
    max_width: Size = None, "max-width" | "max-inline-size" => size;
    min_height: Size = None, "min-height" | "min-block-size" => size;
    min_width: Size = None, "min-width" | "min-inline-size" => size;
    mix_blend: bool = false, "mix-blend-mode" => |it, _| Some(!is_one_of("normal", rest(it)));
    opacity: f32 = 1.0, "opacity" => number;
    overflow_x: bool = false, "overflow-x" | "overflow-inline" => overflow;
    overflow_y: bool = false, "overflow-y" | "overflow-block" => overflow;
    padding_bottom: Size = None, "padding-bottom" | "padding-block-end" => size;
    padding_left: Size = None, "padding-left" | "padding-inline-start" => size;
    padding_right: Size = None, "padding-right" | "padding-inline-end" => size;
    padding_top: Size = None, "padding-top" | "padding-block-start" => size;
    position: Position = Position::Static, "position" => position;
    right: Size = None, "right" | "inset-inline-end" => size;
    scale: Transform = Transform::NONE, "scale" => |it, units| transform("scale", it, units);
    stroke: Paint = Paint::Current, "-webkit-text-stroke-color" => |it, _| paint(it);
    stroke_width: f32 = 0.0, "-webkit-text-stroke-width" => |it, units| Some(length(it, units)?.px);
    table_fixed: bool = false, "table-layout" => |it, _| has(it, "fixed");
    text_indent: Size = None, "text-indent" => size;
    text_shadow: Option<Paint> = None, "text-shadow" => text_shadow;
    top: Size = None, "top" | "inset-block-start" => size;
    transform: Transform = Transform::NONE, "transform" | "-webkit-transform" => |it, units| transform("", it, units);
    translate: Transform = Transform::NONE, "translate" => |it, units| transform("translate", it, units);
    width: Size = None, "width" | "inline-size" => size;
    zoom: f32 = 1.0, "zoom" => zoom;
}

impl Style {
    /// What an element in one of this style begins with.
    pub(super) fn within(&self) -> Self {
        let Self { color, fill, font, hidden, stroke, stroke_width, table_fixed, .. } = *self;
        let (text_indent, text_shadow) = (self.text_indent, self.text_shadow);
        Self {
            color,
            fill,
            font,
            hidden,
            stroke,
            stroke_width,
            table_fixed,
            text_indent,
            text_shadow,
            ..Self::default()
        }
    }

    /// Takes over `name: text` in an element in one of the style `outer`. Nothing, if no browser takes it.
    pub(super) fn declare(
        &mut self,
        name: &str,
        text: &str,
        outer: &Self,
        root: f32,
    ) -> Option<()> {
        let text = text.trim();
        let said = match text.to_ascii_lowercase().as_str() {
            "inherit" => Said::Inherit,
            "initial" | "revert" | "revert-layer" => Said::Initial,
            "unset" if is_one_of(INHERITED, name) => Said::Inherit,
            "unset" => Said::Initial,
            _ => Said::Value,
        };
        let elsewhere = stands_elsewhere(&mut Parser::new(text));
        let (said, text) = match name {
            _ if !elsewhere => (said, text),
            "color" | "background" | "background-color" | "background-image" => (said, UNKNOWN),
            "text-shadow" | "-webkit-text-fill-color" => (said, UNKNOWN),
            _ => (Said::Initial, text),
        };
        let units =
            Units { font: if name.starts_with("font") { outer.font } else { self.font }, root };
        let sides: &[&str] = match name {
            "inset" => &["top", "right", "bottom", "left"],
            "inset-block" => &["top", "bottom"],
            "inset-inline" => &["left", "right"],
            "margin" => &["margin-top", "margin-right", "margin-bottom", "margin-left"],
            "padding" => &["padding-top", "padding-right", "padding-bottom", "padding-left"],
            "overflow" => &["overflow-x", "overflow-y"],
            "font" if said == Said::Value => {
                return whole(text, |it| font(it, units)).map(|it| self.font = it);
            }
            "font" => &["font-size"],
            "background" if said == Said::Value => return whole(text, |it| self.background(it)),
            "background" => {
                &["background-color", "background-image", "background-size", "background-clip"]
            }
            "flex" | "-webkit-flex" if said == Said::Value => {
                return whole(text, |it| self.flex(it, units));
            }
            "flex" | "-webkit-flex" => &["flex-grow", "flex-basis"],
            "-webkit-text-stroke" => {
                return whole(text, |it| self.text_stroke(it, units));
            }
            name => return self.longhand(name, text, said, outer, units),
        };
        let parts = parts(text);
        let first = *parts.first()?;
        let second = *parts.get(1).unwrap_or(&first);
        let of = [first, second, parts.get(2).unwrap_or(&first), parts.get(3).unwrap_or(&second)];
        sides
            .iter()
            .zip(of)
            .try_for_each(|(side, text)| self.longhand(side, text, said, outer, units))
    }

    /// Does the box cut off what does not fit into it?
    pub(super) fn is_cut(&self) -> bool {
        self.overflow_x || self.overflow_y
    }

    /// Does it hide by itself, whatever else is said of the element?
    pub(super) fn hides(&self) -> bool {
        self.display == Display::None
            || self.hidden
            || self.content_hidden
            || self.opacity < OPACITY_MIN
            || self.font <= FONT_PX_MIN
            || self.clip
            || self.clip_path
    }

    fn background(&mut self, input: &mut Parser<'_>) -> Option<()> {
        self.background_color = Paint::Known(Colour::CLEAR);
        self.background_image = None;
        (self.background_sized, self.background_clip_text) = (false, false);
        while !input.is_exhausted() {
            if let Some(found) = attempt(input, paint) {
                self.background_color = found;
            } else if let Some(found) = attempt(input, image) {
                self.background_image = self.background_image.or(found);
            } else if let Some(word) = word(input) {
                is_one_of(BACKGROUNDS, &word).then_some(())?;
                self.background_clip_text |= word == "text";
            } else {
                self.background_sized |= matches!(input.next(), Ok(Token::Delim('/')));
            }
        }
        Some(())
    }

    fn flex(&mut self, input: &mut Parser<'_>, units: Units) -> Option<()> {
        let grow = attempt(input, |it| number(it, units));
        let _ = attempt(input, |it| number(it, units));
        (self.flex_grow, self.flex_basis) = (grow.unwrap_or(1.0), grow.map(|_| Length::ZERO));
        if !input.is_exhausted() {
            self.flex_basis = size(input, units)?;
        }
        Some(())
    }

    fn text_stroke(&mut self, input: &mut Parser<'_>, units: Units) -> Option<()> {
        (self.stroke, self.stroke_width) = (Paint::Current, 0.0);
        while !input.is_exhausted() {
            match attempt(input, |it| length(it, units)) {
                Some(found) => self.stroke_width = found.px,
                None => self.stroke = paint(input)?,
            }
        }
        Some(())
    }
}

/// What `parse` makes of the whole text.
fn whole<T>(text: &str, parse: impl FnOnce(&mut Parser<'_>) -> Option<T>) -> Option<T> {
    let mut input = Parser::new(text);
    parse(&mut input).filter(|_| input.is_exhausted())
}

/// The parts of a value, as they stand.
fn parts(text: &str) -> Vec<&str> {
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

/// Is a part given by an attribute, a condition, a place, a function of the page's own or one that is not worked out?
fn stands_elsewhere(input: &mut Parser<'_>) -> bool {
    while let Ok(token) = input.next() {
        let opens = matches!(token, Token::Function(_) | Token::ParenthesisBlock);
        if let Token::Function(name) = token
            && (name.starts_with("--") || is_one_of(ELSEWHERE, &name.to_ascii_lowercase()))
        {
            return true;
        }
        if opens && block(input, stands_elsewhere).unwrap_or(true) {
            return true;
        }
    }
    false
}

/// One word: of these it holds, of those it does not.
fn flag(input: &mut Parser<'_>, yes: &str, no: &str) -> Option<bool> {
    let word = word(input)?;
    let holds = is_one_of(yes, &word);
    (holds || is_one_of(no, &word)).then_some(holds)
}

/// Does a value hold this word, or what begins with it?
fn has(input: &mut Parser<'_>, word: &str) -> Option<bool> {
    Some(rest(input).to_ascii_lowercase().split([' ', ',']).any(|it| it.starts_with(word)))
}

fn overflow(input: &mut Parser<'_>, _: Units) -> Option<bool> {
    flag(input, "hidden clip scroll auto overlay", "visible")
}

fn display(input: &mut Parser<'_>, _: Units) -> Option<Display> {
    let mut found = None;
    while let Some(word) = word(input) {
        let meant = match word.as_str() {
            "none" | "table-column" | "table-column-group" => Display::None,
            "contents" => Display::Contents,
            "flex" | "inline-flex" | "-webkit-flex" => Display::Flex,
            word => is_one_of(DISPLAYS, word).then_some(Display::Other)?,
        };
        found = found.filter(|it| *it != Display::Other).or(Some(meant));
    }
    found
}

fn zoom(input: &mut Parser<'_>, units: Units) -> Option<f32> {
    attempt(input, |it| number(it, units)).or_else(|| word(input).map(|_| 1.0))
}

fn position(input: &mut Parser<'_>, _: Units) -> Option<Position> {
    Some(match word(input)?.as_str() {
        "static" => Position::Static,
        "relative" | "sticky" | "-webkit-sticky" => Position::Relative,
        "absolute" => Position::Absolute,
        "fixed" => Position::Fixed,
        _ => return None,
    })
}

fn size(input: &mut Parser<'_>, units: Units) -> Option<Size> {
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

fn line_height(input: &mut Parser<'_>, units: Units) -> Option<Option<f32>> {
    match attempt(input, |it| number(it, units)) {
        Some(times) => Some(Some(times * units.font)),
        None => Some(size(input, units)?.map(|it| it.px)),
    }
}

fn font_size(input: &mut Parser<'_>, units: Units) -> Option<f32> {
    match attempt(input, |it| length(it, units)) {
        Some(found) => Some(found.of(units.font)),
        None => is_one_of(FONT_SIZES, &word(input)?).then_some(FONT_PX),
    }
}

/// The size in `font`: behind words, and before a family.
fn font(input: &mut Parser<'_>, units: Units) -> Option<f32> {
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
fn filter(input: &mut Parser<'_>, units: Units) -> Option<(f32, bool)> {
    let (mut opacity, mut recolours) = (1.0, false);
    if attempt(input, |it| it.expect_ident_matching("none").ok()).is_some() {
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
fn clip(input: &mut Parser<'_>, units: Units) -> Option<bool> {
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

fn transform(name: &str, input: &mut Parser<'_>, units: Units) -> Option<Transform> {
    if attempt(input, |it| it.expect_ident_matching("none").ok()).is_some() {
        return Some(Transform::NONE);
    }
    if name.is_empty() {
        Transform::parse(input, units)
    } else {
        Transform::of(name, &amounts(input, units)?)
    }
}

/// The colour of a shadow that can be read in the place of the letters.
fn text_shadow(input: &mut Parser<'_>, units: Units) -> Option<Option<Paint>> {
    let mut found = None;
    if attempt(input, |it| it.expect_ident_matching("none").ok()).is_some() {
        return Some(found);
    }
    while !input.is_exhausted() {
        let (mut ink, mut places) = (Paint::Current, Vec::new());
        let one = input.parse_until_before(Delimiter::Comma, |it| {
            while !it.is_exhausted() {
                match attempt(it, |it| length(it, units)) {
                    Some(long) => places.push(long.px),
                    None => ink = paint(it).ok_or(ParseError::<()>::unexpected_token())?,
                }
            }
            Ok(())
        });
        one.ok()?;
        let near = places.iter().take(2).all(|it| it.abs() <= SHADOW_PX_MAX);
        if near && places.get(2).is_none_or(|it| *it <= BLUR_PX_MAX) {
            found = Some(ink);
        }
        let _ = input.next();
    }
    Some(found)
}

/// The name of an animation that ends within a while and stays as it ends.
fn animation(input: &mut Parser<'_>, _: Units) -> Option<Option<Rc<str>>> {
    let (mut name, mut stays, mut seconds) = (None, false, 0.0);
    while let Ok(token) = input.next() {
        if let Token::Dimension { value, unit, .. } = token {
            seconds += if unit.eq_ignore_ascii_case("ms") { value / 1000.0 } else { *value };
        } else if let Token::Ident(word) = token {
            match word.to_ascii_lowercase().as_str() {
                "forwards" | "both" => stays = true,
                "alternate" | "alternate-reverse" | "reverse" | "infinite" | "paused" => {
                    return Some(None);
                }
                word if is_one_of(ANIMATIONS, word) => {}
                word => name = Some(Rc::from(word)),
            }
        }
    }
    Some(name.filter(|_| stays && seconds <= ANIMATION_SECONDS_MAX))
}

/// Less opacity than this shows nothing.
pub(super) const OPACITY_MIN: f32 = 0.05;
/// Letters of this size or less show nothing.
pub(super) const FONT_PX_MIN: f32 = 2.5;
/// A shadow that lies further away is not read as the text, nor one that is blurred more.
const SHADOW_PX_MAX: f32 = 100.0;
const BLUR_PX_MAX: f32 = 8.0;
/// An animation that takes longer is not waited for.
const ANIMATION_SECONDS_MAX: f32 = 30.0;

/// A colour that is not worked out.
const UNKNOWN: &str = "device-cmyk()";
/// Functions whose values stand elsewhere, or are not worked out.
const ELSEWHERE: &str = "attr if env sibling-index sibling-count anchor calc-size round mod rem abs sign sin cos pow \
    sqrt hypot log exp";
/// Properties that an element takes from the one around.
const INHERITED: &str =
    "color font font-size visibility text-indent text-shadow -webkit-text-fill-color";
/// Words that properties know, beside those that matter.
const DISPLAYS: &str = "block inline inline-block grid inline-grid flow-root flow list-item table inline-table \
    table-row table-cell table-row-group table-header-group table-footer-group table-caption ruby ruby-text ruby-base \
    run-in math -webkit-box -webkit-inline-box -ms-flexbox -ms-grid";
const SIZES: &str = "auto none normal content stretch fit-content min-content max-content";
const FONT_SIZES: &str =
    "xx-small x-small small medium large x-large xx-large xxx-large math smaller larger";
const BACKGROUNDS: &str = "none repeat no-repeat repeat-x repeat-y space round scroll fixed local center top bottom \
    left right cover contain auto border-box padding-box content-box text";
const ANIMATIONS: &str = "ease linear ease-in ease-out ease-in-out normal running backwards none";
