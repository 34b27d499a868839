//! Pages made to break their reader: they take linear time, are cut where they are too much, and nothing panics.

use proptest::prelude::*;
use scan::page::read;

use crate::page::html;
use crate::timed::{grows_linearly, timed};

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
        grows_linearly(piece, bytes / 2, html);
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
    drop(html(&moving));
    let brackets = format!("<p style='width:{}1px'>seen", "calc(".repeat(100_000));
    assert_eq!(html(&brackets).text, "seen");
    let colours = format!("<p style='{}'>x", "color:#fff;background:red;".repeat(50_000));
    assert_eq!(html(&colours).text, "x");
    let has = format!("<style>*:has(.x .y){{color:red}}</style>{}", "<div>".repeat(400));
    drop(html(&format!("{has}{}", "<i>x</i>".repeat(20_000))));
    let within = "@scope (div) to (.z){i:nth-child(2 of i){color:red}}".repeat(50);
    drop(html(&format!("<style>{within}</style>{}", "<i>x</i>".repeat(5_000))));
}

#[test]
fn hostile_selectors_take_linear_time() {
    let html = |text: &str| timed(text.get(..60).unwrap_or(text), || html(text));
    let deep = "<style>*:has(.x), * * *:not(* > * > .y){opacity:0}</style>";
    drop(html(&format!("{deep}{}{}", "<div>".repeat(900), "<i>x</i>".repeat(5_000))));
    let wide = format!("<style>:is({}){{opacity:0}}</style>", "b,".repeat(300_000));
    drop(html(&format!("{wide}{}", "<p>x</p>".repeat(50_000))));
    let nested = format!("<style>{}</style>", "& &,& & { opacity:1; @media all { ".repeat(10));
    drop(html(&format!("{nested}{}", "<p>x</p>".repeat(50_000))));
    let media = "(color) and ".repeat(100_000);
    let media = format!("<style>@media {media}(width > 1px) {{ p {{ opacity:0 }} }}</style>");
    assert!(!html(&format!("{media}<p>x</p>")).text.contains('x'));
    let within =
        "<style>:is(div, :is(p, * ~ i)):has(+ * > i:nth-last-child(2n)){opacity:0}</style>";
    drop(html(&format!("{within}{}", "<p><i>x</i></p>".repeat(20_000))));
    let long = format!("<style>{}p{{opacity:0}}</style>", "* ~ ".repeat(100_000));
    drop(html(&format!("{long}{}", "<p>x</p>".repeat(50_000))));
    let long = format!("<style>:is({}p){{opacity:0}}</style>", "* ~ ".repeat(100));
    drop(html(&format!("{long}{}", "<p>x</p>".repeat(50_000))));
    let deep =
        format!("<style>{}p{}{{opacity:0}}</style>", ":not(".repeat(50_000), ")".repeat(50_000));
    drop(html(&format!("{deep}<p>x</p>")));
    let rules: String = (0..100_000).map(|it| format!(".c{it}{{opacity:0}}")).collect();
    assert!(html(&format!("<style>{}</style><p class=c1>x</p>", rules.repeat(3))).cut);
    let empty = format!(
        "<style>{}</style><p>{}</p>",
        ":empty{opacity:0}".repeat(9000),
        "<!-- -->".repeat(9000)
    );
    drop(html(&empty));
    let chain: String = (0..500)
        .map(|it| format!("--v{it}:{};", format!("var(--v{})", it + 1).repeat(99)))
        .collect();
    drop(html(&format!(
        "<style>*{{{chain}display:var(--v0)}}</style>{}",
        "<p>x</p>".repeat(5_000)
    )));
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

    /// Whatever stands in a style sheet and in styles, nothing panics and the page is read to its end.
    #[test]
    fn any_style_is_read(parts in proptest::collection::vec(0..STYLES.len(), 0..80), text in "\\PC{0,12}") {
        let mut style: String = parts.iter().map(|it| STYLES[*it]).collect();
        style.push_str(&text);
        let inline = style.replace('"', "&quot;");
        let page = html(&format!("<style>{style}</style><div class=a><p id=b style=\"{inline}\">x</p></div>"));
        prop_assert!(!page.cut || parts.len() > 20, "{style}");
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

const STYLES: &[&str] = &[
    ".a",
    "#b",
    "*",
    "p",
    "div",
    " ",
    " > ",
    "+",
    "~",
    ",",
    ":not(",
    ":is(",
    ":has(",
    ":nth-child(2n+1 of .a)",
    ":hover",
    "::before",
    ":scope",
    "&",
    "[id]",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ":",
    "!important",
    "@media",
    "@supports",
    "@layer x",
    "@scope",
    "@keyframes k",
    "@import url(data:text/css,p{color:red})",
    "@container",
    "to",
    "not ",
    " and ",
    "(width > 1px)",
    "display",
    "visibility",
    "opacity",
    "font",
    "font-size",
    "color",
    "background",
    "clip-path",
    "clip",
    "transform",
    "filter",
    "width",
    "overflow",
    "position",
    "left",
    "text-shadow",
    "text-indent",
    "animation",
    "margin",
    "none",
    "hidden",
    "absolute",
    "0",
    "-9999px",
    "1e38px",
    "-1e38%",
    "50%",
    "calc(",
    "min(",
    "1px",
    "2em",
    " * ",
    " / ",
    " - ",
    "var(--a)",
    "var(--b,",
    "--a:",
    "--b:",
    "#fff",
    "white",
    "rgb(",
    "255 ",
    "hsl(from red h s 1%)",
    "oklch(",
    "color-mix(in srgb, red, red)",
    "linear-gradient(",
    "url(x)",
    "inset(",
    "circle(0 at 1px)",
    "polygon(0 0,1px 1px)",
    "translateX(",
    "scale(0)",
    "matrix(1,2,3,4,5,6)",
    "inherit",
    "unset",
    "/*",
    "*/",
    "\"",
    "\\",
    "<!--",
    "é",
    "k 1s both",
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
