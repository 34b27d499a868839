//! What may lie behind a text that has the colour of its background: pictures and boxes that are placed there.

use std::collections::HashMap;

use super::colour::Colour;
use super::look::Look;
use super::parts::{is_dot, is_shadow};
use super::property::Position;
use super::style::Styles;
use super::tree::{Element, Id};

/// What was found in elements so far.
#[derive(Default)]
pub(super) struct Scenery(HashMap<Id, Found>);

/// What stands in an element that text may lie on.
#[derive(Clone, Copy, Default)]
struct Found {
    /// The colour of a box that is placed there; `Some(None)` for a picture and what is not known.
    placed: Option<Option<Colour>>,
    /// A picture in the flow, on which something may be placed.
    picture: bool,
}

impl Scenery {
    /// May there be something behind a text that looks like `look`, so that it is seen all the same? It stands in an
    /// element that is `depth` elements deep; `path` gives the one at a depth.
    pub(super) fn is_behind(
        &mut self,
        look: &Look,
        depth: usize,
        path: impl Fn(usize) -> Id,
        styles: &mut Styles<'_>,
    ) -> bool {
        (look.painted..=depth).rev().take(ABOVE_MAX).any(|at| {
            let id = path(at);
            let found = *self.0.entry(id).or_insert_with(|| search(id, styles));
            found.placed.is_some_and(|it| look.differs_from(it))
                || (found.picture && look.floats > at + 1)
        })
    }
}

/// Looks among the children of an element, and at what its styles put before and after them.
fn search(id: Id, styles: &mut Styles<'_>) -> Found {
    let (tree, page) = (styles.tree, Look::of_page(false, false));
    let mut found = Found::default();
    if let Some(element) = tree.element(id) {
        let place = styles.of_pseudo((id, element), &page.place);
        let drawn = place.style.content;
        let look = page.in_place(place, (id, element), 1);
        found.placed = painted(&look, true).filter(|_| drawn);
    }
    for (child, element) in tree.element_children(id).take(CHILDREN_MAX) {
        let look = page.of((child, element), styles, 1);
        let filled = tree.get(child).is_some_and(|it| it.first.is_some());
        found.placed = found.placed.or_else(|| painted(&look, filled));
        // What paints there is not worked out.
        let unknown =
            matches!(element.local(), "col" | "colgroup") || is_shadow(tree, child, element);
        found.placed = found.placed.or(unknown.then_some(None));
        let mut within = vec![child];
        for _ in 0..WITHIN_MAX {
            let Some(at) = within.pop().and_then(|it| Some((it, tree.get(it)?))) else { break };
            within.extend(at.1.first);
            within.extend(at.1.after.filter(|_| at.0 != child));
            let Some(picture) = tree.element(at.0).filter(|it| is_picture(it)) else { continue };
            found.picture = true;
            let own = page.of((at.0, picture), styles, 1);
            if (is_out(&look) || is_out(&own)) && !own.is_lost_as_box() {
                found.placed = found.placed.or(Some(None));
            }
        }
    }
    found
}

/// What a placed box is painted with, if it is one that is seen.
fn painted(look: &Look, filled: bool) -> Option<Option<Colour>> {
    let style = &*look.place.style;
    let sized = (style.width.is_some() || (style.left.is_some() && style.right.is_some()))
        && (style.height.is_some() || (style.top.is_some() && style.bottom.is_some()));
    let seen = look.painted > 0 && !look.is_lost_as_box();
    (is_out(look) && (sized || filled) && seen).then_some(look.ground)
}

fn is_out(look: &Look) -> bool {
    look.place.style.position >= Position::Absolute
}

/// Does it show a picture? One without an address or of the size of a dot does not.
fn is_picture(element: &Element) -> bool {
    let says = |name| element.attribute(name).is_some_and(|it| !it.trim().is_empty());
    let shows = match element.local() {
        "img" => says("src") || says("srcset"),
        name => matches!(name, "picture" | "video" | "canvas" | "svg" | "iframe" | "object"),
    };
    shows && !is_dot(element)
}

/// Elements above a text in which something is looked for that it may stand on.
const ABOVE_MAX: usize = 16;
/// Children of each that are looked at, and nodes in each of these.
const CHILDREN_MAX: usize = 64;
const WITHIN_MAX: usize = 8;
