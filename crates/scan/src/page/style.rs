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

use super::element::ElementRef;
use super::property::{Property, Value, Word, declare};
use super::read_sheet::read_style;
use super::sheet::{Block, Sheet};
use super::tree::{Element, Id, Tree};
use super::value::{FONT_PX, block};

/// Properties of the page's own at a place, with all `var()` in them replaced.
pub(super) type Custom = Rc<HashMap<Rc<str>, Rc<str>>>;

/// What is declared of an element, the weakest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Style(Vec<(Property, Value)>);

impl Style {
    /// What counts of a property.
    pub(super) fn get(&self, property: Property) -> Option<&Value> {
        self.0.iter().rev().find(|it| it.0 == property).map(|it| &it.1)
    }

    /// Is it this word?
    pub(super) fn is(&self, property: Property, word: Word) -> bool {
        matches!(self.get(property), Some(Value::Word(it)) if *it == word)
    }

    /// Does the box cut off what does not fit into it?
    pub(super) fn is_cut(&self) -> bool {
        self.is(Property::OverflowX, Word::Hidden) || self.is(Property::OverflowY, Word::Hidden)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Finds the styles of elements.
pub(super) struct Styles<'a> {
    pub(super) tree: &'a Tree,
    pub(super) sheet: &'a Sheet,
    /// The size of letters that `rem` counts by.
    pub(super) root_font: f32,
    ranks: Vec<usize>,
    caches: SelectorCaches,
    fuel: Cell<usize>,
}

/// What one declaration counts for against others of its property: importance, the browser's own sheet, the `style`
/// attribute, the layer, specificity, order.
type Weight = (bool, bool, bool, usize, u32, usize);

impl<'a> Styles<'a> {
    pub(super) fn new(tree: &'a Tree, sheet: &'a Sheet) -> Self {
        let (ranks, caches) = (sheet.ranks(), SelectorCaches::default());
        Self { tree, sheet, root_font: FONT_PX, ranks, caches, fuel: Cell::new(FUEL) }
    }

    /// Was there too much to match? Then not every rule was held against the last element.
    pub(super) fn is_exhausted(&self) -> bool {
        self.fuel.get() == 0
    }

