//! The cascade: what all rules together say of one element.

use std::collections::HashMap;
use std::rc::Rc;

use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode,
    SelectorCaches,
};
use selectors::matching::matches_selector;

use super::colour::{Colour, Paint};
use super::element::{ElementRef, Fuel};
use super::property::Style;
use super::read_sheet::read_style;
use super::sheet::{Declared, Entry, Sheet, candidates};
use super::tree::{Element, Id, Tree};
use super::value::FONT_PX;

/// Properties of the page's own at a place, with all `var()` in them replaced.
pub(super) type Custom = Rc<HashMap<Rc<str>, Rc<str>>>;

/// A place in the page: the style there, the page's own properties, and whether no rule of the page reaches it.
#[derive(Clone, Default)]
pub(super) struct Place {
    pub(super) style: Rc<Style>,
    custom: Custom,
    pub(super) in_shadow: bool,
    /// Nothing is declared of the element, so another one in it looks the same.
    plain: bool,
}

impl Place {
    /// A place of which this alone is said.
    pub(super) fn of(style: Style) -> Self {
        Self { style: style.into(), ..Self::default() }
    }
}

/// Finds the styles of elements.
pub(super) struct Styles<'a> {
    pub(super) tree: &'a Tree,
    sheet: &'a Sheet,
    /// The size of letters that `rem` counts by.
    root_font: f32,
    /// The colour of links.
    link: String,
    caches: SelectorCaches,
    fuel: Fuel,
}

/// A declaration and what it counts for against others of its property: importance, where it stands (the browser's own
/// sheet, rules, the `style` attribute), the layer, specificity, order.
type Weighed<'s> = ((bool, usize, (bool, Vec<isize>), u32, usize), &'s Declared);

