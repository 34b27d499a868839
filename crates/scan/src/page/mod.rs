//! A page of the web as readable text, and a report on what a person would not have seen of it.
//!
//! What is hidden by the page itself is found: by attributes, by `style`, and by rules in its `<style>`.
//! Style sheets in files of their own, scripts, and text in pictures are out of reach.
//!
//! INVARIANT (Bounded): time and memory are linear in the bytes, and all numbers have limits. Nothing here
//! calls itself deeper than a small constant, and matching no deeper than a selector has tokens or elements may be
//! open at once, so that no depth of nesting overflows the stack.

mod builder;
mod charset;
mod colour;
mod condition;
mod dropped;
mod element;
mod hidden;
mod look;
mod marks;
mod parse;
mod parts;
mod property;
mod read_sheet;
mod scenery;
mod selector;
mod sheet;
mod style;
mod tree;
mod value;
mod values;
mod walk;
mod write;

use url::Url;

pub use dropped::{DropKind, Dropped, SAMPLE_CHARS_MAX, SAMPLES_MAX};

/// What became of the bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// What it is.
    pub kind: PageKind,
    /// The title that a browser shows.
    pub title: Option<String>,
    /// The readable text; empty if the content is binary.
    pub text: String,
    /// Where links of the text lead, in order; at most [`LINKS_MAX`].
    pub links: Vec<Link>,
    /// What was left out, by reason.
    pub dropped: Vec<Dropped>,
    /// Something is missing because a limit was reached.
    pub cut: bool,
}

/// What the content is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageKind {
    /// HTML, reduced to its text.
    Html,
    /// Any other text, as it is.
    Text,
    /// Neither; there is no text.
    #[default]
    Binary,
}

/// A link to the web or to a mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it says; may be empty.
    pub text: String,
    /// Where it leads: absolute, `http`, `https` or `mailto`.
    pub url: String,
}

/// Bytes of a page that are looked at.
pub const PAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of text that come out, give or take the end of a line.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Links that are listed.
pub const LINKS_MAX: usize = 2000;
/// Bytes of the address of a link.
pub const LINK_BYTES_MAX: usize = 2048;
/// Characters of a title and of the text of a listed link.
pub const LABEL_CHARS_MAX: usize = 300;

/// Reads what a server sent as `content_type` from `base`, the address that links are relative to.
#[must_use]
pub fn read(bytes: &[u8], content_type: Option<&str>, base: Option<&Url>) -> Page {
    let whole = bytes.len();
    let bytes = bytes.get(..PAGE_BYTES_MAX).unwrap_or(bytes);
    let kind = charset::kind(bytes, content_type);
    let mut page = match kind {
        PageKind::Html => {
            let (tree, cut) = parse::parse(&charset::decode(bytes, content_type, kind));
            let mut page = walk::walk(&tree, base);
            page.cut |= cut;
            page
        }
        PageKind::Text => plain(&charset::decode(bytes, content_type, kind)),
        PageKind::Binary => Page::default(),
    };
    page.cut |= whole > bytes.len();
    page
}

/// Text that is not HTML: as it is, but for what cannot be seen.
fn plain(text: &str) -> Page {
    let mut report = dropped::Report::default();
    let mut page = Page { kind: PageKind::Text, ..Page::default() };
    let mut behind = false;
    for one in text.chars() {
        if page.text.len() >= TEXT_BYTES_MAX {
            page.cut = true;
            break;
        }
        let unseen = is_unseen(one);
        if unseen {
            report.character(one, behind);
        } else {
            page.text.push(one);
        }
        behind = unseen;
    }
    page.dropped = report.finish();
    page
}

/// Takes no room on a screen, or steers a terminal.
fn is_unseen(one: char) -> bool {
    let control = one.is_control() && !matches!(one, '\n' | '\r' | '\t' | '\x0c');
    control || (!one.is_ascii() && crate::is_invisible(one))
}

/// One line of at most so many characters, without what cannot be seen.
fn label(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(LABEL_CHARS_MAX).collect();
    let seen = |it: &char| !is_unseen(*it);
    words.join(" ").chars().filter(seen).take(LABEL_CHARS_MAX).collect()
}
