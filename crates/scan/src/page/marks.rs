//! The marks that elements leave in the text: headings, lists, cells, links, pictures, fields.

use url::Url;

use super::dropped::DropKind;
use super::parts::shown_value;
use super::tree::Element;
use super::walk::{End, Walker};
use super::write::Gap;
use super::{LINK_BYTES_MAX, label};

impl Walker {
    pub(super) fn broken(&mut self, gap: Gap) -> End {
        self.writer.gap(gap);
        End::Gap(gap)
    }

    pub(super) fn heading(&mut self, name: &str) -> End {
        self.writer.gap(Gap::Paragraph);
        let level = name.chars().nth(1).and_then(|it| it.to_digit(10)).unwrap_or(1);
        let signs: String = (0..level).map(|_| '#').collect();
        // In a cell or in another heading there is no line to begin.
        let first = (self.writer.flat == 0).then(|| format!("{signs} "));
        self.writer.push_prefix(first, "");
        self.writer.flat += 1;
        End::Heading
    }

    pub(super) fn preformatted(&mut self) -> End {
        self.writer.gap(Gap::Paragraph);
        if self.writer.flat == 0 {
            self.writer.line("```");
        }
        self.writer.preformatted += 1;
        End::Pre
    }

    pub(super) fn list(&mut self, element: &Element) -> End {
        let ordered = &*element.name.local == "ol";
        let start = element.attribute("start").and_then(|it| it.trim().parse().ok()).unwrap_or(1);
        self.writer.gap(if self.lists.is_empty() { Gap::Paragraph } else { Gap::Line });
        self.lists.push(ordered.then_some(start));
        End::List
    }

    pub(super) fn item(&mut self, element: &Element) -> End {
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

    pub(super) fn cell(&mut self) -> End {
        let first = self.rows.last_mut().is_none_or(|it| !std::mem::replace(&mut it.0, true));
        if !first {
            self.writer.next_cell();
        }
        self.writer.flat += 1;
        End::Cell
    }

    pub(super) fn image(&mut self, element: &Element) -> End {
        let alt = label(element.attribute("alt").unwrap_or_default());
        if !alt.is_empty() {
            self.writer.text(&format!("[image: {alt}]"), &mut self.report);
        }
        End::Nothing
    }

    /// Buttons show their value, fields what stands in them.
    pub(super) fn input(&mut self, element: &Element) -> End {
        let shown = label(shown_value(element).unwrap_or_default());
        if !shown.is_empty() {
            self.writer.text(&format!("[{shown}]"), &mut self.report);
        }
        End::Nothing
    }

    pub(super) fn area(&mut self, element: &Element) -> End {
        // A browser shows it only where the picture is missing.
        let alt = element.attribute("alt").filter(|it| !it.trim().is_empty());
        alt.into_iter().for_each(|it| self.report.one(DropKind::DisplayNone, it));
        self.link(element)
    }

    pub(super) fn link(&mut self, element: &Element) -> End {
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
    pub(super) fn address(&mut self, href: &str) -> Option<String> {
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
}
