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
        _ if TEXT.contains(&essence.as_str()) => PageKind::Text,
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

/// `<meta charset=…>` or `<meta http-equiv=content-type content="…; charset=…">`.
fn meta_charset(start: &[u8]) -> Option<&'static Encoding> {
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    text.split("<meta").skip(1).find_map(|after| {
        let tag = after.split('>').next()?;
        let value = tag.split("charset").nth(1)?.trim_start().strip_prefix('=')?.trim_start();
        let value = value.trim_start_matches(['"', '\'']);
        let end = |it: char| it.is_ascii_whitespace() || ['"', '\'', ';', '/'].contains(&it);
        Encoding::for_label(value.split(end).next()?.as_bytes())
    })
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
const TEXT: &[&str] = &[
    "application/json",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-ndjson",
    "application/jsonl",
    "application/markdown",
    "application/sql",
    "application/graphql",
    "application/x-sh",
    "application/x-www-form-urlencoded",
    "application/rtf",
    "message/rfc822",
];

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
