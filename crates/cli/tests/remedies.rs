//! What would help, as it is said to agents and people, names no tool: whoever hears it may have others.

#![expect(
    clippy::unwrap_used,
    reason = "test helpers; clippy's exceptions cover only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use model::ipc::ActionName;
use policy::PackText;

/// All texts in quotes that stand behind `mark`.
fn behind<'a>(mark: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(mark).skip(1).filter_map(|it| it.split('"').nth(1))
}

/// The sources of a folder, with those below it.
fn sources(dir: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            sources(&entry.path(), found);
        } else if entry.path().extension().is_some_and(|it| it == "rs") {
            found.push(fs::read_to_string(entry.path()).unwrap());
        }
    }
}

#[test]
fn no_remedy_names_a_tool() {
    let mut texts = Vec::new();
    for pack in PackText::embedded() {
        texts.extend(behind("@remedy(", &pack.text).map(str::to_owned));
    }
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../monitor/src"), &mut found);
    for source in &found {
        for mark in ["with_remedy(", "let remedy = "] {
            texts.extend(behind(mark, source).map(str::to_owned));
        }
    }
    assert!(texts.len() > 30, "{}", texts.len());
    for text in &texts {
        let names = ActionName::ALL.iter().map(|it| it.as_str());
        let named = names.into_iter().find(|name| text.contains(&format!("`{name}`")));
        assert!(named.is_none(), "{text}");
    }
}
