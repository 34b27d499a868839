//! Shadow trees that stand in the markup: an element with one shows it, and of its own children only those
//! that have a slot there.

use super::declare::{Declaration, declarations};
use super::parts::usually_hidden;
use super::sheet::Sheet;
use super::tree::{Content, Element, Id, Tree};

/// Does a shadow tree keep the children of this element from being seen, or may it?
pub(super) fn hides_children(tree: &Tree, host: Id) -> bool {
    let first = tree.get(host).and_then(|it| it.first);
    let mut child = first.filter(|_| tree.has_templates());
    while let Some(node) = child.and_then(|it| tree.get(it)) {
        if let Content::Element(element) = &node.content
            && is_shadow(element)
            && let Some(root) = tree.template(element)
        {
            return open_slots(tree, root).is_none_or(|slots| lacks_slot(tree, first, &slots));
        }
        child = node.after;
    }
    false
}

fn is_shadow(element: &Element) -> bool {
    let mode = element.attribute("shadowrootmode").unwrap_or_default();
    ["open", "closed"].iter().any(|it| mode.eq_ignore_ascii_case(it))
}

/// Has one of the children no slot to stand in?
fn lacks_slot(tree: &Tree, first: Option<Id>, slots: &[&str]) -> bool {
    let mut child = first;
    while let Some(node) = child.and_then(|it| tree.get(it)) {
        let name = match &node.content {
            Content::Element(element) if is_shadow(element) => None,
            Content::Element(element) => Some(element.attribute("slot").unwrap_or_default()),
            Content::Text(text) => (!text.trim().is_empty()).then_some(""),
            Content::Comment(_) | Content::Root => None,
        };
        if name.is_some_and(|it| !slots.contains(&it)) {
            return true;
        }
        child = node.after;
    }
    false
}

/// The names of the slots in a shadow tree; nothing if something in it could hide them.
fn open_slots(tree: &Tree, root: Id) -> Option<Vec<&str>> {
    let mut slots = Vec::new();
    let mut left = vec![root];
    while let Some(id) = left.pop() {
        let Some(node) = tree.get(id) else { continue };
        left.extend(node.after.filter(|_| id != root));
        left.extend(node.first);
        let Content::Element(element) = &node.content else { continue };
        if &*element.name.local == "slot" && slots.len() < SLOTS_MAX {
            slots.push(element.attribute("name").unwrap_or_default());
        }
        if &*element.name.local == "style" {
            let mut sheet = Sheet::default();
            sheet.add(&tree.text_of(id), tree.is_old(), false);
            if sheet.rules.iter().any(|it| it.declarations.iter().any(Declaration::hides_alone)) {
                return None;
            }
        }
        let inline = declarations(element.attribute("style").unwrap_or_default(), tree.is_old());
        if usually_hidden(element).is_some() || inline.iter().any(Declaration::hides_alone) {
            return None;
        }
    }
    Some(slots)
}

/// Slots of a shadow tree that are told apart.
const SLOTS_MAX: usize = 100;
