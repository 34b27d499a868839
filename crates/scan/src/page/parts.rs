//! The parts of a page: which elements break lines, which are not shown, where styles and addresses stand.

use url::Url;

use super::condition::{Sure, media};
use super::dropped::DropKind;
use super::read_sheet::{of_data, read_browser_sheet, read_sheet};
use super::sheet::Sheet;
use super::tree::{DOCUMENT, Element, Id, Tree};
use super::write::Gap;

/// The style sheets of a page.
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
        let mut all = Self { sheet: Sheet::default(), has_files: false, is_dark: false };
        read_browser_sheet(&mut all.sheet);
        // Of sheets with titles, those with the first title count; the others are for who chooses them.
        let mut chosen: Option<&str> = None;
        for (id, element) in tree.elements().filter(|it| it.1.is_html()) {
            let name = &*element.name.local;
            if !matches!(name, "meta" | "style" | "link") || !is_shown(tree, id) {
                continue;
            }
            let title = element.attribute("title").filter(|it| !it.is_empty());
            let mut is_chosen = || title.is_none_or(|it| *chosen.get_or_insert(it) == it);
            match name {
                "meta" => all.is_dark |= says_dark(element),
                "style" if is_chosen() => all.add(&tree.text_of(id), element),
                "link" if is_sheet(element) && is_chosen() => {
                    match of_data(element.attribute("href").unwrap_or_default()) {
                        Some(text) => all.add(&text, element),
                        None => all.has_files = true,
                    }
                }
                _ => {}
            }
        }
        all
    }

    fn add(&mut self, text: &str, element: &Element) {
        let kind = element.attribute("type").unwrap_or_default().to_ascii_lowercase();
        let sure = media(element.attribute("media").unwrap_or_default());
        if sure > Sure::No && (kind.is_empty() || kind == "text/css") {
            read_sheet(&mut self.sheet, text, sure == Sure::Maybe);
        }
    }
}

/// `<link rel=stylesheet>` that is neither disabled nor for who chooses it.
fn is_sheet(link: &Element) -> bool {
    let rel = link.attribute("rel").unwrap_or_default().to_ascii_lowercase();
    let has = |word: &str| rel.split_ascii_whitespace().any(|it| it == word);
    has("stylesheet") && !has("alternate") && link.attribute("disabled").is_none()
}

/// `<meta name="color-scheme" content="dark">`.
fn says_dark(meta: &Element) -> bool {
    let name = meta.attribute("name").unwrap_or_default().trim();
    let content = meta.attribute("content").unwrap_or_default().to_ascii_lowercase();
    let has = |word: &str| content.split_ascii_whitespace().any(|it| it == word);
    name.eq_ignore_ascii_case("color-scheme") && has("dark") && !has("light")
}

/// Does it stand in the document, and not in a template?
fn is_shown(tree: &Tree, id: Id) -> bool {
    let mut at = id;
    while let Some(parent) = tree.parent(at) {
        at = parent;
    }
    at == DOCUMENT
}

/// What links are relative to: the first `<base href>`, as far as it leads to the web.
pub(super) fn base_of(tree: &Tree, base: Option<&Url>) -> Option<Url> {
    let href = tree.elements().find_map(|(_, element)| match &*element.name.local {
        "base" if element.is_html() => element.attribute("href"),
        _ => None,
    });
    let own = href.filter(|it| it.len() <= super::LINK_BYTES_MAX).and_then(|it| match base {
        Some(base) => base.join(it).ok(),
        None => Url::parse(it).ok(),
    });
    own.filter(|it| matches!(it.scheme(), "http" | "https")).or_else(|| base.cloned())
}

