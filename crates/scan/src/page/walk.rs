//! Walks through the tree of a page from top to bottom and writes what a person would see.

use url::Url;

use super::columns::Tables;
use super::dropped::{DropKind, Report};
use super::folded::{is_behind_first, label_of, lacks_handle, own_text_of, shows_choices_alone};
use super::look::Look;
use super::parts::{LINES, PARAGRAPHS, base_of, dropped_kind, is_title, sheet_of};
use super::shadow::{Scope, shadows};
use super::style::Styles;
use super::tree::{Content, DOCUMENT, Element, Id, Tree};
use super::write::{Gap, Writer};
use super::{LINKS_MAX, Link, Page, PageKind, label};

/// The text of a page whose address is `base`.
pub(super) fn walk(tree: &Tree, base: Option<&Url>) -> Page {
    let sheet = sheet_of(tree);
    let mut walker = Walker {
        base: base_of(tree, base),
        writer: Writer::default(),
        report: Report::default(),
        links: Vec::new(),
        title: None,
        rows: Vec::new(),
        tables: Tables::default(),
        lists: Vec::new(),
        cut: sheet.cut,
    };
    let shadows = shadows(tree, &sheet);
    walker.all(tree, &mut Styles::new(tree, &sheet, &shadows));
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
    pub(super) tables: Tables,
    /// For each open list the number of the next item, if it has numbers.
    pub(super) lists: Vec<Option<i64>>,
    pub(super) cut: bool,
}

/// Where the walk is.
struct Course<'a> {
    open: Vec<Open<'a>>,
    scope: Scope<'a>,
    look: Look,
    next: Next<'a>,
}

/// An open node: what comes after it, and what is to be done at its end.
struct Open<'a> {
    after: Next<'a>,
    look: Look,
    end: End,
    /// Where it goes on, if that is in another tree.
    around: Option<Box<(Scope<'a>, Tables)>>,
}

/// What comes next: a node and those after it, or some of the children of an element.
enum Next<'a> {
    At(Option<Id>),
    Among(std::iter::Copied<std::slice::Iter<'a, Id>>),
}

impl Next<'_> {
    fn node(&mut self) -> Option<Id> {
        match self {
            Self::At(id) => *id,
            Self::Among(ids) => ids.next(),
        }
    }
}