    /// The style of an element, and the page's own properties in it.
    pub(super) fn of(
        &mut self,
        (id, element): (Id, &'a Element),
        around: &Custom,
    ) -> (Style, Custom) {
        let inline = element.attribute("style").map(read_style);
        let mut found = self.matched(id, element, false);
        if let Some(block) = &inline {
            found.push((None, 0, block));
        }
        if found.is_empty() {
            return (Style::default(), Rc::clone(around));
        }
        self.weighed(found, around)
    }

    /// The style of an element that no rule of the page reaches: that of its `style` alone.
    pub(super) fn of_attribute(&self, element: &Element, around: &Custom) -> (Style, Custom) {
        let inline = element.attribute("style").map(read_style);
        self.weighed(inline.iter().map(|it| (None, 0, it)).collect(), around)
    }

    /// The same of the `::before` and `::after` of an element, taken together.
    pub(super) fn of_pseudo(&mut self, (id, element): (Id, &'a Element), around: &Custom) -> Style {
        let found = self.matched(id, element, true);
        self.weighed(found, around).0
    }

    /// Rules that are about an element, each with its number and the specificity of its selector.
    fn matched(
        &mut self,
        id: Id,
        element: &'a Element,
        pseudo: bool,
    ) -> Vec<(Option<usize>, u32, &'a Block)> {
        let sheet = self.sheet;
        let index = if pseudo { &sheet.pseudo } else { &sheet.elements };
        if index.is_empty() {
            return Vec::new();
        }
        let mode =
            if pseudo { MatchingMode::ForStatelessPseudoElement } else { MatchingMode::Normal };
        let quirks = if self.tree.is_quirky() { QuirksMode::Quirks } else { QuirksMode::NoQuirks };
        let mut context = MatchingContext::new(
            mode,
            None,
            &mut self.caches,
            quirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        let mut found = Vec::new();
        for entry in index.candidates(element) {
            let (tree, fuel, price) = (self.tree, &self.fuel, entry.price);
            let Some(left) = fuel.get().checked_sub(price) else {
                fuel.set(0);
                break;
            };
            fuel.set(left);
            let subject = ElementRef { tree, id, element, fuel, price };
            if matches_selector(&entry.selector, 0, None, subject, &mut context)
                && let Some(rule) = sheet.rules.get(entry.rule)
            {
                // What is declared is sorted and copied.
                fuel.set(fuel.get().saturating_sub(1 + rule.block.len()));
                found.push((Some(entry.rule), entry.selector.specificity(), &rule.block));
            }
        }
        found
    }

    fn weighed(
        &self,
        found: Vec<(Option<usize>, u32, &Block)>,
        around: &Custom,
    ) -> (Style, Custom) {
        let mut sorted: Vec<(Weight, &(Property, Value))> = Vec::new();
        let mut own: Vec<(Weight, &str, &Rc<str>)> = Vec::new();
        for (rule, specificity, block) in found {
            let rule = rule.and_then(|it| self.sheet.rules.get(it));
            let outside = self.ranks.len();
            let rank = rule
                .and_then(|it| it.layer)
                .and_then(|it| self.ranks.get(it).copied())
                .unwrap_or(outside);
            let of_page = rule.is_none_or(|it| !it.of_browser);
            let order = rule.map_or(0, |it| it.order);
            let weight = |important: bool| {
                // What is important is the stronger, the earlier its layer.
                let rank = if important { outside - rank } else { rank };
                (important, of_page, rule.is_none(), rank, specificity, order)
            };
            let doubtful = rule.is_some_and(|it| it.doubtful);
            let kept = |it: &&(Property, Value)| !doubtful || it.1.hides(it.0);
            sorted.extend(block.normal.iter().filter(kept).map(|it| (weight(false), it)));
            sorted.extend(block.important.iter().filter(kept).map(|it| (weight(true), it)));
            if !doubtful {
                own.extend(block.custom.iter().map(|it| (weight(it.2), &*it.0, &it.1)));
            }
        }
        sorted.sort_by_key(|it| it.0);
        own.sort_by_key(|it| it.0);
        let custom = self.custom(&own, around);
        let values = sorted.into_iter().filter_map(|(_, (property, value))| {
            let Value::Variable(text) = value else { return Some((*property, value.clone())) };
            let value = self.spend(1).then(|| substituted(*property, &text.0, &text.1, &custom));
            Some((*property, value.flatten()?))
        });
        (Style(values.collect()), custom)
    }

    /// The page's own properties of an element that declares some.
    fn custom(&self, own: &[(Weight, &str, &Rc<str>)], around: &Custom) -> Custom {
        if own.is_empty() || !self.spend(around.len()) {
            return Rc::clone(around);
        }
        let mut all = (**around).clone();
        let declared: HashMap<&str, &Rc<str>> = own.iter().map(|it| (it.1, it.2)).collect();
        for (name, text) in &declared {
            match self.resolved(text, &declared, around, 0) {
                Some(text) => all.insert((*name).into(), text),
                None => all.remove(*name),
            };
        }
        Rc::new(all)
    }

    /// A value in which everything stands in the place of its `var()`.
    fn resolved(
        &self,
        text: &Rc<str>,
        declared: &HashMap<&str, &Rc<str>>,
        around: &Custom,
        depth: usize,
    ) -> Option<Rc<str>> {
        if !text.contains("var(") {
            return Some(Rc::clone(text));
        }
        if depth > VARIABLES_DEEP_MAX || !self.spend(1 + text.len() / BYTES_OF_A_STEP) {
            return None;
        }
        let mut of = |name: &str| match declared.get(name) {
            Some(text) => self.resolved(text, declared, around, depth + 1),
            None => around.get(name).cloned(),
        };
        replace(text, &mut of).map(Rc::from)
    }

    /// Takes so much fuel; false if there is not so much.
    fn spend(&self, fuel: usize) -> bool {
        let left = self.fuel.get().checked_sub(fuel);
        self.fuel.set(left.unwrap_or_default());
        left.is_some()
    }
}

/// What a declaration gives a property once every `var()` in it is replaced.
fn substituted(property: Property, name: &str, text: &str, custom: &Custom) -> Option<Value> {
    let text = replace(text, &mut |it| custom.get(it).cloned())?;
    let found = declare(name, &text).unwrap_or_default().into_iter();
    let value = found.filter(|it| it.0 == property).map(|it| it.1).next_back()?;
    (!matches!(value, Value::Variable(_))).then_some(value)
}

/// Replaces each `var(--name, otherwise)`. Nothing if one means nothing, or if it becomes too long.
fn replace(text: &str, of: &mut dyn FnMut(&str) -> Option<Rc<str>>) -> Option<String> {
    let mut out = String::new();
    replace_in(&mut Parser::new(text), of, &mut out)?;
    Some(out)
}

fn replace_in(
    input: &mut Parser<'_>,
    of: &mut dyn FnMut(&str) -> Option<Rc<str>>,
    out: &mut String,
) -> Option<()> {
    loop {
        let start = input.position();
        let Ok(token) = input.next_including_whitespace() else { return Some(()) };
        let name =
            if let Token::Function(name) = token { Some(name.to_ascii_lowercase()) } else { None };
        let is_block = name.is_some() || matches!(token, Token::ParenthesisBlock);
        if name.as_deref() == Some("var") {
            let value = block(input, |it| {
                let name = it.expect_ident_cloned().ok()?;
                let otherwise = it.try_parse(|it| it.expect_comma()).is_ok();
                let from = it.position();
                while it.next().is_ok() {}
                match of(&name) {
                    Some(value) => Some(value.to_string()),
                    None => otherwise.then(|| replace(it.slice_from(from), of)).flatten(),
                }
            });
            out.push_str(&value.flatten()?);
        } else {
            out.push_str(input.slice_from(start));
            if is_block {
                block(input, |it| replace_in(it, of, out)).flatten()?;
                out.push(')');
            }
        }
        if out.len() > VALUE_BYTES_MAX {
            return None;
        }
    }
}

/// Steps of matching for one page: comparisons of selectors with elements, and elements on the way.
const FUEL: usize = 6_000_000;
/// Bytes of a value that are read for one step's fuel.
const BYTES_OF_A_STEP: usize = 64;
/// How often a property of the page's own leads to another.
const VARIABLES_DEEP_MAX: usize = 8;
/// Bytes of a value with all that it refers to.
const VALUE_BYTES_MAX: usize = 4096;
