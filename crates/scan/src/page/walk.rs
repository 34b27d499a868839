//! Walks through the tree of a page from top to bottom and writes what a person would see.

use url::Url;

use super::dropped::{DropKind, Report};
use super::look::Look;
use super::marks::End;
use super::parts::{
    Sheets, base_of, dropped_kind, is_shadow, label_of, lacks_summary, shows_choices,
};
use super::scenery::Scenery;
use super::style::Styles;
use super::tree::{Content, DOCUMENT, Element, Id, Tree};
use super::write::Writer;
use super::{Link, Page, PageKind};

/// The text of a page whose address is `base`.
pub(super) fn walk(tree: &Tree, base: Option<&Url>) -> Page {
    let sheets = Sheets::of(tree);
    let mut walker =
        Walker { base: base_of(tree, base), cut: sheets.sheet.cut, ..Walker::default() };
    let look = Look::of_page(!sheets.has_files, sheets.is_dark);
    walker.all(&mut Styles::new(tree, &sheets.sheet), look);
    let cut = walker.cut | walker.writer.cut;
    Page {
        kind: PageKind::Html,
        title: walker.title,
        text: walker.writer.finish(),
        links: walker.links,
        dropped: walker.report.finish(),
        cut,
    }
}

#[derive(Default)]
pub(super) struct Walker {
    pub(super) base: Option<Url>,
    pub(super) writer: Writer,
    pub(super) report: Report,
    pub(super) links: Vec<Link>,
    pub(super) title: Option<String>,
    /// For each open table: whether its row has a cell yet, and how flat it was outside.
    pub(super) rows: Vec<(bool, usize)>,
    /// For each open list the number of the next item, if it has numbers.
    pub(super) lists: Vec<Option<i64>>,
    pub(super) cut: bool,
}

/// An open element: what comes after it, how the text around it looks, and what is to be done at its end.
struct Open {
    id: Id,
    after: Option<Id>,
    look: Look,
    end: End,
}

impl Walker {
    fn all<'a>(&mut self, styles: &mut Styles<'a>, mut look: Look) {
        let tree = styles.tree;
        let mut scenery = Scenery::default();
        let mut open: Vec<Open> = Vec::new();
        let mut next = tree.children(DOCUMENT).next();
        loop {
            let Some((id, node)) = next.and_then(|id| Some((id, tree.get(id)?))) else {
                let Some(left) = open.pop() else { return };
                self.leave(left.end);
                (next, look) = (left.after, left.look);
                continue;
            };
            if self.writer.cut {
                return;
            }
            next = node.after;
            match &node.content {
                Content::Root => {}
                Content::Comment(text) => self.report.one(DropKind::Comment, text),
                Content::Text(text) => {
                    let beside = open.last().filter(|it| shows_choices(tree, it.id));
                    self.text(
                        text,
                        look.unseen.or(beside.map(|it| (DropKind::DisplayNone, it.id))),
                    );
                }
                Content::Element(element) => {
                    let mut own = look.of((id, element), styles, open.len());
                    let path = |at: usize| open.get(at).map_or(id, |it| it.id);
                    if matches!(own.unseen, Some((DropKind::SameColour, _)))
                        && scenery.is_behind(&own, open.len(), path, styles)
                    {
                        own = own.on_something();
                    }
                    if styles.is_exhausted() {
                        self.cut = true;
                        return;
                    }
                    let shadow = is_shadow(tree, id, element);
                    let kind = dropped_kind(element).filter(|_| !shadow);
                    let folded = lacks_summary(&own, id, styles, open.len());
                    own = own.without(kind.or(folded.then_some(DropKind::DisplayNone)), id);
                    let end = match own.unseen {
                        // Something inside may be visible again, but what shapes it is not worth keeping.
                        Some((kind, root)) => self.enter_unseen((id, element), kind, root),
                        None => self.enter((id, element), tree),
                    };
                    let labelled = label_of(element).is_some() && element.local() == "option";
                    own = own.without(labelled.then_some(DropKind::DisplayNone), id);
                    own.place.in_shadow |= shadow;
                    let within = element.template.unwrap_or(id);
                    let title = element.is_html() && element.local() == "title";
                    let inside = tree.children(within).next().filter(|_| !title);
                    let after = std::mem::replace(&mut next, inside);
                    let look = std::mem::replace(&mut look, own);
                    open.push(Open { id, after, look, end });
                }
            }
        }
    }

    fn text(&mut self, text: &str, unseen: Option<(DropKind, Id)>) {
        match unseen {
            None => self.writer.text(text, &mut self.report),
            Some((kind, root)) => {
                if !text.trim().is_empty() {
                    self.report.text(kind, root, text);
                }
            }
        }
    }

    /// What would show without text: an address, a value.
    fn enter_unseen(&mut self, (id, element): (Id, &Element), kind: DropKind, root: Id) -> End {
        let names: &[&str] = match (kind, element.local()) {
            (DropKind::Frame, _) => &["srcdoc", "src"],
            (DropKind::Object, _) => &["data", "src"],
            (DropKind::HiddenInput, _) | (_, "input") => &["value"],
            (_, "img" | "area") => &["alt"],
            _ => &[],
        };
        let said = names.iter().find_map(|it| element.attribute(it)).unwrap_or_default();
        let own = root == id && dropped_kind(element) == Some(kind) && kind != DropKind::Svg;
        if own || !said.trim().is_empty() {
            self.report.text(kind, root, said);
        }
        End::default()
    }
}
