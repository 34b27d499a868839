//! Addresses in a text by which something could leave: images that a reader's program loads by itself, and links that
//! carry data.
//!
//! An image is loaded without anybody's doing, so the one who shows a text tells the server of its address whatever stands
//! in it. A link does so when it is followed. Markdown (inline, reference, collapsed and shortcut images, autolinks, bare
//! addresses), HTML (every attribute that holds an address, `srcset`, `style`) and style sheets are read; what is in the
//! address is judged by [`Carries`]. Time is linear in the text.

mod address;
mod carries;
mod html;
mod markdown;
mod neutral;

pub use carries::Carries;
pub use neutral::{leaving, neutralised};

/// How a text names an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An image of Markdown.
    MarkdownImage,
    /// An element of HTML that is loaded when it is shown: an image, a frame, a style sheet.
    HtmlLoad,
    /// An address in a style.
    StyleLoad,
    /// A link that somebody follows, or an address that stands for itself.
    Link,
}

impl Kind {
    /// Returns the name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MarkdownImage => "markdown-image",
            Self::HtmlLoad => "html-load",
            Self::StyleLoad => "style-load",
            Self::Link => "link",
        }
    }

    /// Tells whether a program that shows the text asks for the address by itself.
    #[must_use]
    pub const fn loads(self) -> bool {
        match self {
            Self::MarkdownImage | Self::HtmlLoad | Self::StyleLoad => true,
            Self::Link => false,
        }
    }
}

/// An address by which something could leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How it is named.
    pub kind: Kind,
    /// What the address carries.
    pub carries: Carries,
    /// The address, as a browser would read it.
    pub url: String,
    /// Where what names it begins in the text, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl Finding {
    /// Returns the host of the address; none where it is no address of the web after all.
    #[must_use]
    pub fn host(&self) -> Option<String> {
        url::Url::parse(&self.url).ok()?.host_str().map(str::to_owned)
    }

    /// How bad it is.
    fn rank(&self) -> (Carries, bool) {
        (self.carries, self.kind.loads())
    }
}

/// Looks for addresses by which something could leave: everything that loads from elsewhere, and links that carry
/// something. All of them, in the order of the text: whoever takes them out leaves none there.
#[must_use]
pub fn look(text: &str) -> Vec<Finding> {
    // Most texts name no address at all.
    if memchr::memmem::find(text.as_bytes(), b"//").is_none() && !has_escape(text) {
        return Vec::new();
    }
    let shown = crate::shown::Shown::of(text);
    let mut all = Vec::new();
    html::find(&shown.text, &mut all);
    markdown::find(&shown.text, &mut all);
    all.sort_by_key(|it| (it.start, usize::MAX - it.end));
    let mut kept = outermost(all);
    for it in &mut kept {
        it.start = text.floor_char_boundary(shown.original(it.start));
        it.end = text.ceil_char_boundary(shown.original_end(it.end).min(text.len()));
    }
    kept
}

/// Drops what says nothing, and what stands inside of something at least as bad that leads to the same host.
fn outermost(all: Vec<Finding>) -> Vec<Finding> {
    let mut kept: Vec<Finding> = Vec::new();
    let mut last: Option<(usize, Option<String>, (Carries, bool))> = None;
    for it in all {
        if !it.kind.loads() && it.carries == Carries::Nothing {
            continue;
        }
        let (host, rank) = (it.host(), it.rank());
        let said = last
            .as_ref()
            .is_some_and(|(end, at, worst)| it.end <= *end && *at == host && rank <= *worst);
        if !said {
            last = Some((it.end, host, rank));
            kept.push(it);
        }
    }
    kept
}

/// Slashes of an address may be written as character references, as escapes of a style, or leaning the other way.
fn has_escape(text: &str) -> bool {
    memchr::memchr2(b'&', b'\\', text.as_bytes()).is_some()
}
