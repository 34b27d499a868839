//! How fast pages are read, and what hostile ones cost.
//!
//! `cargo bench -p scan --bench page -- [FILE.html …]`: without files a news page of about 100 KB.

#![expect(clippy::unwrap_used, reason = "a bench for developers")]

use std::io::Write as _;
use std::time::{Duration, Instant};

use scan::boundary::{Boundary, Nonce, wrap};
use scan::page::{Page, read};

const NEWS: &str = include_str!("../../../corpus/pages/plain-news.html");

fn main() {
    let mut out = std::io::stdout().lock();
    let files: Vec<String> = std::env::args().skip(1).filter(|it| it != "--bench").collect();
    let mut pages: Vec<(String, Vec<u8>)> =
        files.iter().map(|it| (it.clone(), std::fs::read(it).unwrap())).collect();
    if pages.is_empty() {
        let (head, body) = NEWS.split_once("<body>").unwrap();
        let many = format!("{head}<body>{}", body.repeat(100_000 / body.len()));
        pages.push(("news, 100 KB".to_owned(), many.into_bytes()));
        let attributes: String = (0..400_000).map(|it| format!(" a{it}")).collect();
        for (name, text) in [
            ("hostile: nested", "<div>".repeat(1_000_000)),
            ("hostile: formatting", "<p><b id=1><b id=2><b id=3></p>".repeat(30_000)),
            ("hostile: attributes", format!("<div{attributes}>")),
            ("hostile: styles", "<style>.a.a{opacity:1}</style><p class=a>x</p>".repeat(20_000)),
            ("hostile: signs", "<".repeat(1_000_000)),
        ] {
            pages.push((name.to_owned(), text.into_bytes()));
        }
    }
    for (name, bytes) in pages {
        let (time, page) = fastest(&bytes);
        let speed = bytes.len() as f64 / 1e6 / time.as_secs_f64();
        let (kilobytes, text, cut) = (bytes.len() / 1000, page.text.len() / 1000, page.cut);
        writeln!(
            out,
            "{name:24} {kilobytes:6} KB {time:>12.3?} {speed:8.1} MB/s, text {text} KB, cut {cut}"
        )
        .unwrap();
    }
    let text = "The quick brown fox <b>jumps</b> over &lt;the&gt; lazy dog. ".repeat(1700);
    let started = Instant::now();
    let wrapped = wrap(Boundary::Fetched, "bench", &text, &Nonce::new([7; 16]));
    writeln!(out, "wrap: {} KB in {:?}", wrapped.len() / 1000, started.elapsed()).unwrap();
}

/// The best of a few runs: what the code takes, not what else the machine does.
fn fastest(bytes: &[u8]) -> (Duration, Page) {
    let once = |_| {
        let started = Instant::now();
        let page = read(std::hint::black_box(bytes), Some("text/html"), None);
        (started.elapsed(), page)
    };
    (0..5).map(once).min_by_key(|it| it.0).unwrap()
}