impl<'a> Styles<'a> {
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet) -> Self {
        let (caches, fuel) = (SelectorCaches::default(), Fuel::new(FUEL));
        Self { tree, sheet, root_font: FONT_PX, link: LINK.to_owned(), caches, fuel }
    }

    /// Was there too much to match? Then not every rule was held against the last element.
    pub(super) fn is_exhausted(&self) -> bool {
        self.fuel.is_empty()
    }

    /// The place that an element makes of the one around it.
    pub(super) fn of(&mut self, (id, element): (Id, &'a Element), around: &Place) -> Place {
        let inline = element.attribute("style").map(read_style).unwrap_or_default();
        let mut found = self.matched((id, element), false, around.in_shadow);
        let weight = |it: &Declared| (it.important, 2, (false, Vec::new()), 0, 0);
        found.extend(inline.iter().map(|it| (weight(it), it)));
        let place = self.cascade(found, &hints(element, &self.link), around);
        match element.local() {
            "html" => self.root_font = place.style.font,
            "body" => self.link = colour_of(element, "link").unwrap_or(LINK.to_owned()),
            _ => {}
        }
        place
    }

    /// The same of the `::before` and `::after` of an element, taken together.
    pub(super) fn of_pseudo(&mut self, of: (Id, &'a Element), around: &Place) -> Place {
        let found = self.matched(of, true, around.in_shadow);
        self.cascade(found, &[], around)
    }

    /// What rules declare of an element.
    fn matched(
        &mut self,
        (id, element): (Id, &'a Element),
        pseudo: bool,
        in_shadow: bool,
    ) -> Vec<Weighed<'a>> {
        use MatchingMode::{ForStatelessPseudoElement, Normal};
        let (tree, fuel) = (self.tree, &self.fuel);
        let (index, mode) = match pseudo {
            false => (&self.sheet.elements, Normal),
            true => (&self.sheet.pseudo, ForStatelessPseudoElement),
        };
        let quirks = if tree.is_quirky { QuirksMode::Quirks } else { QuirksMode::NoQuirks };
        let (flags, invalidation) = (NeedsSelectorFlags::No, MatchingForInvalidation::No);
        let mut context =
            MatchingContext::new(mode, None, &mut self.caches, quirks, flags, invalidation);
        let mut found = Vec::new();
        for Entry { selector, rule, price } in candidates(index, element) {
            let Some(rule) = self.sheet.rules.get(*rule).filter(|_| fuel.spend(*price)) else {
                break;
            };
            let subject = ElementRef { tree, id, element, fuel, price: *price };
            if (in_shadow && !rule.of_browser)
                || !matches_selector(selector, 0, None, subject, &mut context)
            {
                continue;
            }
            // What is declared is sorted and read.
            let _ = fuel.spend(1 + rule.block.len());
            found.extend(rule.block.iter().map(|it| {
                // What is important is the stronger, the earlier its layer.
                let sign = if it.important { -1 } else { 1 };
                let layer = rule.layer.iter().map(|it| sign * it).collect();
                let layer = (rule.layer.is_empty() != it.important, layer);
                let origin = usize::from(!rule.of_browser);
                ((it.important, origin, layer, selector.specificity(), rule.order), it)
            }));
        }
        found
    }

    fn cascade(
        &self,
        mut found: Vec<Weighed<'_>>,
        hints: &[(&str, String)],
        around: &Place,
    ) -> Place {
        let plain = found.is_empty() && hints.is_empty();
        if plain && around.plain {
            return around.clone();
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let custom = self.custom(&found, &around.custom);
        let mut style = around.style.within();
        for (name, text) in hints {
            style.declare(name, text, &around.style, self.root_font);
        }
        // Lengths are counted by the size of letters, so that comes first.
        for first in [true, false] {
            for (_, what) in &found {
                let Declared { name, text, .. } = what;
                if first != (name.starts_with("font") || **name == *"color-scheme")
                    || what.is_custom()
                {
                    continue;
                }
                let text = self.resolved(text, &HashMap::new(), &custom, 0);
                let text = text.as_deref().unwrap_or("unset");
                style.declare(name, text, &around.style, self.root_font);
                if first && style.dark {
                    style.color = Paint::Known(Colour::WHITE);
                }
            }
        }
        if style.color == Paint::Current {
            style.color = around.style.color;
        }
        if style.animation_stays {
            // It is taken to show what is hidden until then.
            (style.opacity, style.hidden) = (1.0, around.style.hidden);
        }
        Place { style: Rc::new(style), custom, in_shadow: around.in_shadow, plain }
    }

    /// The page's own properties of an element that declares some.
    fn custom(&self, found: &[Weighed<'_>], around: &Custom) -> Custom {
        let own = found.iter().map(|it| it.1);
        let own = own.filter(|it| it.is_custom() && it.text.len() <= VALUE_BYTES_MAX);
        let own: HashMap<&str, &str> = own.map(|it| (&*it.name, &*it.text)).collect();
        if own.is_empty() || !self.fuel.spend(around.len()) {
            return Rc::clone(around);
        }
        let mut all = (**around).clone();
        for (name, text) in &own {
            match self.resolved(text, &own, around, 0) {
                Some(text) => all.insert((*name).into(), text.into()),
                None => all.remove(*name),
            };
        }
        Rc::new(all)
    }

    /// A value in which everything stands in the place of each `var(--name, otherwise)`: what is declared here, or around.
    /// Nothing if one means nothing, or if it becomes too long.
    fn resolved(
        &self,
        text: &str,
        own: &HashMap<&str, &str>,
        around: &Custom,
        depth: usize,
    ) -> Option<String> {
        if !text.contains("var(") {
            return Some(text.to_owned());
        }
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("var(") {
            if depth > VARIABLES_DEEP_MAX
                || out.len() + rest.len() > VALUE_BYTES_MAX
                || !self.fuel.spend(1 + rest.len() / BYTES_OF_A_STEP)
            {
                return None;
            }
            let (inside, behind) = closed(after);
            let (name, otherwise) = inside.split_once(',').unwrap_or((inside, ""));
            let value = match own.get(name.trim()) {
                Some(text) => self.resolved(text, own, around, depth + 1),
                None => around.get(name.trim()).map(|it| (**it).to_owned()),
            };
            let otherwise =
                || inside.contains(',').then(|| self.resolved(otherwise, own, around, depth + 1));
            out.push_str(before);
            out.push_str(&value.or_else(|| otherwise().flatten())?);
            rest = behind;
        }
        out.push_str(rest);
        (out.len() <= VALUE_BYTES_MAX).then_some(out)
    }
}

/// What stands in brackets that were just opened, and what stands behind them.
pub(super) fn closed(text: &str) -> (&str, &str) {
    let mut open = 1_usize;
    for (at, sign) in text.bytes().enumerate() {
        open = match sign {
            b'(' => open + 1,
            b')' => open - 1,
            _ => open,
        };
        if open == 0 {
            return (text.get(..at).unwrap_or(text), text.get(at + 1..).unwrap_or_default());
        }
    }
    (text, "")
}

/// What attributes say that are older than style sheets, as declarations.
fn hints(element: &Element, link: &str) -> Vec<(&'static str, String)> {
    let colour = |name| colour_of(element, name);
    let ink = match element.local() {
        "font" => colour("color"),
        "body" => colour("text"),
        "a" if element.attribute("href").is_some() => Some(link.to_owned()),
        _ => None,
    };
    let mut all: Vec<_> = ink.into_iter().map(|it| ("color", it)).collect();
    if matches!(
        element.local(),
        "body" | "table" | "tr" | "td" | "th" | "thead" | "tbody" | "tfoot"
    ) {
        all.extend(colour("bgcolor").map(|it| ("background-color", it)));
        let picture = element.attribute("background").filter(|it| !it.trim().is_empty());
        all.extend(picture.map(|_| ("background-image", "src()".to_owned())));
    }
    all
}

/// A colour in an attribute: a name, or digits with or without their sign.
fn colour_of(element: &Element, name: &str) -> Option<String> {
    let text = element.attribute(name)?.trim();
    let digits = matches!(text.len(), 3 | 6) && text.bytes().all(|it| it.is_ascii_hexdigit());
    Some(if digits { format!("#{text}") } else { text.to_owned() })
}

/// The colour of a link that nobody followed.
const LINK: &str = "#0000ee";
/// Steps of matching for one page: comparisons of selectors with elements, and elements on the way.
const FUEL: usize = 6_000_000;
/// Bytes of a value that are read for one step's fuel.
const BYTES_OF_A_STEP: usize = 64;
/// How often a property of the page's own leads to another.
const VARIABLES_DEEP_MAX: usize = 8;
/// Bytes of a value with all that it refers to.
const VALUE_BYTES_MAX: usize = 4096;
