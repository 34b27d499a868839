//! Shadow trees that stand in the markup: an element with one shows it, and of its own children only those
//! that have a slot there.

use std::collections::HashMap;
use std::rc::Rc;

use super::parts::add_sheets;
use super::sheet::Sheet;
use super::tree::{Content, DOCUMENT, Element, Id, Tree};

/// The shadow tree of an element.
#[derive(Debug)]
pub(super) struct Shadow {
    pub(super) root: Id,
    pub(super) sheet: Sheet,
    pub(super) ranks: Rc<[usize]>,
    /// The children of the element that stand in a slot, by slot.
    slotted: HashMap<Id, Vec<Id>>,
    /// The others, which nobody sees.
    pub(super) rest: Vec<Id>,
}

/// All shadow trees of a page whose own styles are `page`, by the element that has one.
pub(super) fn shadows(tree: &Tree, page: &Sheet) -> HashMap<Id, Shadow> {
    let mut found: HashMap<Id, Shadow> = HashMap::new();
    if !tree.has_templates() {
        return found;
    }
    for (id, element) in tree.elements() {
        let Some(root) = tree.template(element).filter(|_| is_shadow(element)) else { continue };
        let Some(host) = tree.parent(id) else { continue };
        if tree.element(host).is_some_and(can_have_shadow) {
            // Of several the first counts; the others are templates as ever.
            found.entry(host).or_insert_with(|| Shadow::new(tree, (host, id, root), page));
        }
    }
    found
}

fn is_shadow(template: &Element) -> bool {
    let mode = template.attribute("shadowrootmode").unwrap_or_default();
    ["open", "closed"].iter().any(|it| mode.eq_ignore_ascii_case(it))
}

/// Only some elements can have one, and those whose names a page makes up.
fn can_have_shadow(host: &Element) -> bool {
    let name = &*host.name.local;
    let known = [
        "article",
        "aside",
        "blockquote",
        "body",
        "div",
        "footer",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "main",
        "nav",
        "p",
        "section",
        "span",
    ];
    host.is_html() && (known.contains(&name) || name.contains('-'))
}

impl Shadow {
    fn new(tree: &Tree, (host, template, root): (Id, Id, Id), page: &Sheet) -> Self {
        let inside: Vec<(Id, &Element)> = below(tree, root);
        let mut sheet = Sheet::within(page);
        add_sheets(tree, inside.iter().copied(), &mut sheet);
        let mut slots: HashMap<&str, Id> = HashMap::new();
        for (id, element) in inside.iter().filter(|it| is_slot(it.1)) {
            slots.entry(element.attribute("name").unwrap_or_default()).or_insert(*id);
        }
        let mut slotted: HashMap<Id, Vec<Id>> = HashMap::new();
        let mut rest = Vec::new();
        let first = tree.get(host).and_then(|it| it.first);
        for child in std::iter::successors(first, |it| tree.get(*it)?.after) {
            let name = match tree.get(child).map(|it| &it.content) {
                Some(Content::Element(element)) if child != template => {
                    element.attribute("slot").unwrap_or_default()
                }
                Some(Content::Text(_) | Content::Comment(_)) => "",
                Some(Content::Element(_) | Content::Root) | None => continue,
            };
            match slots.get(name) {
                Some(slot) => slotted.entry(*slot).or_default().push(child),
                None => rest.push(child),
            }
        }
        let ranks = sheet.layers.ranks().into();
        Self { root, sheet, ranks, slotted, rest }
    }

    /// What stands in a slot in the place of what is written there.
    pub(super) fn in_slot(&self, slot: Id) -> Option<&[Id]> {
        // Blanks alone fill a slot, too.
        self.slotted.get(&slot).map(Vec::as_slice)
    }
}

fn is_slot(element: &Element) -> bool {
    element.is_html() && &*element.name.local == "slot"
}

/// All elements in a tree, in the order in which they stand there.
fn below(tree: &Tree, root: Id) -> Vec<(Id, &Element)> {
    let mut found = Vec::new();
    let mut left: Vec<Id> = tree.get(root).and_then(|it| it.first).into_iter().collect();
    while let Some(id) = left.pop() {
        let Some(node) = tree.get(id) else { continue };
        left.extend(node.after);
        left.extend(node.first);
        if let Content::Element(element) = &node.content {
            found.push((id, element));
        }
    }
    found
}

/// The styles that count at a place of the page, and the elements above it that they see.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub(super) sheet: &'a Sheet,
    pub(super) ranks: Rc<[usize]>,
    /// The shadow tree that it stands in, and the element that has it.
    pub(super) shadow: Option<(&'a Shadow, Id)>,
    /// As many as stand above it in what is shown; those that the styles do not see are the document.
    pub(super) path: Vec<Id>,
    /// Around the element that has the shadow tree, itself included.
    pub(super) outer: Option<Rc<Scope<'a>>>,
}

impl<'a> Scope<'a> {
    pub(super) fn of_page(sheet: &'a Sheet) -> Self {
        let ranks = sheet.layers.ranks().into();
        Self { sheet, ranks, shadow: None, path: Vec::new(), outer: None }
    }

    /// Inside the shadow tree of the last element of the path.
    pub(super) fn of_shadow(&self, shadow: &'a Shadow) -> Self {
        let host = self.path.last().copied().unwrap_or(DOCUMENT);
        let mut path = vec![DOCUMENT; self.path.len().saturating_sub(1)];
        path.push(host);
        Self {
            sheet: &shadow.sheet,
            ranks: Rc::clone(&shadow.ranks),
            shadow: Some((shadow, host)),
            path,
            outer: Some(Rc::new(self.clone())),
        }
    }

    /// Inside a slot, the last element of the path: among the children of the element that has the shadow tree.
    pub(super) fn of_slot(&self) -> Option<Self> {
        let outer = self.outer.as_deref()?;
        let mut path = vec![DOCUMENT; self.path.len().saturating_sub(outer.path.len())];
        path.extend(&outer.path);
        Some(Self { path, ..outer.clone() })
    }
}
