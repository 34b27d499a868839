//! Attributes that say what styles say: those from before there were style sheets, and those of formulas.

use super::colour::Ink;
use super::css::tokens;
use super::declare::{Paint, Said, State, Switch};
use super::style::Style;
use super::tree::Element;
use super::value;

impl Style {
    /// What attributes say that are older than style sheets, or those of formulas.
    pub(super) fn old_attributes(&mut self, element: &Element) {
        let name = &*element.name.local;
        let paint = |it: &str| Ink::parse_attribute(it).map(Paint::Known);
        self.colour = match name {
            "font" => element.attribute("color").and_then(paint),
            "body" => element.attribute("text").and_then(paint),
            _ => None,
        };
        if name == "body" {
            self.link = element.attribute("link").and_then(Ink::parse_attribute);
        }
        if matches!(
            name,
            "body" | "table" | "tr" | "td" | "th" | "thead" | "tbody" | "tfoot" | "marquee"
        ) {
            self.background = element.attribute("bgcolor").and_then(paint);
            if element.attribute("background").is_some_and(|it| !it.trim().is_empty()) {
                self.set(Switch::Image, State::Hides);
            }
        }
        if element.is_math() {
            let mut say = |said: Said| self.say(&said);
            let names = [
                ("mathcolor", "color"),
                ("mathbackground", "background-color"),
                ("mathsize", "font-size"),
            ];
            for (attribute, property) in names {
                let text = element.attribute(attribute).unwrap_or_default();
                value::read(property, &tokens(text), false, &mut say);
            }
        }
        if name == "marquee" {
            let is_zero = |side: &str| element.attribute(side).is_some_and(|it| it.trim() == "0");
            let sides = [("width", Switch::WidthZero), ("height", Switch::HeightZero)];
            let zero = sides.iter().filter(|it| is_zero(it.0)).map(|it| it.1);
            // It shows what passes by, and no more.
            let all = zero.chain([Switch::OverflowX, Switch::OverflowY]);
            all.for_each(|it| self.set(it, State::Hides));
        }
    }
}
