//! The marks that elements leave in the text: headings, lists, cells, links, pictures, fields.

use url::Url;

use super::dropped::DropKind;
use super::parts::{gap_of, label_of, shown_value};
use super::tree::{Element, Id, Tree};
use super::walk::Walker;
use super::write::Gap;
use super::{LINK_BYTES_MAX, LINKS_MAX, Link, label};

/// What the end of an element does.
#[derive(Default)]
pub(super) struct End {
    gap: Gap,
    /// A prefix of lines ends.
    prefix: bool,
    /// What could hold no line of its own ends.
    flat: bool,
    mark: Mark,
}

/// A mark that is open.
#[derive(Default)]
enum Mark {
    #[default]
    None,
    Link(String),
    Code,
    Pre,
    List,
    Table,
    Row,
}

impl Walker {
    /// Writes what an element begins with that is seen.
    pub(super) fn enter(&mut self, (id, element): (Id, &Element), tree: &Tree) -> End {
        if !element.is_html() {
            return End::default();
        }
        match element.local() {
            "title" if self.title.is_none() => {
                self.title = Some(label(&tree.text_of(id))).filter(|it| !it.is_empty());
                End::default()
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(element.local()),
            "a" => self.link(element),
            "area" => {
                // A browser shows it only where the picture is missing.
                let alt = element.attribute("alt").filter(|it| !it.trim().is_empty());
                alt.into_iter().for_each(|it| self.report.one(DropKind::DisplayNone, it));
                self.link(element)
            }
            "img" => self.bracketed("image: ", element.attribute("alt")),
            "input" => self.bracketed("", shown_value(element)),
            "option" | "optgroup" => {
                let end = self.set_apart(Gap::Line);
                self.writer.text(&label(label_of(element).unwrap_or_default()), &mut self.report);
                end
            }
            "br" => self.set_apart(Gap::Line),
            "hr" => {
                self.writer.gap(Gap::Paragraph);
                self.writer.line("---");
                self.set_apart(Gap::Paragraph)
            }
            "code" | "kbd" | "samp" | "tt" if self.writer.preformatted == 0 => {
                self.writer.open("`");
                End { mark: Mark::Code, ..End::default() }
            }
            "pre" | "listing" | "xmp" | "plaintext" => {
                let end = self.set_apart(Gap::Paragraph);
                self.fence();
                self.writer.preformatted += 1;
                End { mark: Mark::Pre, ..end }
            }
            "blockquote" => {
                let end = self.set_apart(Gap::Paragraph);
                self.writer.push_prefix(None, "> ");
                End { prefix: true, ..end }
            }
            "ul" | "ol" | "menu" | "dir" => self.list(element),
            "li" => self.item(element),
            "table" => {
                let end = self.set_apart(Gap::Paragraph);
                self.rows.push((false, std::mem::take(&mut self.writer.flat)));
                End { mark: Mark::Table, ..end }
            }
            "tr" => {
                self.rows.iter_mut().next_back().into_iter().for_each(|it| it.0 = false);
                End { mark: Mark::Row, ..self.set_apart(Gap::Line) }
            }
            "td" | "th" => {
                let first =
                    self.rows.last_mut().is_none_or(|it| !std::mem::replace(&mut it.0, true));
                if !first {
                    self.writer.next_cell();
                }
                self.writer.flat += 1;
                End { flat: true, ..End::default() }
            }
            name => self.set_apart(gap_of(name)),
        }
    }

    pub(super) fn leave(&mut self, End { gap, prefix, flat, mark }: End) {
        self.writer.flat = self.writer.flat.saturating_sub(usize::from(flat));
        if prefix {
            self.writer.pop_prefix();
        }
        match mark {
            Mark::None => {}
            Mark::Link(url) => {
                let mut text = String::new();
                self.writer.close(|inside| {
                    text = label(inside);
                    format!("]({url})")
                });
                self.cut |= self.links.len() >= LINKS_MAX;
                if self.links.len() < LINKS_MAX {
                    self.links.push(Link { text, url });
                }
            }
            Mark::Code => self.writer.close(|_| "`".to_owned()),
            Mark::Pre => {
                self.writer.preformatted = self.writer.preformatted.saturating_sub(1);
                self.fence();
            }
            Mark::List => drop(self.lists.pop()),
            Mark::Table => self.writer.flat = self.rows.pop().map_or(0, |it| it.1),
            Mark::Row => self.writer.end_row(),
        }
        self.writer.gap(gap);
    }

    /// A gap before an element, and the same behind it.
    fn set_apart(&mut self, gap: Gap) -> End {
        self.writer.gap(gap);
        End { gap, ..End::default() }
    }

    fn fence(&mut self) {
        if self.writer.flat == 0 {
            self.writer.line("```");
        }
    }

    fn heading(&mut self, name: &str) -> End {
        let end = self.set_apart(Gap::Paragraph);
        let level = name.trim_start_matches('h').parse().unwrap_or(1);
        // In a cell or in another heading there is no line to begin.
        let first = (self.writer.flat == 0).then(|| format!("{} ", "#".repeat(level)));
        self.writer.push_prefix(first, "");
        self.writer.flat += 1;
        End { prefix: true, flat: true, ..end }
    }

    fn list(&mut self, element: &Element) -> End {
        let start = element.attribute("start").and_then(|it| it.trim().parse().ok()).unwrap_or(1);
        let end = self.set_apart(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
        self.lists.push((element.local() == "ol").then_some(start));
        End { mark: Mark::List, ..end }
    }

    fn item(&mut self, element: &Element) -> End {
        let end = self.set_apart(Gap::Line);
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
        End { prefix: true, ..end }
    }

    /// What stands for a picture or a field: its words, in brackets that say so.
    fn bracketed(&mut self, what: &str, words: Option<&str>) -> End {
        let words = label(words.unwrap_or_default());
        if !words.is_empty() {
            self.writer.text(&format!("[{what}{words}]"), &mut self.report);
        }
        End::default()
    }

    fn link(&mut self, element: &Element) -> End {
        let Some(url) = element.attribute("href").and_then(|it| self.address(it)) else {
            return End::default();
        };
        self.writer.open("[");
        End { mark: Mark::Link(url), ..End::default() }
    }

    /// Where a link leads, if it leads to the web or to a mailbox. Places in the same page are no address.
    fn address(&mut self, href: &str) -> Option<String> {
        let href = href.trim_matches(|it: char| it <= ' ');
        if href.is_empty() || href.starts_with('#') {
            return None;
        }
        let base = Url::options().base_url(self.base.as_ref());
        let short = href.len() <= LINK_BYTES_MAX;
        let url = if short { Some(base.parse(href).ok()?) } else { None };
        let url = url.filter(|it| matches!(it.scheme(), "http" | "https" | "mailto"));
        if url.is_none() {
            self.report.one(DropKind::Link, href);
        }
        Some(url?.as_str().replace('(', "%28").replace(')', "%29"))
    }
}
