//! The colours of a text and of what lies behind it.

use super::colour::{Colour, Image, Paint};
use super::property::{Property, Value, Word};
use super::style::Style;
use super::tree::{Element, Id};

/// Colours at a place of the page.
#[derive(Clone, Copy)]
pub(super) struct Colours {
    /// Of the text; nothing if it is not known.
    colour: Option<Colour>,
    /// `-webkit-text-fill-color`, where it is another.
    fill: Option<Option<Colour>>,
    /// The element that gave the text its colour.
    pub(super) by: Id,
    /// What transparent letters let through: a background that is clipped to them.
    letters: Option<Option<Colour>>,
    shadow: Option<Paint>,
    stroke: Option<Paint>,
    link: Colour,
    /// What lies behind the text; nothing if it is not known.
    pub(super) ground: Option<Colour>,
    /// A filter or a blend changes colours here.
    recoloured: bool,
}

impl Colours {
    /// Of a page on which nothing is said; `plain` if no style sheet in a file can have painted it.
    pub(super) fn of_page(plain: bool, dark: bool) -> Self {
        let colour = if dark { Colour::WHITE } else { Colour::BLACK };
        let ground = if dark { Colour::DARK_PAGE } else { Colour::WHITE };
        Self {
            colour: Some(colour),
            fill: None,
            by: 0,
            letters: None,
            shadow: None,
            stroke: None,
            link: Colour::LINK,
            ground: plain.then_some(ground),
            recoloured: false,
        }
    }

    /// Is text with a share of its opacity of the colour of what lies behind it?
    pub(super) fn vanish(&self, opacity: f32) -> bool {
        let Some(mut ink) = self.fill.unwrap_or(self.colour) else { return false };
        if ink.is_clear()
            && let Some(letters) = self.letters
        {
            let Some(letters) = letters else { return false };
            ink = letters;
        }
        let lost = |ink: Colour| {
            ink.is_clear() || self.ground.is_some_and(|it| ink.faded(opacity).vanishes_on(it))
        };
        let seen = |paint: Option<Paint>| {
            paint.is_some_and(|it| known(it, self.colour).is_none_or(|it| !lost(it)))
        };
        !self.recoloured && lost(ink) && !seen(self.shadow) && !seen(self.stroke)
    }

    /// Can something of this colour be told from the text? What is not known can.
    pub(super) fn differ_from(&self, paint: Option<Colour>) -> bool {
        let ink = self.fill.unwrap_or(self.colour);
        ink.zip(paint).is_none_or(|(ink, paint)| !ink.vanishes_on(paint))
    }

    /// Takes over what is declared in something of the colours `outer`; `boxless` if there is nothing to paint behind the text.
    pub(super) fn declare(&mut self, style: &Style, id: Id, outer: &Self, boxless: bool) {
        use Property as P;
        if style.is(P::ColorScheme, Word::Dark) {
            let Self { colour, ground, .. } = Self::of_page(self.ground.is_some(), true);
            (self.colour, self.ground) = (colour, ground);
        }
        match style.get(P::Color) {
            Some(Value::Paint(paint)) => {
                (self.colour, self.by) = (known(*paint, outer.colour), id);
            }
            Some(Value::Inherit) => (self.colour, self.by) = (outer.colour, outer.by),
            Some(Value::Initial) => (self.colour, self.by) = (Some(Colour::BLACK), id),
            Some(Value::Unknown) => self.colour = None,
            _ => {}
        }
        match style.get(P::TextFillColor) {
            Some(Value::Paint(Paint::Current) | Value::Initial) => self.fill = None,
            Some(Value::Paint(paint)) => {
                (self.fill, self.by) = (Some(known(*paint, self.colour)), id);
            }
            Some(Value::Unknown) => self.fill = Some(None),
            _ => {}
        }
        let line = |property, inherited| match style.get(property) {
            Some(Value::Paint(paint)) => Some(*paint),
            Some(Value::Word(_) | Value::Initial) => None,
            Some(Value::Unknown) => Some(Paint::Unknown),
            _ => inherited,
        };
        self.shadow = line(P::TextShadow, self.shadow);
        self.stroke = line(P::TextStrokeColor, self.stroke);
        if let Some(Value::Length(width)) = style.get(P::TextStrokeWidth) {
            let seen = width.about() >= STROKE_PX_MIN;
            self.stroke = seen.then_some(self.stroke.unwrap_or(Paint::Current));
        }
        self.recoloured |= style.is(P::MixBlendMode, Word::Other)
            || matches!(style.get(P::Filter), Some(Value::Filter(_, true) | Value::Unknown));
        if !boxless {
            self.background(style);
        }
    }

    fn background(&mut self, style: &Style) {
        use Property as P;
        let sized = style.is(P::BackgroundSize, Word::Other);
        let colour = match style.get(P::BackgroundColor) {
            Some(Value::Paint(paint)) => Some(known(*paint, self.colour)),
            Some(Value::Unknown) => Some(None),
            _ => None,
        };
        let image = match style.get(P::BackgroundImage) {
            Some(Value::Image(Image::Flat(paint))) if !sized => Some(known(*paint, self.colour)),
            Some(Value::Image(Image::None)) => None,
            Some(Value::Image(_) | Value::Unknown) => Some(None),
            _ => None,
        };
        let to_letters = style.is(P::BackgroundClip, Word::Text);
        for layer in [colour, image].into_iter().flatten() {
            if layer.is_some_and(Colour::is_clear) {
                continue;
            }
            if to_letters {
                self.letters = Some(layer);
            } else {
                self.paint(layer);
            }
        }
        if style.is(P::BoxShadow, Word::Inset) {
            self.ground = None;
        }
    }

    /// Paints over what lies behind the text.
    fn paint(&mut self, paint: Option<Colour>) {
        self.letters = None;
        self.ground = paint.and_then(|paint| match self.ground {
            Some(ground) => Some(paint.over(ground)),
            None => paint.is_opaque().then_some(paint),
        });
    }

    /// Takes over attributes that are older than style sheets.
    pub(super) fn attributes(&mut self, element: &Element, id: Id) {
        let colour = |name| element.attribute(name).and_then(Colour::of_attribute);
        let name = &*element.name.local;
        let ink = match name {
            "font" => colour("color"),
            "body" => colour("text"),
            "a" if element.attribute("href").is_some() => Some(self.link),
            _ => None,
        };
        if let Some(ink) = ink {
            (self.colour, self.by) = (Some(ink), id);
        }
        if name == "body" {
            self.link = colour("link").unwrap_or(self.link);
        }
        if !matches!(name, "body" | "table" | "tr" | "td" | "th" | "thead" | "tbody" | "tfoot") {
            return;
        }
        if let Some(ground) = colour("bgcolor") {
            self.paint(Some(ground));
        }
        if element.attribute("background").is_some_and(|it| !it.trim().is_empty()) {
            self.ground = None;
        }
    }
}

fn known(paint: Paint, current: Option<Colour>) -> Option<Colour> {
    match paint {
        Paint::Known(colour) => Some(colour),
        Paint::Current => current,
        Paint::Unknown => None,
    }
}

/// The thinnest edge of letters that is seen, in pixels.
const STROKE_PX_MIN: f32 = 0.4;
