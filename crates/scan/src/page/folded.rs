//! What is shown when somebody opens it: it counts as seen if there is something to open it by.

use super::dropped::DropKind;
use super::look::Look;
use super::style::Styles;
use super::tree::{Content, Element, Id, Tree};

/// Nodes of a handle that are looked at until it is clear that something stands in it.
const NODES_MAX: usize = 64;

/// Is this a closed `<details>` whose `<summary>` nobody sees? `own` is how it looks.
pub(super) fn lacks_summary(own: &Look, id: Id, styles: &mut Styles<'_>, depth: usize) -> bool {
    let tree = styles.tree;
    let closed = tree.element(id).is_some_and(|it| {
        // Of those with one name only the first is open.
        let open = it.attribute("open").is_some() && it.attribute("name").is_none();
        it.is_html() && &*it.name.local == "details" && !open
    });
    // Without one of its own a browser gives it one.
    let Some(summary) = closed.then(|| summary(tree, id)).flatten() else { return false };
    own.of(summary, styles, depth + 1).hidden().is_some() || !says_something(tree, summary.0)
}

/// The first `<summary>` among the children of `id`.
fn summary(tree: &Tree, id: Id) -> Option<(Id, &Element)> {
    let children = std::iter::successors(tree.first(id), |it| tree.after(*it));
    let mut elements = children.filter_map(|it| Some((it, tree.element(it)?)));
    elements.find(|it| it.1.is_html() && &*it.1.name.local == "summary")
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
    std::iter::successors(tree.before(id), |it| tree.before(*it))
        .any(|it| tree.element(it).is_some())
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