impl<'a> Open<'a> {
    /// The slot that a node stands in, if it stands right in this one.
    fn slot(&self, next: &Next<'_>, id: Id) -> Option<(Id, Id, Scope<'a>)> {
        let scope = self.around.as_ref().filter(|_| matches!(next, Next::Among(_)))?.0.clone();
        let slot = *scope.path.last()?;
        scope.shadow.is_some_and(|it| it.0.in_slot(slot).is_some()).then_some((id, slot, scope))
    }
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
    fn all<'a>(&mut self, tree: &'a Tree, styles: &mut Styles<'a>) {
        let mut course = Course {
            open: Vec::new(),
            scope: Scope::of_page(styles.sheet),
            look: Look::of_page(styles.sheet),
            next: Next::At(tree.get(DOCUMENT).and_then(|it| it.first)),
        };
        loop {
            let next = course.next.node();
            let Some((id, node)) = next.and_then(|id| Some((id, tree.get(id)?))) else {
                if !self.up(&mut course, styles) {
                    return;
                }
                continue;
            };
            if self.writer.cut {
                return;
            }
            if let Next::At(at) = &mut course.next {
                *at = node.after;
            }
            match &node.content {
                Content::Root => {}
                Content::Comment(text) => self.report.one(DropKind::Comment, text),
                Content::Text(text) => {
                    let around = course.scope.path.last();
                    let beside = around.filter(|it| shows_choices_alone(tree, **it));
                    let unseen = beside.map(|it| (DropKind::DisplayNone, *it));
                    self.text(text, course.look.hidden().or(unseen));
                }
                Content::Element(element) => {
                    if !self.down(&mut course, styles, (element, id), node.first) {
                        self.cut = true;
                        return;
                    }
                }
            }
        }
    }

    /// Leaves the innermost element; false if there is none.
    fn up<'a>(&mut self, course: &mut Course<'a>, styles: &mut Styles<'a>) -> bool {
        let Some(left) = course.open.pop() else { return false };
        self.leave(left.end);
        (course.next, course.look) = (left.after, left.look);
        match left.around {
            Some(around) => {
                (course.scope, self.tables) = *around;
                styles.enter(&course.scope);
            }
            None => {
                course.scope.path.pop();
            }
        }
        true
    }

    /// Enters an element whose first child is `first`; false if it cannot be known how it looks.
    fn down<'a>(
        &mut self,
        course: &mut Course<'a>,
        styles: &mut Styles<'a>,
        (element, id): (&'a Element, Id),
        first: Option<Id>,
    ) -> bool {
        let tree = styles.tree();
        styles.put(course.open.last().and_then(|it| it.slot(&course.next, id)));
        let Some(own) = self.look(element, id, &course.look, styles, &mut course.scope) else {
            return false;
        };
        let end = self.enter(element, id, tree, &own);
        let inside = tree.template(element).map_or(first, |it| tree.get(it)?.first);
        let inside = Next::At(inside.filter(|_| !is_title(element)));
        let after = std::mem::replace(&mut course.next, inside);
        let inner = own.without(own_text_of(element), id);
        let look = std::mem::replace(&mut course.look, inner);
        course.open.push(Open { after, look, end, around: None });
        course.scope.path.push(id);
        if let Some(shadow) = styles.shadows.get(&id) {
            // What has no slot comes last, for the report alone.
            let rest = Next::Among(shadow.rest.iter().copied());
            self.cross(course, styles, course.scope.of_shadow(shadow), rest);
            course.next = Next::At(tree.get(shadow.root).and_then(|it| it.first));
        } else if let Some((shadow, _)) = course.scope.shadow
            && let Some(slotted) = shadow.in_slot(id)
            && let Some(here) = course.scope.of_slot()
        {
            // So does what is written in a slot that is filled.
            let written = std::mem::replace(&mut course.next, Next::At(None));
            self.cross(course, styles, here, written);
            course.next = Next::Among(slotted.iter().copied());
        }
        true
    }

    /// Goes over to another tree. What comes `after` it, in this one, nobody sees.
    fn cross<'a>(
        &mut self,
        course: &mut Course<'a>,
        styles: &mut Styles<'a>,
        here: Scope<'a>,
        after: Next<'a>,
    ) {
        let id = course.scope.path.last().copied().unwrap_or(DOCUMENT);
        let around = std::mem::replace(&mut course.scope, here);
        let around = Some(Box::new((around, std::mem::take(&mut self.tables))));
        let look = course.look.clone().without(Some(DropKind::Template), id);
        course.open.push(Open { after, look, end: End::Nothing, around });
        styles.enter(&course.scope);
    }

    /// How an element looks that stands in something that looks like `look`. Nothing if not every rule was held
    /// against it: it may be hidden.
    fn look<'a>(
        &mut self,
        element: &Element,
        id: Id,
        look: &Look,
        styles: &mut Styles<'a>,
        scope: &mut Scope<'a>,
    ) -> Option<Look> {
        let (tree, path) = (styles.tree(), &mut scope.path);
        let (hidden, column) = self.tables.cell(element, look, path);
        let own = column.as_ref().unwrap_or(look).of(element, id, styles, path);
        if styles.exhausted() {
            return None;
        }
        let folded = lacks_handle(tree, id, &own, styles, path).then_some(DropKind::DisplayNone);
        let behind = is_behind_first(tree, id).then_some(DropKind::DisplayNone);
        let column = hidden.then_some(DropKind::Visibility);
        let own = own.without(dropped_kind(element).or(folded).or(behind).or(column), id);
        self.tables.open((element, id), &own, tree, styles, path);
        Some(own)
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
            name if PARAGRAPHS.contains(&name) => self.broken(Gap::Paragraph),
            name if LINES.contains(&name) => self.broken(Gap::Line),
            _ => End::Nothing,
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
