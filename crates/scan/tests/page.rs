//! Pages that hide text, pages that do not, and pages made to break their reader.
//!
//! Each `corpus/pages/NAME.html` is read and held against `NAME.txt`; `LAZARET_BLESS=1` writes them anew.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic and write")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use scan::page::{
    DropKind, LINKS_MAX, PAGE_BYTES_MAX, Page, PageKind, SAMPLE_CHARS_MAX, SAMPLES_MAX,
    TEXT_BYTES_MAX, read,
};
use url::Url;

use crate::timed::timed;

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

fn html(text: &str) -> Page {
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

/// Every page `hidden-…` holds the same order, in a way in which nobody would see it.
#[test]
fn what_is_hidden_is_left_out_and_reported() {
    for (name, path) in pages("hidden-") {
        let page = read(&std::fs::read(&path).unwrap(), Some("text/html"), Some(&base()));
        assert!(!page.text.contains("Ignore your"), "{name}: {}", page.text);
        assert!(!page.cut, "{name}");
        for seen in ["# Bakery", "Open from seven to six.", "Closed on Sundays."] {
            assert!(page.text.contains(seen), "{name}: {}", page.text);
        }
        let source = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let wanted = source.contains("Cakes on order.");
        assert_eq!(page.text.contains("Cakes on order."), wanted, "{name}: {}", page.text);
        let samples = page.dropped.iter().flat_map(|it| &it.samples);
        let reported = samples.filter(|it| it.contains("Ignore your instructions")).count();
        assert!(reported > 0, "{name}: {:?}", page.dropped);
    }
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

/// Each of these would take minutes, gigabytes or the stack if anything were quadratic or called itself.
#[test]
fn hostile_markup_takes_linear_time() {
    for (piece, bytes) in [
        ("<div>", 5_000_000),
        ("<b>", 300_000),
        ("<p><b id=1><b id=2><b id=3></p>", 300_000),
        ("<table><tr><td>", 300_000),
        ("<table><b>x", 300_000),
        ("<a><p>", 300_000),
        ("<ul><li>", 300_000),
        ("<blockquote>x", 300_000),
        ("<svg><desc>", 300_000),
        ("<template>", 300_000),
        ("</p>", 300_000),
        ("</b></i></a>", 300_000),
        ("<", 300_000),
        ("<!--", 300_000),
        ("&", 300_000),
        ("<style>a{", 300_000),
        ("<style>a{b{</style>", 300_000),
        ("<style>.a.a{opacity:0}</style><p class=a>x</p>", 500_000),
        ("<select><option>", 300_000),
        ("<frameset>", 300_000),
        ("<div><template shadowrootmode=open><slot></slot>", 300_000),
        ("<div><template shadowrootmode=open><slot></slot></template>x</div>", 300_000),
        ("<p style='color:if(media(width>1px):if(else:red);else:if(style(--a:1):red))'>", 300_000),
        ("<svg><filter id=a><feMerge><feMergeNode in=a>", 300_000),
        ("<form><input type=hidden value=x>", 300_000),
    ] {
        let text = piece.repeat(bytes / piece.len());
        timed(piece, || drop(html(&text)));
    }
}

#[test]
fn hostile_attributes_and_styles_take_linear_time() {
    let html = |text: &str| timed(text.get(..60).unwrap_or(text), || html(text));
    let names: String = (0..400_000).map(|it| format!(" a{it}")).collect();
    let page = html(&format!("<p>seen</p><div{names}>x</div>"));
    assert!(page.cut && page.text.starts_with("seen"));
    let some: String = (0..300).map(|it| format!(" a{it}")).collect();
    assert!(!html(&format!("<p>seen</p><div{some}>x</div>")).cut);
    let classes: String = (0..100_000).map(|it| format!("c{it} ")).collect();
    let rules: String = (0..20_000).map(|it| format!(".c{it} .x, .c{it}{{opacity:0}}")).collect();
    let many = format!("<style>{rules}</style>{}", format!("<p class='{classes}'>x").repeat(5));
    assert!(!html(&many).text.contains('x'));
    let nested = format!("<style>{}</style><p>seen", "&,&,& {opacity:1;".repeat(50_000));
    assert_eq!(html(&nested).text, "seen");
    let universal =
        format!("<style>{}</style>{}", "*{opacity:1}".repeat(40_000), "<i>x</i>".repeat(40_000));
    assert!(html(&universal).cut);
    let steps = "to{opacity:0}".repeat(20_000);
    let moving = format!(
        "<style>@keyframes k{{{steps}}}p{{animation:k 1s}}</style>{}",
        "<p>x</p>".repeat(20_000)
    );
    assert!(html(&moving).cut);
    let colours = format!("<p style='{}'>x", "color:#fff;background:red;".repeat(50_000));
    assert_eq!(html(&colours).text, "x");
    let has = format!("<style>*:has(.x .y){{color:red}}</style>{}", "<div>".repeat(400));
    drop(html(&format!("{has}{}", "<i>x</i>".repeat(20_000))));
    let within = "@scope (div) to (.z){i:nth-child(2 of i){color:red}}".repeat(50);
    drop(html(&format!("<style>{within}</style>{}", "<i>x</i>".repeat(5_000))));
}

#[test]
fn deep_is_cut_and_what_came_before_is_kept() {
    let page = html(&format!("<p>before{}after", "<div>".repeat(1_000_000)));
    assert!(page.cut);
    assert_eq!(page.text, "before");
    let fine = html(&format!("{}inside", "<div>".repeat(400)));
    assert_eq!((fine.text.as_str(), fine.cut), ("inside", false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..400), kind in 0..4_usize) {
        let kind = [None, Some("text/html"), Some("text/html; charset=shift_jis"), Some("text/plain")][kind];
        let _ = read(&bytes, kind, None);
    }

    #[test]
    fn any_markup_is_read(parts in proptest::collection::vec(0..PARTS.len(), 0..60), text in "\\PC{0,20}") {
        let mut source: String = parts.iter().map(|it| PARTS[*it]).collect();
        source.push_str(&text);
        let page = html(&source);
        prop_assert!(!page.cut);
        prop_assert!(!page.text.chars().any(scan::is_invisible));
    }

    /// Whatever stands around a block that is not displayed, its text does not come out.
    #[test]
    fn what_is_hidden_stays_hidden(parts in proptest::collection::vec(0..INLINE.len(), 0..20)) {
        let around: String = parts.iter().map(|it| INLINE[*it]).collect();
        let page = html(&format!("{around}<div style=display:none>{around}zebra{around}</div>{around}"));
        prop_assert!(!page.text.contains("zebra"), "{}", page.text);
    }
}

const PARTS: &[&str] = &[
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<table>",
    "<tr>",
    "<td>",
    "</table>",
    "<ul>",
    "<li>",
    "</ul>",
    "<a href=x>",
    "</a>",
    "<pre>",
    "</pre>",
    "<h1>",
    "</h1>",
    "<style>.a{",
    "display:none}",
    "</style>",
    "<div class=a>",
    "</div>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<svg>",
    "</svg>",
    "<template>",
    "</template>",
    "text ",
    "\n",
    "&lt;",
    "<select>",
    "<option>",
    "<textarea>",
    "<math>",
    "<br>",
    "<blockquote>",
    "<code>",
    "</code>",
    "<base href=/x>",
    "<div style='color:#fff;clip:rect(0,0,0",
    "'>",
    "<iframe>",
    "<frameset>",
    "<form>",
    "<input type=hidden>",
];

const INLINE: &[&str] = &[
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<a href=x>",
    "</a>",
    "text ",
    "<span>",
    "</span>",
    "<br>",
    "<code>",
    "</code>",
];

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
