//! Documents say what is so: files, symbols, commands and options that they name are there, and what they show can be done.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

mod names;

use std::sync::LazyLock;
use std::thread;

use testkit::documents::examples;
use testkit::documents::help::{self, Known};
use testkit::documents::page::pages;

use crate::program::LAZARET;

/// The most that the documents which everybody reads may have, in bytes.
const BYTES_MAX: &[(&str, usize)] =
    &[("README.md", 8_000), ("ARCHITECTURE.md", 25_000), ("SECURITY.md", 25_000)];

#[test]
fn every_example_does_what_it_shows() {
    let all = pages();
    // Pages know nothing of each other; most of the time is spent waiting for the disk.
    let found: Vec<(usize, Vec<String>)> = thread::scope(|scope| {
        let one = |page| scope.spawn(move || examples::run(page, "lazaret", LAZARET));
        let running: Vec<_> = all.iter().map(one).collect();
        running.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let ran: usize = found.iter().map(|it| it.0).sum();
    let wrong: Vec<String> = found.into_iter().flat_map(|it| it.1).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(ran >= 40, "only {ran} examples were run");
}

/// Every command says what it knows: that takes a while, and several tests compare with it.
static KNOWN: LazyLock<Known> = LazyLock::new(|| Known::ask(LAZARET));

#[test]
fn every_command_and_option_in_a_document_is_there() {
    let (known, tree) = (&*KNOWN, &*names::TREE);
    let mut wrong = Vec::new();
    for page in pages().iter().filter(|it| it.name != "CHANGELOG.md") {
        let mut lines: Vec<(usize, String)> =
            page.spans().into_iter().map(|(line, text)| (line, text.to_owned())).collect();
        for block in page.blocks() {
            let numbered = block.lines.into_iter().enumerate();
            lines.extend(numbered.map(|(at, text)| (block.line + at + 1, text)));
        }
        for (line, text) in lines {
            let why = match (help::words_behind("lazaret", &text), bare_option(&text)) {
                (Some(words), _) => known.wrong(&words),
                (None, Some(option)) if known.has_option(option) || tree.has_option(option) => None,
                (None, Some(option)) => Some(format!("nobody has an option `{option}`")),
                (None, None) => None,
            };
            wrong.extend(why.map(|why| format!("{}:{line}: {text}: {why}", page.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_example_in_a_help_text_has_commands_and_options_that_are_there() {
    let known = &*KNOWN;
    let mut seen = 0;
    for line in known.examples() {
        // What is said about it stands behind some blanks.
        let line = line.split("   ").next().unwrap_or_default();
        let Some(words) = help::words_behind("lazaret", line) else { continue };
        assert_eq!(known.wrong(&words), None, "{line}");
        seen += 1;
    }
    assert!(seen >= 10, "{seen}");
}

/// The option, where a text is one alone or with its value.
fn bare_option(text: &str) -> Option<&str> {
    let word = text.split([' ', '=']).next().unwrap_or_default();
    let name = word.strip_prefix("--").filter(|it| !it.is_empty())?;
    let is_name = name.chars().all(|it| it.is_ascii_lowercase() || it == '-');
    (is_name && !name.starts_with('-')).then_some(word)
}

#[test]
fn what_everybody_reads_is_short() {
    for page in pages() {
        for (name, max) in BYTES_MAX.iter().filter(|(name, _)| *name == page.name) {
            assert!(page.text.len() <= *max, "{name}: {} bytes, at most {max}", page.text.len());
        }
    }
}
