//! What kind of content it is, and in which encoding.

use encoding_rs::{Encoding, UTF_8};

use super::PageKind;
use super::parse::labels;

/// What the bytes are, by what the server says and by how they look.
pub(super) fn kind(bytes: &[u8], content_type: Option<&str>) -> PageKind {
    let start = bytes.get(..SNIFF_BYTES).unwrap_or(bytes);
    let marked = Encoding::for_bom(bytes).map(|it| it.0);
    // Only in an encoding that is not made of bytes NUL bytes belong to text.
    let wide = [marked, declared(content_type)].into_iter().flatten();
    let wide = wide.into_iter().any(|it| it.output_encoding() != it);
    if !wide && memchr::memchr(0, start).is_some() || MAGIC.iter().any(|it| bytes.starts_with(it)) {
        return PageKind::Binary;
    }
    let essence = content_type.unwrap_or_default().split([';', ',']).next().unwrap_or_default();
    match essence.trim().to_ascii_lowercase().as_str() {
        "text/html" | "application/xhtml+xml" => PageKind::Html,
        "" | "unknown/unknown" | "application/unknown" | "*/*" => {
            if looks_like_html(start) {
                PageKind::Html
            } else {
                PageKind::Text
            }
        }
        "image/svg+xml" => PageKind::Binary,
        it if it.starts_with("text/") || it.ends_with("+json") || it.ends_with("+xml") => {
            PageKind::Text
        }
        it if TEXT.split_ascii_whitespace().any(|text| text == it) => PageKind::Text,
        _ => PageKind::Binary,
    }
}

/// The text: by byte order mark, by what the server says, by `<meta>`, or else UTF-8.
pub(super) fn decode(bytes: &[u8], content_type: Option<&str>, kind: PageKind) -> String {
    let meta = || {
        let start = bytes.get(..META_BYTES).unwrap_or(bytes);
        let known = |it: String| Encoding::for_label(it.as_bytes());
        let found = (kind == PageKind::Html).then(|| labels(start).into_iter().find_map(known));
        // A page that can be searched for ASCII is not UTF-16, whatever it says.
        found.flatten().map(Encoding::output_encoding)
    };
    // A byte order mark outranks all of it, and `decode` heeds it.
    declared(content_type).or_else(meta).unwrap_or(UTF_8).decode(bytes).0.into_owned()
}

/// The encoding that the server says.
fn declared(content_type: Option<&str>) -> Option<&'static Encoding> {
    content_type?.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let named = name.trim().eq_ignore_ascii_case("charset");
        let label = value.trim().trim_matches(['"', '\'']);
        named.then(|| Encoding::for_label(label.trim().as_bytes())).flatten()
    })
}

fn looks_like_html(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    let text = text.trim_start_matches(|it: char| it.is_whitespace() || it == '\u{feff}');
    let Some(tag) = text.strip_prefix('<') else { return false };
    let end = tag.find([' ', '\n', '>']).unwrap_or(tag.len());
    let name = tag.split_at_checked(end).map_or(tag, |it| it.0);
    tag.starts_with("!--")
        || OPENINGS.split_ascii_whitespace().any(|it| it == name)
        || ["<html", "<body", "<head", "</p>", "</div>", "</a>"].iter().any(|it| text.contains(it))
}

/// What a page begins with that does not say what it is.
const OPENINGS: &str = "!doctype html head script iframe h1 div font table a style title b body br p meta span ul form";

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