/// Elements that are not shown as text, whatever they look like.
pub(super) fn dropped_kind(element: &Element) -> Option<DropKind> {
    if element.is_svg() {
        return Some(DropKind::Svg);
    }
    let is = |name, value: &str| {
        element.attribute(name).is_some_and(|it| it.trim().eq_ignore_ascii_case(value))
    };
    let is_dot = |name| {
        let size = element
            .attribute(name)
            .and_then(|it| it.trim().trim_end_matches("px").parse::<f64>().ok());
        size.is_some_and(|it| it <= 1.0)
    };
    match &*element.name.local {
        "script" => Some(DropKind::Script),
        "style" => Some(DropKind::Style),
        "noscript" => Some(DropKind::Noscript),
        "template" => Some(DropKind::Template),
        "iframe" | "frame" | "noframes" | "fencedframe" => Some(DropKind::Frame),
        "object" | "embed" | "applet" | "noembed" | "canvas" | "video" | "audio" => {
            Some(DropKind::Object)
        }
        "input" if is("type", "hidden") => Some(DropKind::HiddenInput),
        "img" if is_dot("width") || is_dot("height") => Some(DropKind::ZeroSize),
        "annotation" | "annotation-xml" => Some(DropKind::DisplayNone),
        // What stands in them is for browsers that do not know them.
        "progress" | "meter" => Some(DropKind::Object),
        "mphantom" => Some(DropKind::Visibility),
        _ => None,
    }
}

/// Is it a shadow tree that stands in the markup? It is shown, and no rule of the page reaches into it.
pub(super) fn is_shadow(tree: &Tree, id: Id, template: &Element) -> bool {
    let mode = template.attribute("shadowrootmode").unwrap_or_default();
    let open = ["open", "closed"].iter().any(|it| mode.eq_ignore_ascii_case(it));
    let host = tree.parent(id).and_then(|it| tree.element(it));
    // Of several the first counts; the others are templates as ever.
    let mut before = std::iter::successors(tree.before(id), |it| tree.before(*it));
    open && tree.template(template).is_some()
        && host.is_some_and(can_have_shadow)
        && before.all(|it| tree.element(it).is_none())
}

/// Does an element show a shadow tree around what stands in it?
pub(super) fn has_shadow(tree: &Tree, host: Id) -> bool {
    let mut children = std::iter::successors(tree.first(host), |it| tree.after(*it));
    let first = children.find_map(|it| Some((it, tree.element(it)?)));
    first.is_some_and(|(id, element)| is_shadow(tree, id, element))
}

/// Only some elements can have a shadow tree, and those whose names a page makes up.
fn can_have_shadow(host: &Element) -> bool {
    let name = &*host.name.local;
    let known = matches!(
        name,
        "article"
            | "aside"
            | "blockquote"
            | "body"
            | "div"
            | "footer"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "main"
            | "nav"
            | "p"
            | "section"
            | "span"
    );
    host.is_html() && (known || name.contains('-'))
}

/// What a field shows: what is in it, or what is to be put there.
pub(super) fn shown_value(field: &Element) -> Option<&str> {
    let kind = field.attribute("type").unwrap_or("text").trim().to_ascii_lowercase();
    match kind.as_str() {
        "checkbox" | "radio" | "password" | "file" | "color" | "range" => None,
        "image" => field.attribute("alt"),
        // What is no date and no number, browsers leave out.
        "date" | "datetime-local" | "month" | "time" | "week" => {
            let is_time = |it: u8| it.is_ascii_digit() || b"-:.TW ".contains(&it);
            field.attribute("value").filter(|it| it.bytes().all(is_time))
        }
        "number" => field
            .attribute("value")
            .filter(|it| it.parse::<f64>().is_ok_and(f64::is_finite))
            .or_else(|| field.attribute("placeholder")),
        _ => field
            .attribute("value")
            .filter(|it| !it.is_empty())
            .or_else(|| field.attribute("placeholder")),
    }
}

pub(super) fn is_title(element: &Element) -> bool {
    element.is_html() && &*element.name.local == "title"
}

/// How an element is set apart from what stands before and after it.
pub(super) fn gap_of(name: &str) -> Option<Gap> {
    match name {
        "p" | "article" | "section" | "main" | "header" | "footer" | "nav" | "aside" | "figure"
        | "form" | "fieldset" | "dl" | "details" | "address" | "hgroup" | "search" => {
            Some(Gap::Paragraph)
        }
        "div" | "dt" | "dd" | "summary" | "figcaption" | "caption" | "legend" | "select"
        | "textarea" | "center" | "body" | "html" | "thead" | "tbody" | "tfoot" | "frameset"
        | "dialog" | "button" => Some(Gap::Line),
        _ => None,
    }
}
