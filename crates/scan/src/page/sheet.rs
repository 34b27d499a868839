//! The style sheets of a page: rules, found again by what their selectors end in.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use selectors::parser::{Component, Selector};

use super::property::{Property, Value, Word, declare, longhands};
use super::selector::{Names, Pseudo, Selectors};
use super::tree::Element;

/// All rules of a page.
#[derive(Default)]
pub(super) struct Sheet {
    pub(super) rules: Vec<Rule>,
    pub(super) elements: Index,
    /// Of `::before` and `::after`.
    pub(super) pseudo: Index,
    /// Animations by name: does their end show what was hidden?
    pub(super) animations: HashMap<String, bool>,
    layers: Vec<Layer>,
    /// How many rules began so far.
    pub(super) begun: usize,
    /// A limit was reached.
    pub(super) cut: bool,
}

/// A block of declarations and what it counts for against others.
pub(super) struct Rule {
    pub(super) block: Block,
    pub(super) layer: Option<usize>,
    /// It cannot be known whether the rule holds: only what hides is taken from it.
    pub(super) doubtful: bool,
    /// It stands in the sheet of the browser, which all others outrank.
    pub(super) of_browser: bool,
    pub(super) order: usize,
}

/// The declarations of a block, the last one for each property.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub(super) normal: Vec<(Property, Value)>,
    pub(super) important: Vec<(Property, Value)>,
    /// Properties of the page's own (`--name`), and whether they are important.
    pub(super) custom: Vec<(Rc<str>, Rc<str>, bool)>,
}

