//! What kind of content it is, and in which encoding.

use encoding_rs::{Encoding, UTF_8};

use super::PageKind;

/// What the bytes are, by what the server says and by how they look.
pub(super) fn kind(bytes: &[u8], content_type: Option<&str>) -> PageKind {
    let essence = content_type.map(essence).unwrap_or_default();
    let wide =
        Encoding::for_bom(bytes).is_some_and(|it| it.0 != UTF_8) || declared_wide(content_type);
    let start = bytes.get(..bytes.len().min(SNIFF_BYTES)).unwrap_or_default();
    if !wide && memchr::memchr(0, start).is_some() || MAGIC.iter().any(|it| bytes.starts_with(it)) {
        return PageKind::Binary;
    }
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" => PageKind::Html,
        "" | "unknown/unknown" | "application/unknown" | "*/*" => {
            if looks_like_html(start) {
                PageKind::Html
            } else {
                PageKind::Text
            }
        }
        "image/svg+xml" => PageKind::Binary,
        _ if essence.starts_with("text/")
            || essence.ends_with("+json")
            || essence.ends_with("+xml") =>
        {
            PageKind::Text
        }
        _ if TEXT.split_ascii_whitespace().any(|it| it == essence) => PageKind::Text,
        _ => PageKind::Binary,
    }
}

/// The text: by byte order mark, by what the server says, by `<meta>`, or else UTF-8. Says whether a byte
/// had no meaning.
pub(super) fn decode(bytes: &[u8], content_type: Option<&str>, kind: PageKind) -> String {
    let declared =
        content_type.and_then(charset_of).and_then(|it| Encoding::for_label(it.as_bytes()));
    let meta = || {
        let start = bytes.get(..bytes.len().min(META_BYTES)).unwrap_or_default();
        // A page that can be searched for ASCII is not UTF-16, whatever it says.
        (kind == PageKind::Html)
            .then(|| meta_charset(start))
            .flatten()
            .map(Encoding::output_encoding)
    };
    let encoding = declared.or_else(meta).unwrap_or(UTF_8);
    // A byte order mark outranks all of it, and `decode` heeds it.
    encoding.decode(bytes).0.into_owned()
}

fn essence(content_type: &str) -> String {
    content_type.split([';', ',']).next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn charset_of(content_type: &str) -> Option<String> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let named = name.trim().eq_ignore_ascii_case("charset");
        named.then(|| value.trim().trim_matches(['"', '\'']).trim().to_owned())
    })
}

fn declared_wide(content_type: Option<&str>) -> bool {
    let label = content_type.and_then(charset_of).unwrap_or_default();
    Encoding::for_label(label.as_bytes()).is_some_and(|it| it.output_encoding() != it)
}

/// `<meta charset=…>` or `<meta http-equiv=content-type content="…; charset=…">`, as browsers look for it
/// before they parse: comments and other tags are passed over, with what stands in their quotes.
fn meta_charset(start: &[u8]) -> Option<&'static Encoding> {
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    let mut rest = text.as_str();
    loop {
        rest = rest.get(rest.find('<')? + 1..)?;
        if let Some(comment) = rest.strip_prefix("!--") {
            // `<!-->` is a whole comment.
            rest = rest.get(2..).filter(|_| comment.starts_with('>')).unwrap_or(comment);
            rest = rest.get(rest.find("-->").map_or_else(|| rest.len(), |it| it + 3)..)?;
            continue;
        }
        if rest.starts_with(['!', '/', '?'])
            && !rest.get(1..)?.starts_with(|it: char| it.is_ascii_alphabetic())
        {
            rest = rest.get(rest.find('>')?..)?;
            continue;
        }
        let named = rest.strip_prefix('/').unwrap_or(rest);
        if !named.starts_with(|it: char| it.is_ascii_alphabetic()) {
            continue;
        }
        let meta = rest
            .strip_prefix("meta")
            .filter(|it| it.starts_with(|it: char| it.is_ascii_whitespace() || it == '/'));
        let (attributes, after) = attributes(meta.unwrap_or(named))?;
        if meta.is_some()
            && let Some(found) = declared(&attributes)
        {
            return Some(found);
        }
        rest = after;
    }
}

