//! The parts of a page: where styles and addresses stand, which elements are not shown, and which break lines.

use url::Url;

use super::condition::{Sure, media};
use super::dropped::DropKind;
use super::look::Look;
use super::read_sheet::{BROWSER, of_data, read_sheet};
use super::sheet::Sheet;
use super::style::Styles;
use super::tree::{Content, DOCUMENT, Element, Id, Tree};
use super::value::is_one_of;
use super::write::Gap;

/// The style sheets of a page.
#[derive(Default)]
pub(super) struct Sheets {
    pub(super) sheet: Sheet,
    /// There are others in files, which are not fetched.
    pub(super) has_files: bool,
    /// The page asks for dark colours.
    pub(super) is_dark: bool,
}

impl Sheets {
    /// Reads those that stand in the page.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut all = Self::default();
        read_sheet(&mut all.sheet, BROWSER, false);
        // Of sheets with titles, those with the first title count; the others are for who chooses them.
        let mut chosen: Option<&str> = None;
        for (id, element) in tree.elements().filter(|it| it.1.is_html()) {
            let name = element.local();
            if !matches!(name, "meta" | "style" | "link") || !is_in_document(tree, id) {
                continue;
            }
            if element.says("name", "color-scheme") {
                all.is_dark |= element.says("content", "dark");
            }
            let text = match name {
                "style" => Some(tree.text_of(id)),
                "link" if is_sheet(element) => {
                    of_data(element.attribute("href").unwrap_or_default())
                }
                _ => continue,
            };
            let title = element.attribute("title").filter(|it| !it.is_empty());
            let is_chosen = title.is_none_or(|it| *chosen.get_or_insert(it) == it);
            match text.filter(|_| is_chosen) {
                Some(text) => all.add(&text, element),
                None => all.has_files |= is_chosen,
            }
        }
        all
    }

    fn add(&mut self, text: &str, element: &Element) {
        let kind = element.attribute("type").unwrap_or_default();
        let sure = media(element.attribute("media").unwrap_or_default());
        if sure > Sure::No && (kind.is_empty() || kind.eq_ignore_ascii_case("text/css")) {
            read_sheet(&mut self.sheet, text, sure == Sure::Maybe);
        }
    }
}

/// `<link rel=stylesheet>` that is neither disabled nor for who chooses it.
fn is_sheet(link: &Element) -> bool {
    let rel = link.attribute("rel").unwrap_or_default().to_ascii_lowercase();
    is_one_of(&rel, "stylesheet")
        && !is_one_of(&rel, "alternate")
        && link.attribute("disabled").is_none()
}

/// Does it stand in the document, and not in a template?
fn is_in_document(tree: &Tree, id: Id) -> bool {
    let parent = |it: &Id| tree.get(*it)?.parent;
    std::iter::successors(Some(id), parent).last() == Some(DOCUMENT)
}

/// What links are relative to: the first `<base href>`, as far as it leads to the web.
pub(super) fn base_of(tree: &Tree, base: Option<&Url>) -> Option<Url> {
    let bases = tree.elements().filter(|it| it.1.is_html() && it.1.local() == "base");
    let href = bases.filter_map(|it| it.1.attribute("href")).next();
    let own = href.filter(|it| it.len() <= super::LINK_BYTES_MAX);
    let own = own.and_then(|it| Url::options().base_url(base).parse(it).ok());
    own.filter(|it| matches!(it.scheme(), "http" | "https")).or_else(|| base.cloned())
}

/// Elements that are not shown as text, whatever they look like.
pub(super) fn dropped_kind(element: &Element) -> Option<DropKind> {
    if element.name.ns == html5ever::ns!(svg) {
        return Some(DropKind::Svg);
    }
    Some(match element.local() {
        "script" => DropKind::Script,
        "style" => DropKind::Style,
        "noscript" => DropKind::Noscript,
        "template" => DropKind::Template,
        "iframe" | "frame" | "noframes" | "fencedframe" => DropKind::Frame,
        "object" | "embed" | "applet" | "noembed" | "canvas" | "video" | "audio" => {
            DropKind::Object
        }
        // What stands in them is for browsers that do not know them.
        "progress" | "meter" => DropKind::Object,
        "input" if element.says("type", "hidden") => DropKind::HiddenInput,
        "img" if is_dot(element) => DropKind::ZeroSize,
        _ => return None,
    })
}

/// Is it as wide or as high as a pixel?
pub(super) fn is_dot(element: &Element) -> bool {
    let size = |name| element.attribute(name)?.trim().trim_end_matches("px").parse::<f32>().ok();
    ["width", "height"].into_iter().filter_map(size).any(|it| it <= 1.0)
}

