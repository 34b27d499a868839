//! What is shown when somebody opens it: it counts as seen if there is something to open it by.

use super::dropped::DropKind;
use super::look::Look;
use super::style::Styles;
use super::tree::{Content, Element, Id, Tree};

/// Nodes of a handle that are looked at until it is clear that something stands in it.
const NODES_MAX: usize = 64;

/// Is this a closed `<details>` whose handle nobody sees? `path` leads to it, and `own` is how it looks.
pub(super) fn lacks_handle(
    tree: &Tree,
    id: Id,
    own: &Look,
    styles: &mut Styles<'_>,
    path: &mut Vec<Id>,
) -> bool {
    let closed = tree.element(id).is_some_and(|it| {
        // Of those with one name only the first is open.
        let open = it.attribute("open").is_some() && it.attribute("name").is_none();
        it.is_html() && &*it.name.local == "details" && !open
    });
    // Without one of its own a browser gives it one.
    let Some((handle, element)) = closed.then(|| summary(tree, id)).flatten() else { return false };
    path.push(id);
    let hidden = own.of(element, handle, styles, path).hidden().is_some();
    path.pop();
    hidden || !says_something(tree, handle)
}

/// The first `<summary>` among the children of `id`.
fn summary(tree: &Tree, id: Id) -> Option<(Id, &Element)> {
    let mut child = tree.get(id)?.first;
    while let Some(at) = child {
        let node = tree.get(at)?;
        if let Content::Element(element) = &node.content
            && element.is_html()
            && &*element.name.local == "summary"
        {
            return Some((at, element));
        }
        child = node.after;
    }
    None
}

/// Is there a text or a picture in it?
fn says_something(tree: &Tree, id: Id) -> bool {
    let mut left: Vec<Id> = tree.get(id).and_then(|it| it.first).into_iter().collect();
    for _ in 0..NODES_MAX {
        let Some(node) = left.pop().and_then(|it| tree.get(it)) else { return false };
        match &node.content {
            Content::Text(text) if !text.trim().is_empty() => return true,
            Content::Element(element)
                if element.is_svg() || matches!(&*element.name.local, "img" | "input") =>
            {
                return true;
            }
            Content::Text(_) | Content::Element(_) | Content::Comment(_) | Content::Root => {}
        }
        left.extend(node.after);
        left.extend(node.first);
    }
    true
}

/// Does it stand behind the first of several of which a formula shows one?
pub(super) fn is_behind_first(tree: &Tree, id: Id) -> bool {
    let around = tree.parent(id).and_then(|it| tree.element(it)).filter(|it| it.is_math());
    if !around.is_some_and(|it| matches!(&*it.name.local, "maction" | "semantics")) {
        return false;
    }
    let mut before = tree.before(id);
    while let Some(at) = before {
        if tree.element(at).is_some() {
            return true;
        }
        before = tree.before(at);
    }
    false
}

/// What an `<option>` or an `<optgroup>` shows in the place of its own text.
pub(super) fn label_of(element: &Element) -> Option<&str> {
    let labelled = element.is_html() && matches!(&*element.name.local, "option" | "optgroup");
    element.attribute("label").filter(|it| labelled && !it.trim().is_empty())
}

/// Why the text of an `<option>` is not shown: its label is.
pub(super) fn own_text_of(element: &Element) -> Option<DropKind> {
    let instead = label_of(element).filter(|_| &*element.name.local == "option");
    instead.map(|_| DropKind::DisplayNone)
}

/// Is it one whose choices are shown, and no text beside them?
pub(super) fn shows_choices_alone(tree: &Tree, id: Id) -> bool {
    let name = tree.element(id).filter(|it| it.is_html()).map(|it| &*it.name.local);
    name.is_some_and(|it| matches!(it, "select" | "optgroup"))
}
