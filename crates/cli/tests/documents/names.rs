//! Files, symbols and ids that documents name: they are there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use testkit::documents::page::{Page, pages, root};

/// Names that no source has, and why a document may say them all the same.
const ELSEWHERE: &[(&str, &str)] = &[
    ("RESOLVE_BENEATH", "the kernel's"),
    ("RESOLVE_NO_MAGICLINKS", "the kernel's"),
    ("docs/credentials.md", "an example of a path"),
    ("src/token.rs", "an example of a path"),
    ("fuzz/corpus", "made by a run"),
    ("fuzz/artifacts", "made by a run"),
    ("handed-on", "a session of an example"),
    ("said-yes", "a session of an example"),
    ("level-16", "a file with a number in its name"),
    ("level-56", "a file with a number in its name"),
    ("mcp__other__shell_exec", "an example of a tool"),
    ("stderrDroppedBytes", "put together of two words"),
    ("GITHUB_REFRESH", "an example of a key"),
    ("unicode-bidi", "of CSS"),
    ("de-8", "a form in which numbers are written"),
];

/// Where paths of the repository begin.
const FOLDERS: &[&str] =
    &["crates/", "corpus/", "docs/", "scripts/", "bench/", "fuzz/", "reference/"];

/// What the documents are compared with.
pub(super) static TREE: LazyLock<Tree> = LazyLock::new(Tree::read);

#[test]
fn every_name_in_a_document_is_there() {
    let tree = &*TREE;
    let mut wrong = Vec::new();
    // The changelog tells what was.
    for page in pages().iter().filter(|it| it.name != "CHANGELOG.md") {
        for (line, span) in page.spans() {
            let known = ELSEWHERE.iter().any(|(name, _)| *name == span);
            if !known && let Some(why) = tree.lacks(span, is_about_code(page)) {
                wrong.push(format!("{}:{line}: `{span}`: {why}", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_excused_that_is_there_or_that_nobody_names() {
    let tree = &*TREE;
    let all = pages();
    for (name, _) in ELSEWHERE {
        assert!(tree.lacks(name, true).is_some(), "{name} is there");
        let named = all.iter().any(|page| page.spans().iter().any(|(_, span)| span == name));
        assert!(named, "{name} is named by no document");
    }
}

#[test]
fn every_link_leads_somewhere() {
    let all = pages();
    let mut wrong = Vec::new();
    for page in &all {
        for (line, link) in page.links() {
            if link.contains("://") || link == "address" {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(&page.name).parent().unwrap();
            let to = if path.is_empty() { page.name.clone() } else { beside(folder, path) };
            let is_there = root().join(&to).exists();
            let page_there = all.iter().find(|it| it.name == to);
            let has_anchor = anchor.is_empty()
                || page_there.is_some_and(|it| it.anchors().iter().any(|it| it == anchor));
            if !is_there || !has_anchor {
                wrong.push(format!("{}:{line}: {link} leads nowhere", page.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `path` from `folder`, without `..`.
fn beside(folder: &Path, path: &str) -> String {
    let mut parts: Vec<&str> = folder.iter().filter_map(|it| it.to_str()).collect();
    for part in path.split('/').filter(|it| !it.is_empty() && *it != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.join("/")
}

/// Pages whose readers have the sources open: there a capitalised word in backticks is a type.
fn is_about_code(page: &Page) -> bool {
    let pages = ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/decisions.md", "docs/journal.md"];
    pages.contains(&page.name.as_str())
}

/// What there is: paths, and words of the sources.
pub(super) struct Tree {
    paths: BTreeSet<String>,
    /// Identifiers.
    words: BTreeSet<String>,
    /// Words with hyphens: rules, codes, commands.
    hyphened: BTreeSet<String>,
}

impl Tree {
    fn read() -> Self {
        let mut tree =
            Self { paths: BTreeSet::new(), words: BTreeSet::new(), hyphened: BTreeSet::new() };
        tree.walk(&root(), "");
        tree
    }

    fn walk(&mut self, folder: &Path, name: &str) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let own = path.file_name().unwrap().to_string_lossy().into_owned();
            let built = ["target", "corpus", "artifacts"].contains(&own.as_str());
            let skipped =
                own == ".git" || name.is_empty() && own == "target" || name == "fuzz" && built;
            if skipped {
                continue;
            }
            let whole = if name.is_empty() { own } else { format!("{name}/{own}") };
            if path.is_dir() {
                self.walk(&path, &whole);
            } else if is_source(&whole) {
                self.take(&fs::read_to_string(&path).unwrap_or_default());
            }
            self.paths.insert(whole);
        }
    }

    fn take(&mut self, text: &str) {
        let is_word = |it: char| it.is_ascii_alphanumeric() || it == '_';
        for word in text.split(|it: char| !is_word(it)).filter(|it| !it.is_empty()) {
            self.words.insert(word.to_owned());
        }
        for word in text.split(|it: char| !(is_word(it) || it == '-')) {
            let word = word.trim_matches('-');
            if word.contains('-') {
                self.hyphened.insert(word.to_owned());
            }
        }
    }

    /// Does a source have the option `--so-and-so`, as clap and scripts write one?
    pub(super) fn has_option(&self, option: &str) -> bool {
        let name = option.trim_start_matches('-');
        self.words.contains(&name.replace('-', "_")) || self.hyphened.contains(name)
    }

    /// Why `span` is not there; none if it is, or if it is no name of ours.
    fn lacks(&self, span: &str, about_code: bool) -> Option<&'static str> {
        let first = span.split('/').next().unwrap_or_default();
        let of_crate = span.contains('/') && self.paths.contains(&format!("crates/{first}"));
        let plain = !span.contains(|it: char| it.is_whitespace() || "<>…*{}$~".contains(it));
        if !plain {
            return None;
        }
        if FOLDERS.iter().any(|it| span.starts_with(it)) || of_crate {
            let path = span.trim_end_matches('/');
            let found = self.paths.contains(path) || self.paths.contains(&format!("crates/{path}"));
            return (!found).then_some("there is no such file or folder");
        }
        if span.ends_with(".rs") {
            let end = format!("/{span}");
            return (!self.paths.iter().any(|it| it.ends_with(&end))).then_some("no file ends so");
        }
        let is_name = |it: &str| {
            it.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
                && it.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
        };
        if span.split("::").all(is_name) {
            let telling = span.contains("::")
                || span.contains('_')
                || has_hump(span)
                || about_code && span.starts_with(|it: char| it.is_ascii_uppercase());
            let found = span.split("::").all(|it| self.words.contains(it));
            return (telling && !found).then_some("no source has this name");
        }
        let is_id = span.contains('-')
            && span.split('-').all(|it| {
                !it.is_empty()
                    && it.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
            });
        (is_id && !self.hyphened.contains(span)).then_some("no source has this id")
    }
}

/// A small letter and then a capital one.
fn has_hump(name: &str) -> bool {
    let pairs = name.chars().zip(name.chars().skip(1));
    pairs.into_iter().any(|(a, b)| a.is_ascii_lowercase() && b.is_ascii_uppercase())
}

/// What is read for names: programs, rules, scripts; not documents, cases, or this list of what is not there.
fn is_source(path: &str) -> bool {
    let code = ["crates/", "fuzz/", "scripts/", "bench/", "reference/"];
    let settings = ["Cargo.toml", "clippy.toml", "deny.toml"];
    let page = path.ends_with(".md") || path.contains("/suites/") || path.contains("documents/");
    (code.iter().any(|it| path.starts_with(it)) && !page) || settings.contains(&path)
}
