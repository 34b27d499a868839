//! What may lie behind a text beside backgrounds: pictures and coloured boxes that are placed there.
//!
//! Only of text that would not be seen on its background this is asked, and of each element once.

use super::colour::Ink;
use super::declare::{Paint, Switch};
use super::dropped::DropKind;
use super::own::Own;
use super::parts::{dropped_kind, usually_hidden};
use super::style::{Style, Styles};
use super::tree::{Content, Element, Id, Tree};

/// What lies in an element that text in it may stand on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scenery {
    /// Something that is placed over or under the rest: a colour, or what is not known.
    pub(super) placed: Option<Option<Ink>>,
    /// A picture in its place, over which text may be placed.
    pub(super) picture: bool,
}

impl Styles<'_> {
    /// What lies in the element `id`, which stands below `path`; `own` is what its properties stand for.
    pub(super) fn scenery(&mut self, id: Id, path: &[Id], own: &Own) -> Scenery {
        if let Some(known) = self.sceneries.get(&id) {
            return *known;
        }
        let mut found = Scenery::default();
        if self.is_decorated(id, path) {
            found.placed = Some(None);
        }
        let tree = self.tree();
        let mut inside = path.to_vec();
        inside.push(id);
        self.spend(inside.len());
        let mut child = tree.get(id).and_then(|it| it.first);
        for _ in 0..CHILDREN_MAX {
            let Some((at, node)) = child.and_then(|it| Some((it, tree.get(it)?))) else { break };
            child = node.after;
            let Content::Element(element) = &node.content else { continue };
            if usually_hidden(element).is_some() {
                continue;
            }
            let style = self.cascade(element, at, &inside, own);
            found.add(element, &style, holds_picture(tree, at), node.first.is_none());
            if &*element.name.local == "picture"
                && let Some((image, element)) = image_of(tree, at)
            {
                inside.push(at);
                let style = self.cascade(element, image, &inside, own);
                inside.pop();
                found.add(element, &style, true, true);
            }
        }
        self.sceneries.insert(id, found);
        found
    }
}

impl Scenery {
    fn add(&mut self, element: &Element, style: &Style, holds_picture: bool, empty: bool) {
        let out = style.is_any(&[Switch::OutOfFlow]);
        if is_unseen(style, out) {
            return;
        }
        if is_picture(element) || holds_picture {
            self.picture |= !out;
            self.placed = if out { Some(None) } else { self.placed };
        } else if out && self.placed != Some(None) && (!empty || has_room(style)) {
            self.placed = match style.background {
                _ if style.is_any(&[Switch::Image]) => Some(None),
                Some(Paint::Known(ink)) if !ink.is_clear() => Some(Some(ink)),
                Some(Paint::Unknown) => Some(None),
                Some(Paint::Known(_) | Paint::Current | Paint::Wide(_)) | None => self.placed,
            };
        }
    }
}

/// Is it hidden, or put where nobody sees it?
fn is_unseen(style: &Style, out: bool) -> bool {
    let hides = [
        Switch::DisplayNone,
        Switch::VisibilityHidden,
        Switch::ContentHidden,
        Switch::OpacityZero,
        Switch::WidthZero,
        Switch::HeightZero,
        Switch::ClipPathEmpty,
        Switch::Masked,
        Switch::Filtered,
    ];
    let far = [Switch::LeftFar, Switch::RightFar, Switch::TopFar, Switch::BottomFar];
    style.is_any(&hides)
        || (out && style.is_any(&far))
        || style.opacity < OPACITY_MIN
        || style.turned().is_some_and(|it| it.view().gone)
}

/// Has a box without anything in it a size, by itself or by the sides that it reaches to?
fn has_room(style: &Style) -> bool {
    let between = |one, other| style.says(one) && style.says(other);
    let size = |said, kept| style.says(said) || style.is_any(&[kept]);
    (size(Switch::WidthZero, Switch::WidthKept) || between(Switch::LeftFar, Switch::RightFar))
        && (size(Switch::HeightZero, Switch::HeightKept)
            || style.is_any(&[Switch::PadTop, Switch::PadBottom])
            || between(Switch::TopFar, Switch::BottomFar))
}

fn is_picture(element: &Element) -> bool {
    let name = &*element.name.local;
    // One without an address shows nothing, but a script may give it one.
    let names = ["src", "srcset", "data-src", "data-srcset", "data-lazy", "data-original"];
    let leads = |it: &&str| element.attribute(it).is_some_and(|it| !it.trim().is_empty());
    if name == "img" && !names.iter().any(leads) {
        return false;
    }
    matches!(name, "img" | "picture" | "video" | "canvas" | "svg" | "iframe" | "object")
        && dropped_kind(element) != Some(DropKind::ZeroSize)
}

/// Does it stand around a picture, as a frame of it?
fn holds_picture(tree: &Tree, id: Id) -> bool {
    children(tree, id).any(|it| is_picture(it.1))
}

/// The picture of a `<picture>`.
fn image_of(tree: &Tree, id: Id) -> Option<(Id, &Element)> {
    children(tree, id).find(|it| &*it.1.name.local == "img")
}

/// The first few elements in one.
fn children(tree: &Tree, id: Id) -> impl Iterator<Item = (Id, &Element)> {
    let first = tree.get(id).and_then(|it| it.first);
    let all = std::iter::successors(first, |it| tree.get(*it)?.after).take(FRAME_NODES_MAX);
    all.filter_map(|it| Some((it, tree.element(it)?)))
}

/// What covers less leaves what it lies on as good as it is.
const OPACITY_MIN: f64 = 0.15;
/// Children of an element that are looked at.
const CHILDREN_MAX: usize = 64;
/// Nodes in one of them.
const FRAME_NODES_MAX: usize = 8;
