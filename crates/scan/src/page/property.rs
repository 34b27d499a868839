//! Properties of CSS by which text is lost from sight, and what declarations make of them.

use cssparser::Parser;

use super::colour::{Colour, Paint, image, paint};
use super::value::{
    FONT_PX, Length, Transform, Units, attempt, is_one_of, length, list, number, rest, word,
};
use super::values::{
    clip, display, filter, flag, font_shorthand, font_size, has, line_height, overflow, parts,
    position, size, text_shadow, transform, whole,
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

/// Lists what is known of a style: its type, what it is at first, the names of its property and how a value is parsed. The
/// first ones are those that an element takes from the one around.
macro_rules! properties {
    (
        $($taken:ident: $taken_kind:ty = $taken_initial:expr, $($taken_name:literal)|+ => $taken_parse:expr;)+
        ---
        $($field:ident: $kind:ty = $initial:expr, $($name:literal)|+ => $parse:expr;)+
    ) => {
        /// What counts of an element, as far as it matters here. Names are those of the properties.
        #[derive(Clone, Debug)]
        pub(super) struct Style { $(pub(super) $taken: $taken_kind,)+ $(pub(super) $field: $kind),+ }

        impl Default for Style {
            fn default() -> Self {
                Self { $($taken: $taken_initial,)+ $($field: $initial),+ }
            }
        }

        impl Style {
            /// What an element in one of this style begins with.
            pub(super) fn within(&self) -> Self {
                Self { $($taken: self.$taken.clone(),)+ ..Self::default() }
            }

            fn longhand(&mut self, name: &str, text: &str, outer: &Self, units: Units) -> Option<()> {
                match name {
                    $($($taken_name)|+ => self.$taken = match text {
                        "inherit" | "unset" => outer.$taken.clone(),
                        "initial" => $taken_initial,
                        _ => whole(text, |it| $taken_parse(it, units))?,
                    },)+
                    $($($name)|+ => self.$field = match text {
                        "inherit" => outer.$field.clone(),
                        "initial" | "unset" => $initial,
                        _ => whole(text, |it| $parse(it, units))?,
                    },)+
                    _ => return None,
                }
                Some(())
            }
        }
    };
}

properties! {
    color: Paint = Paint::Known(Colour::BLACK), "color" => |it, _| paint(it);
    fill: Paint = Paint::Current, "-webkit-text-fill-color" => |it, _| paint(it);
    font: f32 = FONT_PX, "font-size" => font_size;
    hidden: bool = false, "visibility" => |it, _| flag(it, "hidden collapse", "visible");
    stroke: Paint = Paint::Current, "-webkit-text-stroke-color" => |it, _| paint(it);
    stroke_width: f32 = 0.0, "-webkit-text-stroke-width" => |it, units| Some(length(it, units)?.px);
    table_fixed: bool = false, "table-layout" => |it, _| has(it, "fixed");
    text_indent: Size = None, "text-indent" => size;
    text_shadow: Option<Paint> = None, "text-shadow" => text_shadow;
    ---
    animation_stays: bool = false, "animation" | "-webkit-animation" => |it, _| has(it, "forwards both");
    background_clip_text: bool = false, "background-clip" | "-webkit-background-clip" => |it, _| has(it, "text");
    background_color: Paint = Paint::Known(Colour::CLEAR), "background-color" => |it, _| paint(it);
    background_image: Option<Paint> = None, "background-image" => |it, _| list(it, image)?.into_iter().next();
    background_sized: bool = false, "background-size" => |it, _| Some(!rest(it).is_empty());
    bottom: Size = None, "bottom" | "inset-block-end" => size;
    box_shadow_inset: bool = false, "box-shadow" => |it, _| has(it, "inset");
    clip: bool = false, "clip" => clip;
    clip_path: bool = false, "clip-path" | "-webkit-clip-path" => clip;
    content: bool = false, "content" => |it, _| Some(!is_one_of("none normal", rest(it)));
    content_hidden: bool = false, "content-visibility" => |it, _| flag(it, "hidden", "visible auto");
    dark: bool = false, "color-scheme" => |it, _| Some(is_one_of("dark", rest(it)));
    display: Display = Display::Other, "display" => display;
    filter: (f32, bool) = (1.0, false), "filter" | "-webkit-filter" => filter;
    flex_basis: Size = None, "flex-basis" => size;
    flex_column: bool = false, "flex-direction" | "flex-flow" => |it, _| has(it, "column column-reverse");
    flex_grow: f32 = 0.0, "flex-grow" => number;
    height: Size = None, "height" | "block-size" => size;
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
    top: Size = None, "top" | "inset-block-start" => size;
    transform: Transform = Transform::NONE, "transform" | "-webkit-transform" => |it, units| transform("", it, units);
    translate: Transform = Transform::NONE, "translate" => |it, units| transform("translate", it, units);
    width: Size = None, "width" | "inline-size" => size;
    zoom: f32 = 1.0, "zoom" => number;
}

impl Style {
    /// Takes over `name: text` in an element in one of the style `outer`. Nothing, if no browser takes it.
    pub(super) fn declare(
        &mut self,
        name: &str,
        text: &str,
        outer: &Self,
        root: f32,
    ) -> Option<()> {
        let small = text.trim().to_ascii_lowercase();
        let text = match small.as_str() {
            "inherit" | "initial" | "unset" => &small,
            "revert" | "revert-layer" => "initial",
            _ => text.trim(),
        };
        self.take(name, text, outer, root).or_else(|| {
            let elsewhere = ELSEWHERE.split_ascii_whitespace().any(|it| small.contains(it))
                || (small.starts_with("--") && small.ends_with(')'));
            let text = if is_one_of(COLOURS, name) { UNKNOWN } else { "initial" };
            elsewhere.then(|| self.take(name, text, outer, root)).flatten()
        })
    }

    fn take(&mut self, name: &str, text: &str, outer: &Self, root: f32) -> Option<()> {
        let keyword = matches!(text, "inherit" | "initial" | "unset");
        let font = if name.starts_with("font") { outer.font } else { self.font };
        let units = Units { font, root };
        let sides: &[&str] = match name {
            "font" if keyword => &["font-size"],
            "font" => return whole(text, |it| font_shorthand(it, units)).map(|it| self.font = it),
            "background" if keyword => {
                &["background-color", "background-image", "background-size", "background-clip"]
            }
            "background" => return whole(text, |it| self.background(it, units)),
            "flex" | "-webkit-flex" if keyword => &["flex-grow", "flex-basis"],
            "flex" | "-webkit-flex" => return whole(text, |it| self.flex(it, units)),
            "-webkit-text-stroke" => {
                let [width, ink] = ["-webkit-text-stroke-width", "-webkit-text-stroke-color"];
                return parts(text).into_iter().try_for_each(|it| {
                    let width = self.longhand(width, it, outer, units);
                    width.or_else(|| self.longhand(ink, it, outer, units))
                });
            }
            "inset" => &["top", "right", "bottom", "left"],
            "inset-block" => &["top", "bottom"],
            "inset-inline" => &["left", "right"],
            "margin" => &["margin-top", "margin-right", "margin-bottom", "margin-left"],
            "padding" => &["padding-top", "padding-right", "padding-bottom", "padding-left"],
            "overflow" => &["overflow-x", "overflow-y"],
            name => return self.longhand(name, text, outer, units),
        };
        let parts = parts(text);
        let first = *parts.first()?;
        let second = *parts.get(1).unwrap_or(&first);
        let of = [first, second, parts.get(2).unwrap_or(&first), parts.get(3).unwrap_or(&second)];
        let mut each = sides.iter().zip(of);
        each.try_for_each(|(side, text)| self.longhand(side, text, outer, units))
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

    fn background(&mut self, input: &mut Parser<'_>, units: Units) -> Option<()> {
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
            } else if input.try_parse(|it| it.expect_delim('/')).is_ok() {
                self.background_sized = true;
            } else if attempt(input, |it| length(it, units)).is_none() {
                input.expect_comma().ok()?;
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
}

/// Less opacity than this shows nothing.
pub(super) const OPACITY_MIN: f32 = 0.05;
/// Letters of this size or less show nothing.
pub(super) const FONT_PX_MIN: f32 = 2.5;
/// A colour that is not worked out.
const UNKNOWN: &str = "device-cmyk()";
/// Functions whose values stand elsewhere, or are not worked out.
const ELSEWHERE: &str = "attr( if( env( sibling-index( sibling-count( anchor( calc-size( round( mod( rem( abs( sign( \
    sin( cos( pow( sqrt( hypot( log( exp(";
/// Properties whose colours may not be worked out.
const COLOURS: &str =
    "color background background-color background-image text-shadow -webkit-text-fill-color";
const BACKGROUNDS: &str = "none repeat no-repeat repeat-x repeat-y space round scroll fixed local center top bottom \
    left right cover contain auto border-box padding-box content-box text";