/// The encoding that the attributes of a `<meta>` name.
fn declared(attributes: &[(&str, &str)]) -> Option<&'static Encoding> {
    let value = |name: &str| attributes.iter().find(|it| it.0 == name).map(|it| it.1);
    let label = match value("charset") {
        Some(label) => label,
        None => {
            value("http-equiv").filter(|it| *it == "content-type")?;
            let rest = value("content")?.split("charset").nth(1)?.trim_start();
            let rest = rest.strip_prefix('=')?.trim_start();
            let rest = rest.trim_start_matches(['"', '\'']);
            rest.split(|it: char| it.is_ascii_whitespace() || [';', '"', '\''].contains(&it))
                .next()?
        }
    };
    Encoding::for_label(label.trim().as_bytes())
}

/// Names and values up to the end of a tag, and what follows it. Nothing if the tag does not end.
fn attributes(tag: &str) -> Option<(Vec<(&str, &str)>, &str)> {
    let blank = |it: char| it.is_ascii_whitespace() || it == '/';
    let mut found = Vec::new();
    let mut rest = tag;
    loop {
        rest = rest.trim_start_matches(blank);
        if let Some(after) = rest.strip_prefix('>') {
            return Some((found, after));
        }
        let first = rest.chars().next()?;
        // A sign of equality at the beginning belongs to the name.
        let from = first.len_utf8();
        let end = rest.get(from..)?.find(|it: char| blank(it) || it == '>' || it == '=')? + from;
        let (name, after) = rest.split_at_checked(end)?;
        rest = after.trim_start_matches(|it: char| it.is_ascii_whitespace());
        let Some(value) = rest.strip_prefix('=') else {
            found.push((name, ""));
            continue;
        };
        let value = value.trim_start_matches(|it: char| it.is_ascii_whitespace());
        let quote = value.chars().next()?;
        let (value, after) = if quote == '"' || quote == '\'' {
            value.get(1..)?.split_once(quote)?
        } else {
            let end = value.find(|it: char| it.is_ascii_whitespace() || it == '>')?;
            value.split_at_checked(end)?
        };
        found.push((name, value));
        rest = after;
    }
}

fn looks_like_html(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    let text = text.trim_start_matches(|it: char| it.is_whitespace() || it == '\u{feff}');
    OPENINGS.iter().any(|it| text.starts_with(it))
        || (text.starts_with('<')
            && ["<html", "<body", "<head", "</p>", "</div>", "</a>"]
                .iter()
                .any(|it| text.contains(it)))
}

const OPENINGS: &[&str] = &[
    "<!doctype html",
    "<html",
    "<head",
    "<script",
    "<iframe",
    "<h1",
    "<div",
    "<font",
    "<table",
    "<a ",
    "<style",
    "<title",
    "<b>",
    "<body",
    "<br",
    "<p>",
    "<p ",
    "<!--",
    "<meta",
    "<span",
    "<ul",
    "<form",
];

/// Types that are text without being called so.
const TEXT: &str = "application/json application/xml application/javascript application/ecmascript application/yaml \
    application/x-yaml application/toml application/x-ndjson application/jsonl application/markdown \
    application/sql application/graphql application/x-sh application/x-www-form-urlencoded \
    application/rtf message/rfc822";

/// How well-known kinds of file begin, whatever the server calls them.
const MAGIC: &[&[u8]] = &[
    b"%PDF-",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"RIFF",
    b"\x7fELF",
];

/// How far a NUL byte and the look of HTML are searched for.
const SNIFF_BYTES: usize = 4096;
/// How far `<meta charset>` is searched for: the standard's number.
const META_BYTES: usize = 1024;
