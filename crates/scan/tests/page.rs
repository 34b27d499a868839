//! Pages that hide text, and pages that do not.
//!
//! Each `corpus/pages/NAME.html` is read and held against `NAME.txt`; `LAZARET_BLESS=1` writes them anew.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic and write")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use scan::page::{
    DropKind, LINKS_MAX, PAGE_BYTES_MAX, Page, PageKind, SAMPLE_CHARS_MAX, SAMPLES_MAX,
    TEXT_BYTES_MAX, read,
};
use url::Url;

fn pages(prefix: &str) -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/pages");
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.extension().is_some_and(|it| it == "html"))
        .map(|it| (it.file_stem().unwrap().to_string_lossy().into_owned(), it))
        .filter(|it| it.0.starts_with(prefix))
        .collect();
    found.sort();
    found
}

pub(crate) fn html(text: &str) -> Page {
    read(text.as_bytes(), Some("text/html"), Some(&base()))
}

fn base() -> Url {
    Url::parse("https://site.example/news/today.html").unwrap()
}

fn shown(page: &Page) -> String {
    let mut out = format!("title: {}\n", page.title.as_deref().unwrap_or("-"));
    for link in &page.links {
        writeln!(out, "link: {} -> {}", link.text, link.url).unwrap();
    }
    for dropped in &page.dropped {
        writeln!(out, "dropped: {} {} {:?}", dropped.kind.as_str(), dropped.count, dropped.samples)
            .unwrap();
    }
    write!(out, "cut: {}\n\n{}\n", page.cut, page.text).unwrap();
    out
}

#[test]
fn pages_read_as_their_golden_files_say() {
    let all = pages("");
    assert!(all.len() >= 60);
    for (name, path) in all {
        let found = shown(&read(&std::fs::read(&path).unwrap(), Some("text/html"), Some(&base())));
        let golden = path.with_extension("txt");
        if std::env::var_os("LAZARET_BLESS").is_some() {
            std::fs::write(&golden, &found).unwrap();
        }
        assert_eq!(found, std::fs::read_to_string(&golden).unwrap(), "{name}");
    }
}

/// The ways of hiding that people really use. None of them may be kept.
const LISTED: &[&str] = &[
    "display",
    "visibility",
    "opacity",
    "size",
    "colour",
    "off-screen",
    "clipped",
    "attribute",
    "comment",
    "template",
    "font",
    "aria-hidden",
];

/// `tricks.tsv`: name, way, and what is seen of it.
fn tricks() -> Vec<[String; 3]> {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/pages/tricks.tsv");
    let table = std::fs::read_to_string(table).unwrap();
    let rows = table.lines().filter(|it| !it.starts_with('#')).skip(1);
    rows.map(|it| it.split('\t').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap())
        .collect()
}

/// Every page `hidden-…` holds the same order, in a way in which nobody would see it.
#[test]
fn tricks_are_seen_as_the_table_says() {
    let all = pages("hidden-");
    let tricks = tricks();
    let names: Vec<&String> = all.iter().map(|it| &it.0).collect();
    assert_eq!(names, tricks.iter().map(|[name, ..]| name).collect::<Vec<_>>());
    for ((name, path), [_, _, seen]) in all.iter().zip(&tricks) {
        let source = std::fs::read(path).unwrap();
        let page = read(&source, Some("text/html"), Some(&base()));
        let kept = page.text.contains("Ignore your");
        assert_eq!(if kept { "kept" } else { "hidden" }, seen, "{name}: {}", page.text);
        assert!(!page.cut, "{name}");
        for seen in ["# Bakery", "Open from seven to six.", "Closed on Sundays."] {
            assert!(page.text.contains(seen), "{name}: {}", page.text);
        }
        let wanted = String::from_utf8_lossy(&source).contains("Cakes on order.");
        assert_eq!(page.text.contains("Cakes on order."), wanted, "{name}: {}", page.text);
        let mut samples = page.dropped.iter().flat_map(|it| &it.samples);
        let reported = samples.any(|it| it.contains("Ignore your instructions"));
        assert!(reported || kept, "{name}: {:?}", page.dropped);
    }
}

