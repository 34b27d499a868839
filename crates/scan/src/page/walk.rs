//! Walks through the tree of a page from top to bottom and writes what a person would see.

use url::Url;

use super::columns::Tables;
use super::dropped::{DropKind, Report};
use super::folded::{is_behind_first, label_of, lacks_handle, own_text_of, shows_choices_alone};
use super::look::Look;
use super::parts::{LINES, PARAGRAPHS, base_of, dropped_kind, is_title, sheet_of, shown_value};
use super::shadow::hides_children;
use super::style::Styles;
use super::tree::{Content, DOCUMENT, Element, Id, Tree};
use super::write::{Gap, Writer};
use super::{LINK_BYTES_MAX, LINKS_MAX, Link, Page, PageKind, label};

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
    walker.all(tree, &mut Styles::new(tree, &sheet));
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

struct Walker {
    base: Option<Url>,
    writer: Writer,
    report: Report,
    links: Vec<Link>,
    title: Option<String>,
    /// For each open table: whether its row has a cell yet, and how flat it was outside.
    rows: Vec<(bool, usize)>,
    tables: Tables,
    /// For each open list the number of the next item, if it has numbers.
    lists: Vec<Option<i64>>,
    cut: bool,
}

/// An open node: what comes after it, and what is to be done at its end.
struct Open {
    after: Option<Id>,
    look: Look,
    end: End,
}

/// What the end of an element does.
enum End {
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
    fn all(&mut self, tree: &Tree, styles: &mut Styles<'_>) {
        let mut open: Vec<Open> = Vec::new();
        let mut path: Vec<Id> = Vec::new();
        let mut look = Look::of_page(styles.sheet);
        let mut next = tree.get(DOCUMENT).and_then(|it| it.first);
        loop {
            let Some((id, node)) = next.and_then(|id| Some((id, tree.get(id)?))) else {
                // Up again.
                let Some(left) = open.pop() else { return };
                path.pop();
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
                    let beside = path.last().filter(|it| shows_choices_alone(tree, **it));
                    let unseen = beside.map(|it| (DropKind::DisplayNone, *it));
                    self.text(text, look.hidden().or(unseen));
                }
                Content::Element(element) => {
                    let (hidden, column) = self.tables.cell(element, &look, &path);
                    let own = column.as_ref().unwrap_or(&look).of(element, id, styles, &path);
                    if styles.exhausted() {
                        // Not every rule was held against it: it may be hidden.
                        self.cut = true;
                        return;
                    }
                    let shadow = hides_children(tree, id).then_some(DropKind::Template);
                    let folded = lacks_handle(tree, id, &own, styles, &mut path)
                        .then_some(DropKind::DisplayNone);
                    let behind = is_behind_first(tree, id).then_some(DropKind::DisplayNone);
                    let column = hidden.then_some(DropKind::Visibility);
                    let why = dropped_kind(element).or(shadow).or(folded).or(behind).or(column);
                    let own = own.without(why, id);
                    self.tables.open((element, id), &own, tree, styles, &path);
                    let end = self.enter(element, id, tree, &own);
                    open.push(Open { after: node.after, look, end });
                    path.push(id);
                    look = own.without(own_text_of(element), id);
                    next = tree.template(element).map_or(node.first, |it| tree.get(it)?.first);
                    if is_title(element) {
                        next = None;
                    }
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

    fn broken(&mut self, gap: Gap) -> End {
        self.writer.gap(gap);
        End::Gap(gap)
    }

    fn heading(&mut self, name: &str) -> End {
        self.writer.gap(Gap::Paragraph);
        let level = name.chars().nth(1).and_then(|it| it.to_digit(10)).unwrap_or(1);
        let signs: String = (0..level).map(|_| '#').collect();
        // In a cell or in another heading there is no line to begin.
        let first = (self.writer.flat == 0).then(|| format!("{signs} "));
        self.writer.push_prefix(first, "");
        self.writer.flat += 1;
        End::Heading
    }

    fn preformatted(&mut self) -> End {
        self.writer.gap(Gap::Paragraph);
        if self.writer.flat == 0 {
            self.writer.line("```");
        }
        self.writer.preformatted += 1;
        End::Pre
    }

    fn list(&mut self, element: &Element) -> End {
        let ordered = &*element.name.local == "ol";
        let start = element.attribute("start").and_then(|it| it.trim().parse().ok()).unwrap_or(1);
        self.writer.gap(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
        self.lists.push(ordered.then_some(start));
        End::List
    }

    fn item(&mut self, element: &Element) -> End {
        self.writer.gap(Gap::Line);
        let value = element.attribute("value").and_then(|it| it.trim().parse::<i64>().ok());
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let own = value.unwrap_or(*number);
                *number = own.saturating_add(1);
                format!("{own}. ")
            }
            Some(None) | None => "- ".to_owned(),
        };
        self.writer.push_prefix((self.writer.flat == 0).then_some(marker), "  ");
        End::Item
    }

    fn cell(&mut self) -> End {
        let first = self.rows.last_mut().is_none_or(|it| !std::mem::replace(&mut it.0, true));
        if !first {
            self.writer.next_cell();
        }
        self.writer.flat += 1;
        End::Cell
    }

    fn image(&mut self, element: &Element) -> End {
        let alt = label(element.attribute("alt").unwrap_or_default());
        if !alt.is_empty() {
            self.writer.text(&format!("[image: {alt}]"), &mut self.report);
        }
        End::Nothing
    }

    /// Buttons show their value, fields what stands in them.
    fn input(&mut self, element: &Element) -> End {
        let shown = label(shown_value(element).unwrap_or_default());
        if !shown.is_empty() {
            self.writer.text(&format!("[{shown}]"), &mut self.report);
        }
        End::Nothing
    }

    fn area(&mut self, element: &Element) -> End {
        // A browser shows it only where the picture is missing.
        let alt = element.attribute("alt").filter(|it| !it.trim().is_empty());
        alt.into_iter().for_each(|it| self.report.one(DropKind::DisplayNone, it));
        self.link(element)
    }

    fn link(&mut self, element: &Element) -> End {
        let Some(href) = element.attribute("href") else { return End::Nothing };
        match self.address(href) {
            Some(url) => {
                self.writer.open("[");
                End::Link(Some(url))
            }
            None => End::Link(None),
        }
    }

    /// Where a link leads, if it leads to the web or to a mailbox. Places in the same page are no address.
    fn address(&mut self, href: &str) -> Option<String> {
        let href = href.trim_matches(|it: char| it <= ' ');
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        if href.len() > LINK_BYTES_MAX {
            self.report.one(DropKind::Link, href.get(..32).unwrap_or_default());
            return None;
        }
        let url = match &self.base {
            Some(base) => base.join(href),
            None => Url::parse(href),
        };
        let url = url.ok()?;
        if !matches!(url.scheme(), "http" | "https" | "mailto") {
            self.report.one(DropKind::Link, href);
            return None;
        }
        Some(url.as_str().replace('(', "%28").replace(')', "%29"))
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
