//! Shapes that stand in drawings of the page, by which styles cut and mask: do they leave anything?

use std::collections::{HashMap, HashSet};

use super::colour::Ink;
use super::css::{Part, address_of, tokens};
use super::filter::Filter;
use super::tree::{Content, Element, Id, Tree};

/// Shapes of one drawing that are looked at.
const SHAPES_MAX: usize = 64;

/// What is drawn in the page that styles refer to by name.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// Shapes that leave nothing of what they cut or mask.
    pub(super) voids: HashSet<String>,
    pub(super) masks: HashSet<String>,
    pub(super) filters: HashMap<String, Filter>,
}

/// The names of shapes that leave nothing of what they cut or mask.
pub(super) fn voids(tree: &Tree) -> HashSet<String> {
    let named = tree.elements().filter(|(_, it)| it.is_svg());
    let empty = named.filter(|(id, element)| match &*element.name.local {
        "clipPath" => !shapes(tree, *id).any(has_size),
        "mask" => !shapes(tree, *id).any(|it| has_size(it) && !is_black(it)),
        _ => false,
    });
    empty.filter_map(|(_, it)| it.attribute("id").map(str::to_owned)).collect()
}

/// The names of all masks.
pub(super) fn masks(tree: &Tree) -> HashSet<String> {
    let all = tree.elements().filter(|(_, it)| it.is_svg() && &*it.name.local == "mask");
    all.filter_map(|(_, it)| it.attribute("id").map(str::to_owned)).collect()
}

fn shapes(tree: &Tree, id: Id) -> impl Iterator<Item = &Element> {
    let first = tree.get(id).and_then(|it| it.first);
    let all = std::iter::successors(first, |it| tree.get(*it)?.after).take(SHAPES_MAX);
    all.filter_map(|it| match &tree.get(it)?.content {
        Content::Element(element) => Some(element),
        Content::Text(_) | Content::Comment(_) | Content::Root => None,
    })
}

/// Has it room on both sides, as far as its attributes tell?
fn has_size(shape: &Element) -> bool {
    let is_none = |name: &str| {
        let text = shape.attribute(name).unwrap_or("0").trim();
        text.trim_end_matches(|it: char| it == '%' || it.is_ascii_alphabetic()).parse() == Ok(0.0)
    };
    let lacks = |name: &str| shape.attribute(name).is_none_or(|it| it.trim().is_empty());
    match &*shape.name.local {
        "rect" => !is_none("width") && !is_none("height"),
        "circle" => !is_none("r"),
        "ellipse" => !is_none("rx") && !is_none("ry"),
        "path" => !lacks("d"),
        "polygon" => !lacks("points"),
        "title" | "desc" | "metadata" => false,
        _ => true,
    }
}

/// What nobody gave a colour is black, and black lets nothing through a mask.
fn is_black(shape: &Element) -> bool {
    let plain = matches!(&*shape.name.local, "rect" | "circle" | "ellipse" | "path" | "polygon");
    let unsaid = ["style", "class", "stroke"].iter().all(|it| shape.attribute(it).is_none());
    let fill = shape.attribute("fill").map(tokens);
    let dark = fill.is_none_or(|it| Ink::read(&it, false).flatten().is_some_and(Ink::is_dark));
    plain && unsaid && dark
}

/// The name that an address within the page leads to: `url(#name)`.
pub(super) fn name_of<'p>(item: &'p [Part<'_>]) -> Option<&'p str> {
    address_of(item)?.strip_prefix('#')
}