#[test]
fn no_way_that_people_really_use_is_kept() {
    let tricks = tricks();
    for way in LISTED {
        assert!(tricks.iter().any(|it| it[1] == *way), "there is no trick for `{way}`");
    }
    for [name, way, seen] in &tricks {
        assert!(seen == "hidden" || !LISTED.contains(&way.as_str()), "{name}: {way}");
    }
}

/// docs/web.md says how many tricks are kept, and of how many.
#[test]
fn the_document_counts_the_tricks() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/web.md");
    let document = std::fs::read_to_string(document).unwrap();
    let tricks = tricks();
    let kept = tricks.iter().filter(|it| it[2] == "kept").count();
    let said = format!("{kept} of {} tricks", tricks.len());
    assert!(document.contains(&said), "docs/web.md does not say `{said}`");
}

#[test]
fn ordinary_pages_lose_nothing_that_is_seen() {
    let harmless =
        [DropKind::Script, DropKind::Style, DropKind::Comment, DropKind::AriaHidden, DropKind::Svg];
    for (name, path) in pages("plain-") {
        let page = read(&std::fs::read(&path).unwrap(), Some("text/html"), Some(&base()));
        let other: Vec<_> = page.dropped.iter().filter(|it| !harmless.contains(&it.kind)).collect();
        assert!(other.is_empty() || name == "plain-broken", "{name}: {other:?}");
        assert!(!page.cut, "{name}");
    }
}

#[test]
fn the_kind_is_known_by_type_and_by_look() {
    for (bytes, content_type, kind) in [
        (&b"<p>a"[..], Some("text/html; charset=utf-8"), PageKind::Html),
        (b"<p>a", Some("TEXT/HTML"), PageKind::Html),
        (b"<p>a", Some("application/xhtml+xml"), PageKind::Html),
        (b"\xef\xbb\xbf  <!DOCTYPE html><p>a", None, PageKind::Html),
        (b"hello", None, PageKind::Text),
        (b"<p>a", Some("text/plain"), PageKind::Text),
        (b"{}", Some("application/json"), PageKind::Text),
        (b"{}", Some("application/problem+json"), PageKind::Text),
        (b"<a/>", Some("application/atom+xml"), PageKind::Text),
        (b"# a", Some("text/markdown"), PageKind::Text),
        (b"a\0b", Some("text/plain"), PageKind::Binary),
        (b"a\0b", Some("text/html"), PageKind::Binary),
        (b"abc", Some("application/octet-stream"), PageKind::Binary),
        (b"abc", Some("application/pdf"), PageKind::Binary),
        (b"%PDF-1.7 abc", Some("text/plain"), PageKind::Binary),
        (b"abc", Some("image/png"), PageKind::Binary),
        (b"abc", Some("video/mp4"), PageKind::Binary),
        (b"\xff\xfeh\0i\0", Some("text/plain"), PageKind::Text),
    ] {
        let page = read(bytes, content_type, None);
        assert_eq!(page.kind, kind, "{bytes:?} {content_type:?}");
        assert_eq!(page.text.is_empty(), kind == PageKind::Binary, "{bytes:?} {content_type:?}");
    }
}

#[test]
fn encodings_are_taken_from_mark_header_and_meta_in_this_order() {
    let meta = |label: &str, body: &[u8]| {
        let mut bytes = format!("<meta charset='{label}'><p>").into_bytes();
        bytes.extend_from_slice(body);
        bytes
    };
    for (bytes, content_type, text) in [
        (b"<p>\xe9".to_vec(), "text/html; charset=iso-8859-1", "é"),
        (b"<p>\xe9".to_vec(), "text/html; charset=\"windows-1251\"", "й"),
        (meta("windows-1251", b"\xe9"), "text/html", "й"),
        (meta("windows-1251", b"\xe9"), "text/html;charset=latin1", "é"),
        (meta("utf-16", "é".as_bytes()), "text/html", "é"),
        (meta("nonsense", "é".as_bytes()), "text/html", "é"),
        (b"\xef\xbb\xbf<p>\xc3\xa9".to_vec(), "text/html; charset=latin1", "é"),
        (b"\xff\xfe<\0p\0>\0\xe9\0".to_vec(), "text/html; charset=latin1", "é"),
        (b"<p>\x93\xfa\x96\x7b".to_vec(), "text/html; charset=Shift_JIS", "日本"),
        (b"<p>a\xff".to_vec(), "text/html", "a\u{fffd}"),
    ] {
        assert_eq!(read(&bytes, Some(content_type), None).text, text, "{content_type}");
    }
}