impl Block {
    /// Takes `name: text` in, if a browser would.
    pub(super) fn declare(&mut self, name: &str, text: &str, important: bool) {
        if name.starts_with("--") {
            if self.custom.len() < CUSTOM_MAX && text.len() <= CUSTOM_BYTES_MAX {
                self.custom.push((name.into(), text.trim().into(), important));
            }
            return;
        }
        let name = name.to_ascii_lowercase();
        if longhands(&name).is_empty() {
            return;
        }
        let kept = if important { &mut self.important } else { &mut self.normal };
        let mut found = declare(&name, text).unwrap_or_default();
        if important && matches!(name.as_str(), "opacity" | "visibility") {
            // It outranks animations.
            found.push((Property::Animation, Value::Word(Word::Other)));
        }
        for (property, value) in found {
            match kept.iter_mut().find(|it| it.0 == property) {
                Some(old) => old.1 = value,
                None => kept.push((property, value)),
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.normal.len() + self.important.len() + self.custom.len()
    }
}

/// Selectors by the id, class or name that their last part asks for.
#[derive(Default)]
pub(super) struct Index {
    ids: HashMap<String, Vec<Entry>>,
    classes: HashMap<String, Vec<Entry>>,
    names: HashMap<String, Vec<Entry>>,
    rest: Vec<Entry>,
}

/// A selector and its rule.
pub(super) struct Entry {
    pub(super) selector: Selector<Names>,
    pub(super) rule: usize,
    /// What a step of matching it costs.
    pub(super) price: usize,
}

impl Index {
    fn add(&mut self, selector: Selector<Names>, price: usize, rule: usize) {
        let bucket = match key(&selector) {
            Some((Key::Id, name)) => self.ids.entry(name).or_default(),
            Some((Key::Class, name)) => self.classes.entry(name).or_default(),
            Some((Key::Name, name)) => self.names.entry(name).or_default(),
            None => &mut self.rest,
        };
        bucket.push(Entry { selector, rule, price });
    }

    /// Selectors that may match an element; no other does.
    pub(super) fn candidates(&self, element: &Element) -> impl Iterator<Item = &Entry> {
        fn get<'i>(map: &'i HashMap<String, Vec<Entry>>, name: &str) -> &'i [Entry] {
            if map.is_empty() {
                return &[];
            }
            let upper = name.bytes().any(|it| it.is_ascii_uppercase());
            let name =
                if upper { Cow::Owned(name.to_ascii_lowercase()) } else { Cow::Borrowed(name) };
            map.get(&*name).map(Vec::as_slice).unwrap_or_default()
        }
        let id = element.attribute("id").map(|it| get(&self.ids, it)).unwrap_or_default();
        let named = get(&self.names, &element.name.local);
        let classes = element.classes().flat_map(|it| get(&self.classes, it));
        self.rest.iter().chain(named).chain(classes).chain(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
            && self.classes.is_empty()
            && self.names.is_empty()
            && self.rest.is_empty()
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Name,
    Class,
    Id,
}

/// The rarest of what the last part of a selector asks for, in small letters.
fn key(selector: &Selector<Names>) -> Option<(Key, String)> {
    let mut best: Option<(Key, String)> = None;
    let mut take = |kind: Key, name: &super::selector::Name| {
        if best.as_ref().is_none_or(|it| it.0 < kind) {
            best = Some((kind, name.as_ref().to_ascii_lowercase()));
        }
    };
    let mut parts = selector.iter();
    loop {
        for part in parts.by_ref() {
            if let Component::ID(name) = part {
                take(Key::Id, name);
            } else if let Component::Class(name) = part {
                take(Key::Class, name);
            } else if let Component::LocalName(it) = part {
                take(Key::Name, &it.lower_name);
            } else if let Component::Is(list) | Component::Where(list) = part
                && let [only] = list.slice()
                && let Some((kind, name)) = key(only)
            {
                take(kind, &name.as_str().into());
            }
        }
        // Before a pseudo-element stands the element that it belongs to.
        let next = parts.next_sequence();
        if !next.is_some_and(|it| it.is_pseudo_element()) {
            return best;
        }
    }
}

impl Sheet {
    /// Adds a rule for each selector of the list.
    pub(super) fn add(&mut self, selectors: &Selectors, rule: Rule) {
        if self.rules.len() >= RULES_MAX {
            self.cut = true;
            return;
        }
        let at = self.rules.len();
        for selector in selectors.list.slice() {
            match selector.pseudo_element() {
                None => self.elements.add(selector.clone(), selectors.price, at),
                Some(Pseudo::BeforeOrAfter) => {
                    self.pseudo.add(selector.clone(), selectors.price, at)
                }
                Some(Pseudo::Other) => {}
            }
        }
        self.rules.push(rule);
    }

    /// The layer of this name within another, which is made if it is new. One without a name is always new.
    pub(super) fn layer(&mut self, name: &str, within: Option<usize>) -> Option<usize> {
        let mut at = within;
        for part in name.split('.').map(str::trim) {
            let same = |it: &Layer| it.within == at && it.name == part && !part.is_empty();
            let found = self.layers.iter().position(same);
            at = found.or_else(|| {
                self.cut |= self.layers.len() >= LAYERS_MAX;
                (self.layers.len() < LAYERS_MAX).then(|| {
                    self.layers.push(Layer { name: part.to_owned(), within: at });
                    self.layers.len() - 1
                })
            });
        }
        at
    }

    /// How strong each layer is: later ones are stronger, and a layer than those within it.
    pub(super) fn ranks(&self) -> Vec<usize> {
        let path = |mut at: usize| {
            let mut path = vec![usize::MAX, at];
            while let Some(up) = self.layers.get(at).and_then(|it| it.within) {
                path.push(up);
                at = up;
            }
            path.reverse();
            path
        };
        let mut sorted: Vec<usize> = (0..self.layers.len()).collect();
        sorted.sort_by_cached_key(|it| path(*it));
        let mut ranks = vec![0; sorted.len()];
        for (rank, at) in sorted.into_iter().enumerate() {
            ranks.get_mut(at).into_iter().for_each(|it| *it = rank);
        }
        ranks
    }
}

struct Layer {
    name: String,
    within: Option<usize>,
}

/// Rules of a page.
const RULES_MAX: usize = 50_000;
/// Layers of a page.
const LAYERS_MAX: usize = 256;
/// Properties of its own that a block declares, and bytes of one.
const CUSTOM_MAX: usize = 1000;
const CUSTOM_BYTES_MAX: usize = 2048;
