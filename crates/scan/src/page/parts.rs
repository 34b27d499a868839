//! The parts of a page: which elements break lines, which are not shown, where styles and addresses stand.

use std::rc::Rc;

use url::Url;

use super::condition::media_of;
use super::drawn::{Drawn, masks, voids};
use super::dropped::DropKind;
use super::filter::filters;
use super::fit::Sure;
use super::sheet::{Sheet, of_data};
use super::tree::{DOCUMENT, Element, Id, Tree};

/// The style sheets that stand in the page.
pub(super) fn sheet_of(tree: &Tree) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.drawn = Rc::new(Drawn { voids: voids(tree), masks: masks(tree), filters: filters(tree) });
    let counts = |it: &(Id, &Element)| {
        !matches!(&*it.1.name.local, "meta" | "style") || is_shown(tree, it.0)
    };
    add_sheets(tree, tree.elements().filter(counts), &mut sheet);
    sheet
}

/// Adds the style sheets among these elements.
pub(super) fn add_sheets<'t>(
    tree: &'t Tree,
    elements: impl Iterator<Item = (Id, &'t Element)>,
    sheet: &mut Sheet,
) {
    // Of sheets with titles, those with the first title count; the others are for who chooses them.
    let mut chosen: Option<&str> = None;
    for (id, element) in elements {
        let title = element.attribute("title").filter(|it| !it.is_empty());
        let mut is_chosen = || title.is_none_or(|it| *chosen.get_or_insert(it) == it);
        match &*element.name.local {
            "meta" => sheet.is_dark |= says_dark(element),
            "link" if element.attribute("disabled").is_some() => {}
            "style" => {
                let sure = applies(element);
                if !is_chosen() {
                    continue;
                }
                if sure > Sure::No {
                    sheet.add(&tree.text_of(id), tree.is_old(), sure == Sure::Maybe);
                }
            }
            "link" => {
                let rel = element.attribute("rel").unwrap_or_default().to_ascii_lowercase();
                if !rel.contains("stylesheet") || (rel.trim() == "stylesheet" && !is_chosen()) {
                    continue;
                }
                match of_data(element.attribute("href").unwrap_or_default()) {
                    Some(text) => {
                        let media = media_of(element.attribute("media").unwrap_or_default());
                        let sure = media == Sure::Yes && rel.trim() == "stylesheet";
                        if media > Sure::No {
                            sheet.add(&text, tree.is_old(), !sure);
                        }
                    }
                    None => sheet.unseen_backgrounds = true,
                }
            }
            _ => {}
        }
    }
}

/// `<meta name="color-scheme" content="dark">`.
fn says_dark(meta: &Element) -> bool {
    let name = meta.attribute("name").unwrap_or_default().trim();
    let content = meta.attribute("content").unwrap_or_default().to_ascii_lowercase();
    let has = |word: &str| content.split_ascii_whitespace().any(|it| it == word);
    name.eq_ignore_ascii_case("color-scheme") && has("dark") && !has("light")
}

fn applies(style: &Element) -> Sure {
    let kind = style.attribute("type").unwrap_or_default().to_ascii_lowercase();
    if !kind.is_empty() && kind != "text/css" {
        return Sure::No;
    }
    media_of(style.attribute("media").unwrap_or_default())
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

/// Elements that are not shown unless a style says how to display them.
pub(super) fn usually_hidden(element: &Element) -> Option<DropKind> {
    let is_open_dialog = &*element.name.local == "dialog" && element.attribute("open").is_some();
    match &*element.name.local {
        "datalist" | "rp" => Some(DropKind::DisplayNone),
        "dialog" if !is_open_dialog => Some(DropKind::DisplayNone),
        _ if element.attribute("popover").is_some() && !is_open_dialog => {
            Some(DropKind::DisplayNone)
        }
        _ => element
            .attribute("hidden")
            .filter(|it| !it.trim().eq_ignore_ascii_case("until-found"))
            .map(|_| DropKind::HiddenAttribute),
    }
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

/// Elements with a blank line before and after them.
pub(super) const PARAGRAPHS: &[&str] = &[
    "p", "article", "section", "main", "header", "footer", "nav", "aside", "figure", "form",
    "fieldset", "dl", "details", "address", "hgroup", "search",
];

/// Elements that begin a line and end it.
pub(super) const LINES: &[&str] = &[
    "div",
    "dt",
    "dd",
    "summary",
    "figcaption",
    "caption",
    "legend",
    "select",
    "textarea",
    "center",
    "body",
    "html",
    "thead",
    "tbody",
    "tfoot",
    "frameset",
    "dialog",
    "button",
];