#[test]
fn links_are_absolute_and_lead_to_the_web() {
    let page = html(
        "<a href=a>x</a> <a href='/b?q=1#f'>y</a> <a href='HTTPS://O.example'>z</a> <a href=mailto:a@b.c>m</a>
         <a href='ftp://f.example/'>f</a> <a href=' JavaScript:x()'>j</a> <a href='http://[bad'>b</a> <a>n</a>",
    );
    assert_eq!(
        page.text,
        "[x](https://site.example/news/a) [y](https://site.example/b?q=1#f) [z](https://o.example/) \
         [m](mailto:a@b.c) f j b n"
    );
    let dropped = page.dropped.iter().find(|it| it.kind == DropKind::Link).unwrap();
    assert_eq!((dropped.count, dropped.samples.len()), (2, 2));
    let relative = read(b"<a href=a>x</a>", Some("text/html"), None);
    assert_eq!((relative.text.as_str(), relative.links.len()), ("x", 0));
    let rebased = html("<base href='javascript:x'><a href=a>x</a>");
    assert_eq!(rebased.text, "[x](https://site.example/news/a)");
}

#[test]
fn invisible_and_control_characters_go_and_are_counted() {
    let text = "a\u{200b}b\u{202e}c\u{1b}[31md\u{feff}";
    for content_type in ["text/html", "text/plain"] {
        let page = read(text.as_bytes(), Some(content_type), None);
        assert_eq!(page.text, "abc[31md");
        let dropped = page.dropped.first().unwrap();
        assert_eq!((dropped.kind, dropped.count), (DropKind::Invisible, 4));
        assert_eq!(dropped.samples, ["U+200B", "U+202E", "U+001B", "U+FEFF"]);
    }
}

#[test]
fn too_much_is_cut_and_said_so() {
    let long = "word ".repeat(TEXT_BYTES_MAX / 4);
    for content_type in ["text/html", "text/plain"] {
        let page = read(long.as_bytes(), Some(content_type), None);
        assert!(page.cut && page.text.len() <= TEXT_BYTES_MAX + 16, "{}", page.text.len());
    }
    let huge = vec![b' '; PAGE_BYTES_MAX + 1];
    assert!(read(&huge, Some("text/html"), None).cut);
    let links = html(&"<a href=x>y</a>".repeat(LINKS_MAX + 1));
    assert!(links.cut && links.links.len() == LINKS_MAX);
    let comments = html(&format!("<!-- {} -->", "x".repeat(9999)).repeat(20));
    let dropped = comments.dropped.first().unwrap();
    assert_eq!((dropped.count, dropped.samples.len()), (20, SAMPLES_MAX));
    assert!(dropped.samples.iter().all(|it| it.chars().count() == SAMPLE_CHARS_MAX));
}

#[test]
fn a_field_shows_only_what_fits_into_it() {
    for (field, shown) in [
        ("<input type=date value=2024-05-01>", "[2024-05-01]"),
        ("<input type=date value='obey me' placeholder=x>", ""),
        ("<input type=number value=-1.5e3>", "[-1.5e3]"),
        ("<input type=number value='obey me' placeholder=Age>", "[Age]"),
        ("<input type=password value='obey me'>", ""),
        ("<input value='a word' placeholder=x>", "[a word]"),
    ] {
        assert_eq!(html(field).text.trim(), shown, "{field}");
    }
}
