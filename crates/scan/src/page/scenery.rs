//! What may lie behind a text that has the colour of its background: pictures and boxes that are placed there.

use std::collections::HashMap;

use super::colour::Colour;
use super::ground::Colours;
use super::look::Look;
use super::property::{Property, Value, Word};
use super::style::{Custom, Style, Styles};
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
            found.placed.is_some_and(|it| look.colours.differ_from(it))
                || (found.picture && look.floats > at + 1)
        })
    }
}

/// Looks among the children of an element, and at what its styles put before and after them.
fn search(id: Id, styles: &mut Styles<'_>) -> Found {
    let tree = styles.tree;
    let mut found = Found::default();
    if let Some(element) = tree.element(id) {
        let style = styles.of_pseudo((id, element), &Custom::default());
        let drawn = style.is(Property::Content, Word::Other);
        found.placed = if drawn { painted((id, element), &style, true, styles) } else { None };
    }
    let children = std::iter::successors(tree.first(id), |it| tree.after(*it)).take(CHILDREN_MAX);
    for child in children {
        let Some(element) = tree.element(child) else { continue };
        let (style, _) = styles.of((child, element), &Custom::default());
        let filled = tree.first(child).is_some();
        found.placed = found.placed.or_else(|| painted((child, element), &style, filled, styles));
        let mut within = vec![child];
        for _ in 0..WITHIN_MAX {
            let Some(id) = within.pop() else { break };
            within.extend(tree.first(id));
            within.extend(tree.after(id).filter(|_| id != child));
            let Some(element) = tree.element(id).filter(|it| is_picture(it)) else { continue };
            found.picture = true;
            let (own, _) = styles.of((id, element), &Custom::default());
            let seen = Look::of_page(Colours::of_page(true, false)).of((id, element), styles, 0);
            if (is_out(&style) || is_out(&own)) && !seen.is_lost_as_box() {
                found.placed = found.placed.or(Some(None));
            }
        }
    }
    found
}

/// What a placed box is painted with, if it is one that is seen.
fn painted<'a>(
    of: (Id, &'a Element),
    style: &Style,
    filled: bool,
    styles: &mut Styles<'a>,
) -> Option<Option<Colour>> {
    use Property as P;
    let said = |property| matches!(style.get(property), Some(Value::Length(_) | Value::Unknown));
    let sized = (said(P::Width) || (said(P::Left) && said(P::Right)))
        && (said(P::Height) || (said(P::Top) && said(P::Bottom)));
    if !is_out(style) || !(sized || filled) {
        return None;
    }
    let page = Colours::of_page(false, false);
    let mut look = Look::of_page(page);
    look.declare(style, of, (styles, &page), 0);
    let has = |property| {
        matches!(style.get(property), Some(Value::Paint(_) | Value::Image(_) | Value::Unknown))
    };
    let paints = has(P::BackgroundColor) || has(P::BackgroundImage);
    (paints && !look.is_lost_as_box()).then_some(look.colours.ground)
}

fn is_out(style: &Style) -> bool {
    style.is(Property::Position, Word::Absolute) || style.is(Property::Position, Word::Fixed)
}

/// Does it show a picture? One without an address or of the size of a dot does not.
fn is_picture(element: &Element) -> bool {
    let says = |name| element.attribute(name).is_some_and(|it| !it.trim().is_empty());
    let dot = |name| {
        element
            .attribute(name)
            .and_then(|it| it.trim().parse().ok())
            .is_some_and(|it: f32| it <= 1.0)
    };
    match &*element.name.local {
        "img" => (says("src") || says("srcset")) && !dot("width") && !dot("height"),
        "picture" | "video" | "canvas" | "svg" | "iframe" | "object" => {
            !dot("width") && !dot("height")
        }
        _ => false,
    }
}

/// Elements above a text in which something is looked for that it may stand on.
const ABOVE_MAX: usize = 16;
/// Children of each that are looked at, and nodes in each of these.
const CHILDREN_MAX: usize = 64;
const WITHIN_MAX: usize = 8;
