//! The cascade: what all rules together say of one element.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use cssparser::{Parser, Token};
use selectors::context::{
    MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, QuirksMode,
    SelectorCaches,
};
use selectors::matching::matches_selector;

use super::colour::{Colour, Paint};
use super::element::ElementRef;
use super::property::Style;
use super::read_sheet::read_style;
use super::sheet::{Declared, Layer, Rule, Sheet, candidates};
use super::tree::{Element, Id, Tree};
use super::value::{FONT_PX, attempt, block, is_one_of};

/// Properties of the page's own at a place, with all `var()` in them replaced.
pub(super) type Custom = Rc<HashMap<Rc<str>, Rc<str>>>;

/// A place in the page: the style there, the page's own properties, and whether no rule of the page reaches it.
#[derive(Clone, Default)]
pub(super) struct Place {
    pub(super) style: Rc<Style>,
    pub(super) custom: Custom,
    pub(super) in_shadow: bool,
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
    fuel: Cell<usize>,
}

/// A declaration and what it counts for against others of its property.
struct Weighed<'s> {
    /// The sheet of the browser counts least, then rules, then the `style` attribute.
    origin: usize,
    rule: Option<&'s Rule>,
    specificity: u32,
    what: &'s Declared,
}

impl<'a> Styles<'a> {
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet) -> Self {
        let (caches, fuel) = (SelectorCaches::default(), Cell::new(FUEL));
        Self { tree, sheet, root_font: FONT_PX, link: LINK.to_owned(), caches, fuel }
    }

    /// Was there too much to match? Then not every rule was held against the last element.
    pub(super) fn is_exhausted(&self) -> bool {
        self.fuel.get() == 0
    }

    /// The place that an element makes of the one around it.
    pub(super) fn of(&mut self, (id, element): (Id, &'a Element), around: &Place) -> Place {
        let inline = element.attribute("style").map(read_style).unwrap_or_default();
        let mut found = self.matched((id, element), false, around.in_shadow);
        let weighed = |what| Weighed { origin: 2, rule: None, specificity: 0, what };
        found.extend(inline.iter().map(weighed));
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
        for entry in candidates(index, element) {
            let price = entry.price;
            let Some(left) = fuel.get().checked_sub(price) else {
                fuel.set(0);
                break;
            };
            fuel.set(left);
            let Some(rule) = self.sheet.rules.get(entry.rule) else { continue };
            let subject = ElementRef { tree, id, element, fuel, price };
            if (!in_shadow || rule.of_browser)
                && matches_selector(&entry.selector, 0, None, subject, &mut context)
            {
                // What is declared is sorted and read.
                fuel.set(fuel.get().saturating_sub(1 + rule.block.len()));
                let (origin, specificity) =
                    (usize::from(!rule.of_browser), entry.selector.specificity());
                let weighed = |what| Weighed { origin, rule: Some(rule), specificity, what };
                found.extend(rule.block.iter().map(weighed));
            }
        }
        found
    }

    fn cascade(
        &self,
        mut found: Vec<Weighed<'_>>,
        hints: &[(&str, String)],
        around: &Place,
    ) -> Place {
        let no_layer = Layer::default();
        found.sort_by(|one, other| {
            let of = |it: &Weighed<'_>| (it.what.important, it.origin);
            let order = |it: &Weighed<'_>| (it.specificity, it.rule.map(|it| it.order));
            // What is important is the stronger, the earlier its layer.
            let [one_layer, other_layer] =
                [one, other].map(|it| it.rule.map_or(&no_layer, |it| &it.layer));
            let layers = one_layer.rank().cmp(other_layer.rank());
            let layers = if one.what.important { layers.reverse() } else { layers };
            of(one).cmp(&of(other)).then(layers).then_with(|| order(one).cmp(&order(other)))
        });
        let custom = self.custom(&found, &around.custom);
        let mut style = around.style.within();
        for (name, text) in hints {
            style.declare(name, text, &around.style, self.root_font);
        }
        // Lengths are counted by the size of letters, so that comes first.
        for first in [true, false] {
            for Weighed { what: Declared { name, text, .. }, .. } in &found {
                if first != (name.starts_with("font") || **name == *"color-scheme")
                    || name.starts_with("--")
                {
                    continue;
                }
                let text = self.resolved(text, &HashMap::new(), &custom, 0);
                let Some(text) = text else { continue };
                style.declare(name, &text, &around.style, self.root_font);
                if first && style.dark {
                    style.color = Paint::Known(Colour::WHITE);
                }
            }
        }
        if style.color == Paint::Current {
            style.color = around.style.color;
        }
        if style.animation.as_ref().is_some_and(|it| self.sheet.animations.contains(&**it)) {
            (style.opacity, style.hidden) = (1.0, around.style.hidden);
        }
        Place { style: Rc::new(style), custom, in_shadow: around.in_shadow }
    }

    /// The page's own properties of an element that declares some.
    fn custom(&self, found: &[Weighed<'_>], around: &Custom) -> Custom {
        let own = found.iter().map(|it| it.what).filter(|it| it.is_custom());
        let own: HashMap<&str, &str> = own.map(|it| (&*it.name, &*it.text)).collect();
        if own.is_empty() || !self.spend(around.len()) {
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

    /// A value in which everything stands in the place of its `var()`: what is declared here, or around.
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
        if depth > VARIABLES_DEEP_MAX || !self.spend(1 + text.len() / BYTES_OF_A_STEP) {
            return None;
        }
        let mut out = String::new();
        let mut of = |name: &str| match own.get(name) {
            Some(text) => self.resolved(text, own, around, depth + 1),
            None => around.get(name).map(|it| (**it).to_owned()),
        };
        replace(&mut Parser::new(text), &mut of, &mut out)?;
        Some(out)
    }

    /// Takes so much fuel; false if there is not so much.
    fn spend(&self, fuel: usize) -> bool {
        let left = self.fuel.get().checked_sub(fuel);
        self.fuel.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// Replaces each `var(--name, otherwise)`. Nothing if one means nothing, or if it becomes too long.
fn replace(
    input: &mut Parser<'_>,
    of: &mut dyn FnMut(&str) -> Option<String>,
    out: &mut String,
) -> Option<()> {
    loop {
        let start = input.position();
        let Ok(token) = input.next_including_whitespace().cloned() else { return Some(()) };
        let is_function = matches!(token, Token::Function(_));
        if matches!(&token, Token::Function(name) if name.eq_ignore_ascii_case("var")) {
            let value = block(input, |it| {
                let name = it.expect_ident_cloned().ok()?;
                let otherwise = attempt(it, |it| it.expect_comma().ok()).is_some();
                match of(&name) {
                    Some(value) => out.push_str(&value),
                    None => otherwise.then(|| replace(it, of, out)).flatten()?,
                }
                Some(())
            });
            value.flatten()?;
        } else {
            out.push_str(input.slice_from(start));
            if is_function || matches!(token, Token::ParenthesisBlock) {
                block(input, |it| replace(it, of, out)).flatten()?;
                out.push(')');
            }
        }
        if out.len() > VALUE_BYTES_MAX {
            return None;
        }
    }
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
    if is_one_of("body table tr td th thead tbody tfoot", element.local()) {
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
