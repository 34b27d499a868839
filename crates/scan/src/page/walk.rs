//! Walks through the tree of a page from top to bottom and writes what a person would see.

use url::Url;

use super::dropped::{DropKind, Report};
use super::folded::{is_behind_first, label_of, lacks_summary, own_text_of, shows_choices_alone};
use super::ground::Colours;
use super::look::Look;
use super::parts::{Sheets, base_of, dropped_kind, gap_of, has_shadow, is_shadow, is_title};
use super::scenery::Scenery;
use super::style::Styles;
use super::tree::{Content, DOCUMENT, Element, Id, Tree};
use super::write::{Gap, Writer};
use super::{LINKS_MAX, Link, Page, PageKind, label};

/// The text of a page whose address is `base`.
pub(super) fn walk(tree: &Tree, base: Option<&Url>) -> Page {
    let sheets = Sheets::of(tree);
    let mut walker = Walker {
        base: base_of(tree, base),
        writer: Writer::default(),
        report: Report::default(),
        links: Vec::new(),
        title: None,
        rows: Vec::new(),
        lists: Vec::new(),
        cut: sheets.sheet.cut,
    };
    let look = Look::of_page(Colours::of_page(!sheets.has_files, sheets.is_dark));
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

/// What the end of an element does.
pub(super) enum End {
    Nothing,
    Gap(Gap),
    Heading,
    Link(Option<String>),
    Code,
    Pre,
    Quote,
    List,
    Item,
    Table,
    Row,
    Cell,
}

impl Walker {
    fn all<'a>(&mut self, styles: &mut Styles<'a>, mut look: Look) {
        let tree = styles.tree;
        let mut scenery = Scenery::default();
        let mut open: Vec<Open> = Vec::new();
        let mut next = tree.first(DOCUMENT);
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
                    let beside = open.last().filter(|it| shows_choices_alone(tree, it.id));
                    let unseen = beside.map(|it| (DropKind::DisplayNone, it.id));
                    self.text(text, look.hidden().or(unseen));
                }
                Content::Element(element) => {
                    let mut own = look.of((id, element), styles, open.len());
                    let path = |at: usize| open.get(at).map_or(id, |it| it.id);
                    if matches!(own.hidden(), Some((DropKind::SameColour, _)))
                        && scenery.is_behind(&own, open.len(), path, styles)
                    {
                        own.colours.ground = None;
                    }
                    if has_shadow(tree, id) {
                        // What it paints is not known.
                        own.colours.ground = None;
                    }
                    if styles.is_exhausted() {
                        self.cut = true;
                        return;
                    }
                    let shadow = is_shadow(tree, id, element);
                    let kind = dropped_kind(element).filter(|_| !shadow);
                    let folded = lacks_summary(&own, id, styles, open.len());
                    let behind = folded || is_behind_first(tree, id);
                    own = own.without(kind.or(behind.then_some(DropKind::DisplayNone)), id);
                    let end = self.enter(element, id, tree, &own);
                    let inside = tree.template(element).map_or(node.first, |it| tree.first(it));
                    let after = std::mem::replace(&mut next, inside.filter(|_| !is_title(element)));
                    own = own.without(own_text_of(element), id);
                    own.in_shadow |= shadow;
                    let look = std::mem::replace(&mut look, own);
                    open.push(Open { id, after, look, end });
                }
            }
        }
    }

    fn text(&mut self, text: &str, hidden: Option<(DropKind, Id)>) {
        match hidden {
            None => self.writer.text(text, &mut self.report),
            Some((kind, root)) => {
                if !text.trim().is_empty() {
                    self.report.text(kind, root, text);
                }
            }
        }
    }

    fn enter(&mut self, element: &Element, id: Id, tree: &Tree, look: &Look) -> End {
        if let Some((kind, root)) = look.hidden() {
            self.enter_hidden(element, id, kind, root);
            // Something inside may be visible again, but what shapes it is not worth keeping.
            return End::Nothing;
        }
        if !element.is_html() {
            return End::Nothing;
        }
        match &*element.name.local {
            "title" if self.title.is_none() => {
                let text = tree.text_of(id);
                self.title = Some(label(&text)).filter(|it| !it.is_empty());
                End::Nothing
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(&element.name.local),
            "a" => self.link(element),
            "area" => self.area(element),
            "img" => self.image(element),
            "input" => self.input(element),
            "option" | "optgroup" => {
                let end = self.broken(Gap::Line);
                self.writer.text(&label(label_of(element).unwrap_or_default()), &mut self.report);
                end
            }
            "br" => self.broken(Gap::Line),
            "hr" => {
                self.writer.gap(Gap::Paragraph);
                self.writer.line("---");
                self.broken(Gap::Paragraph)
            }
            "code" | "kbd" | "samp" | "tt" if self.writer.preformatted == 0 => {
                self.writer.open("`");
                End::Code
            }
            "pre" | "listing" | "xmp" | "plaintext" => self.preformatted(),
            "blockquote" => {
                self.writer.gap(Gap::Paragraph);
                self.writer.push_prefix(None, "> ");
                End::Quote
            }
            "ul" | "ol" | "menu" | "dir" => self.list(element),
            "li" => self.item(element),
            "table" => {
                self.writer.gap(Gap::Paragraph);
                self.rows.push((false, std::mem::take(&mut self.writer.flat)));
                End::Table
            }
            "tr" => {
                self.writer.gap(Gap::Line);
                self.rows.iter_mut().next_back().into_iter().for_each(|it| it.0 = false);
                End::Row
            }
            "td" | "th" => self.cell(),
            name => gap_of(name).map_or(End::Nothing, |it| self.broken(it)),
        }
    }

    /// What would show without text: an address, a value.
    fn enter_hidden(&mut self, element: &Element, id: Id, kind: DropKind, root: Id) {
        let said = match (kind, &*element.name.local) {
            (DropKind::Frame, _) => {
                element.attribute("srcdoc").or_else(|| element.attribute("src"))
            }
            (DropKind::Object, _) => element.attribute("data").or_else(|| element.attribute("src")),
            (DropKind::HiddenInput, _) => element.attribute("value"),
            (_, "img" | "area") => element.attribute("alt"),
            (_, "input") => element.attribute("value"),
            _ => None,
        };
        let counts_empty = root == id
            && dropped_kind(element).is_some_and(|it| it == kind && kind != DropKind::Svg);
        if counts_empty || said.is_some_and(|it| !it.trim().is_empty()) {
            self.report.text(kind, root, said.unwrap_or_default());
        }
    }

    fn leave(&mut self, end: End) {
        match end {
            End::Nothing | End::Link(None) => {}
            End::Gap(gap) => self.writer.gap(gap),
            End::Heading => {
                self.writer.flat = self.writer.flat.saturating_sub(1);
                self.writer.pop_prefix();
                self.writer.gap(Gap::Paragraph);
            }
            End::Link(Some(url)) => {
                let mut text = String::new();
                self.writer.close(|inside| {
                    text = label(inside);
                    format!("]({url})")
                });
                if self.links.len() < LINKS_MAX {
                    self.links.push(Link { text, url });
                } else {
                    self.cut = true;
                }
            }
            End::Code => {
                self.writer.close(|_| "`".to_owned());
            }
            End::Pre => {
                self.writer.preformatted = self.writer.preformatted.saturating_sub(1);
                if self.writer.flat == 0 {
                    self.writer.line("```");
                }
                self.writer.gap(Gap::Paragraph);
            }
            End::Quote => {
                self.writer.pop_prefix();
                self.writer.gap(Gap::Paragraph);
            }
            End::List => {
                self.lists.pop();
                self.writer.gap(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
            }
            End::Item => {
                self.writer.pop_prefix();
                self.writer.gap(Gap::Line);
            }
            End::Table => {
                self.writer.flat = self.rows.pop().map_or(0, |it| it.1);
                self.writer.gap(Gap::Paragraph);
            }
            End::Row => {
                self.writer.end_row();
                self.writer.gap(Gap::Line);
            }
            End::Cell => self.writer.flat = self.writer.flat.saturating_sub(1),
        }
    }
}