/// Is it a shadow tree that stands in the markup? It is shown, and no rule of the page reaches into it.
pub(super) fn is_shadow(tree: &Tree, id: Id, template: &Element) -> bool {
    let open = ["open", "closed"].iter().any(|it| template.says("shadowrootmode", it));
    let Some(node) = tree.get(id).filter(|_| open && template.template.is_some()) else {
        return false;
    };
    // Links have none, and of several the first counts.
    let mut before = std::iter::successors(node.before, |it| tree.get(*it)?.before);
    node.parent.and_then(|it| tree.element(it)).is_some_and(|it| it.local() != "a")
        && before.all(|it| tree.element(it).is_none())
}

/// Is this a closed `<details>` whose `<summary>` nobody sees? `own` is how it looks.
pub(super) fn lacks_summary(own: &Look, id: Id, styles: &mut Styles<'_>, depth: usize) -> bool {
    let tree = styles.tree;
    let closed = tree.element(id).is_some_and(|it| {
        // Of those with one name only the first is open.
        let open = it.attribute("open").is_some() && it.attribute("name").is_none();
        it.is_html() && it.local() == "details" && !open
    });
    // Without one of its own a browser gives it one.
    let summary = tree.element_children(id).find(|it| it.1.is_html() && it.1.local() == "summary");
    let Some(summary) = summary.filter(|_| closed) else { return false };
    own.of(summary, styles, depth + 1).unseen.is_some() || !says_something(tree, summary.0)
}

/// Is there a text or a picture in it?
fn says_something(tree: &Tree, id: Id) -> bool {
    let mut left: Vec<Id> = tree.children(id).next().into_iter().collect();
    for _ in 0..NODES_MAX {
        let Some(node) = left.pop().and_then(|it| tree.get(it)) else { return false };
        let says = match &node.content {
            Content::Text(text) => !text.trim().is_empty(),
            Content::Element(it) => matches!(it.local(), "img" | "input" | "svg"),
            Content::Comment(_) | Content::Root => false,
        };
        if says {
            return true;
        }
        left.extend(node.after);
        left.extend(node.first);
    }
    true
}

/// What an `<option>` or an `<optgroup>` shows in the place of its own text.
pub(super) fn label_of(element: &Element) -> Option<&str> {
    let labelled = element.is_html() && matches!(element.local(), "option" | "optgroup");
    element.attribute("label").filter(|it| labelled && !it.trim().is_empty())
}

/// Is it one whose choices are shown, and no text beside them?
pub(super) fn shows_choices(tree: &Tree, id: Id) -> bool {
    let element = tree.element(id).filter(|it| it.is_html());
    element.is_some_and(|it| matches!(it.local(), "select" | "optgroup"))
}

/// What a field shows: what is in it, or what is to be put there.
pub(super) fn shown_value(field: &Element) -> Option<&str> {
    let kind = field.attribute("type").unwrap_or("text").trim().to_ascii_lowercase();
    let value = field.attribute("value").filter(|it| !it.is_empty());
    let placeholder = field.attribute("placeholder");
    match kind.as_str() {
        "checkbox" | "radio" | "password" | "file" | "color" | "range" => None,
        "image" => field.attribute("alt"),
        // What is no date and no number, browsers leave out.
        "date" | "datetime-local" | "month" | "time" | "week" => {
            value.filter(|it| it.bytes().all(|it| it.is_ascii_digit() || b"-:.TW ".contains(&it)))
        }
        "number" => value.filter(|it| it.parse::<f64>().is_ok_and(f64::is_finite)).or(placeholder),
        _ => value.or(placeholder),
    }
}

/// How an element is set apart from what stands before and after it.
pub(super) fn gap_of(name: &str) -> Gap {
    match name {
        "p" | "article" | "section" | "main" | "header" | "footer" | "nav" | "aside" | "figure"
        | "form" | "fieldset" | "dl" | "details" | "address" | "hgroup" | "search" => {
            Gap::Paragraph
        }
        "div" | "dt" | "dd" | "summary" | "figcaption" | "caption" | "legend" | "select"
        | "textarea" | "center" | "body" | "html" | "thead" | "tbody" | "tfoot" | "frameset"
        | "dialog" | "button" => Gap::Line,
        _ => Gap::None,
    }
}

/// Nodes of a handle that are looked at until it is clear that something stands in it.
const NODES_MAX: usize = 64;
