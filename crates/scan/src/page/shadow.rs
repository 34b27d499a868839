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
            return !slots_are_open(tree, root);
        }
        child = node.after;
    }
    false
}

fn is_shadow(element: &Element) -> bool {
    let mode = element.attribute("shadowrootmode").unwrap_or_default();
    ["open", "closed"].iter().any(|it| mode.eq_ignore_ascii_case(it))
}

/// Is there a slot, and nothing in the shadow tree that could hide it?
fn slots_are_open(tree: &Tree, root: Id) -> bool {
    let mut slots = false;
    let mut left = vec![root];
    while let Some(id) = left.pop() {
        let Some(node) = tree.get(id) else { continue };
        left.extend(node.after.filter(|_| id != root));
        left.extend(node.first);
        let Content::Element(element) = &node.content else { continue };
        slots |= &*element.name.local == "slot";
        if &*element.name.local == "style" {
            let mut sheet = Sheet::default();
            sheet.add(&tree.text_of(id), tree.is_old(), false);
            if sheet.rules.iter().any(|it| it.declarations.iter().any(Declaration::hides_alone)) {
                return false;
            }
        }
        let inline = declarations(element.attribute("style").unwrap_or_default(), tree.is_old());
        if usually_hidden(element).is_some() || inline.iter().any(Declaration::hides_alone) {
            return false;
        }
    }
    slots
}
