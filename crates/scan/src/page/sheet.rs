//! The style sheets of a page: rules, found again by what their selectors end in.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use selectors::parser::{Component, Selector};

use super::property::Style;
use super::selector::{Names, Selectors};
use super::tree::Element;
use super::value::FONT_PX;

/// All rules of a page.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) rules: Vec<Rule>,
    pub(super) elements: Index,
    /// Of `::before` and `::after`.
    pub(super) pseudo: Index,
    /// Names of the layers, in their order, each with the path that it stands in.
    layers: Vec<(Vec<isize>, String)>,
    /// How many rules began so far.
    pub(super) begun: usize,
    /// A limit was reached.
    pub(super) cut: bool,
}

/// A block of declarations and what it counts for against others.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) block: Block,
    /// The path of its layer, and behind that a number above all: a layer is weaker than what it stands in.
    pub(super) layer: Vec<isize>,
    /// It stands in the sheet of the browser, which all others outrank.
    pub(super) of_browser: bool,
    pub(super) order: usize,
}

/// The declarations of a block.
pub(super) type Block = Vec<Declared>;

/// `name: text`.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub(super) name: Rc<str>,
    pub(super) text: Rc<str>,
    pub(super) important: bool,
}

impl Declared {
    pub(super) fn new(name: &str, text: &str, important: bool) -> Self {
        let name =
            if name.starts_with("--") { name.into() } else { name.to_ascii_lowercase().into() };
        Self { name, text: text.trim().into(), important }
    }

    pub(super) fn is_custom(&self) -> bool {
        self.name.starts_with("--")
    }

    /// What it makes of a style on which nothing is said; nothing if no browser takes it.
    fn alone(&self) -> Option<Style> {
        // What a `var()` refers to is not known yet, but whether there is such a property.
        let open = self.text.to_ascii_lowercase().contains("var(");
        let text = if open { "initial" } else { &self.text };
        let mut style = Style::default();
        style.declare(&self.name, text, &Style::default(), FONT_PX).map(|()| style)
    }
}

/// Leaves what a browser would take, and of each name the last one.
fn taken(block: &mut Block, doubtful: bool) {
    // Of a rule of which it is not known whether it holds, only what hides counts.
    let counts = |it: &Declared| match it.is_custom() {
        true => !doubtful,
        false => it.alone().is_some_and(|it| !doubtful || it.hides()),
    };
    let mut seen = HashSet::new();
    block.reverse();
    block.retain(|it| counts(it) && seen.insert((Rc::clone(&it.name), it.important)));
    block.truncate(DECLARED_MAX);
    block.reverse();
}

/// Selectors by what their last part asks for: `#id`, `.class`, a name, or nothing.
pub(super) type Index = HashMap<String, Vec<Entry>>;

/// A selector and its rule.
pub(super) struct Entry {
    pub(super) selector: Selector<Names>,
    pub(super) rule: usize,
    /// What a step of matching it costs.
    pub(super) price: usize,
}

/// Selectors that may match an element; no other does.
pub(super) fn candidates<'i>(
    index: &'i Index,
    element: &Element,
) -> impl Iterator<Item = &'i Entry> {
    let classes = element.attribute("class").unwrap_or_default().split_ascii_whitespace();
    let ids = element.attribute("id").into_iter().map(|it| format!("#{it}"));
    let named = ids.chain(classes.map(|it| format!(".{it}")));
    let named = named.filter_map(|it| index.get(&it.to_ascii_lowercase()));
    let others = [index.get(""), index.get(element.local())];
    others.into_iter().flatten().chain(named).flatten()
}

/// The rarest of what the last part of a selector asks for, in small letters.
fn key(selector: &Selector<Names>) -> String {
    let mut best = String::new();
    let mut parts = selector.iter();
    loop {
        for part in parts.by_ref() {
            let found = if let Component::ID(name) = part {
                format!("#{}", name.as_ref())
            } else if let Component::Class(name) = part {
                format!(".{}", name.as_ref())
            } else if let Component::LocalName(it) = part {
                it.lower_name.as_ref().to_owned()
            } else if let Component::Is(list) | Component::Where(list) = part
                && let [only] = list.slice()
            {
                key(only)
            } else {
                continue;
            };
            let rank = |it: &str| (it.starts_with('#'), it.starts_with('.'), !it.is_empty());
            if rank(&found) > rank(&best) {
                best = found;
            }
        }
        // Before a pseudo-element stands the element that it belongs to.
        if !parts.next_sequence().is_some_and(|it| it.is_pseudo_element()) {
            best.make_ascii_lowercase();
            return best;
        }
    }
}

impl Sheet {
    /// Adds a rule for each selector of the list.
    pub(super) fn add(&mut self, selectors: &Selectors, mut rule: Rule, doubtful: bool) {
        taken(&mut rule.block, doubtful);
        if rule.block.is_empty() {
            return;
        }
        if self.rules.len() >= RULES_MAX {
            self.cut = true;
            return;
        }
        for selector in selectors.list.slice() {
            let index = match selector.pseudo_element().map(AsRef::as_ref) {
                None => &mut self.elements,
                Some("before" | "after") => &mut self.pseudo,
                Some(_) => continue,
            };
            let (selector, price, rule) = (selector.clone(), selectors.price, self.rules.len());
            index.entry(key(&selector)).or_default().push(Entry { selector, rule, price });
        }
        self.rules.push(rule);
    }

    /// The path of numbers to the layer of this name within another, which is made if it is new. One without a name is
    /// always new.
    pub(super) fn layer(&mut self, name: &str, within: &[isize]) -> Vec<isize> {
        let mut path = within.to_vec();
        for part in name.split('.').map(str::trim) {
            let same = |it: &(Vec<isize>, String)| it.0 == path && it.1 == part;
            let known = self.layers.iter().position(same).filter(|_| !part.is_empty());
            let at = known.unwrap_or(self.layers.len());
            if at >= LAYERS_MAX {
                self.cut = true;
                return path;
            }
            if known.is_none() {
                self.layers.push((path.clone(), part.to_owned()));
            }
            path.extend(isize::try_from(at));
        }
        path
    }
}

/// Rules of a page.
const RULES_MAX: usize = 50_000;
/// Layers of a page.
const LAYERS_MAX: usize = 256;
/// Declarations of a rule.
const DECLARED_MAX: usize = 2000;
