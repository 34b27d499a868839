//! Skills as they stand in the corpus.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test helpers; `allow-unwrap-in-tests` covers only `#[test]` functions"
)]

use std::fs;
use std::path::Path;

use model::skill::Severity;
use serde_json::Value;
use skill::{Index, Report, Tree, verify};

/// The lines of a file of the corpus.
pub(crate) fn rows(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/skills").join(name);
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let mut tree = Tree::default();
    for (path, text) in files {
        tree.insert(path, text.as_bytes().to_vec()).unwrap();
    }
    tree
}

/// A package of the vectors: `name`, `skill_md`, `files`, `manifest`, `existing`, `popular`.
pub(crate) fn package(value: &Value) -> Report {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let list = |key: &str| -> Vec<String> {
        let items = value.get(key).and_then(Value::as_array);
        items.into_iter().flatten().map(|it| it.as_str().unwrap().to_owned()).collect()
    };
    let mut files = tree(&[("SKILL.md", text("skill_md").unwrap_or("# A skill\n"))]);
    for (path, content) in value.get("files").and_then(Value::as_object).into_iter().flatten() {
        files.insert(path, content.as_str().unwrap().as_bytes().to_vec()).unwrap();
    }
    if let Some(manifest) = text("manifest") {
        files.insert("claw.json", manifest.as_bytes().to_vec()).unwrap();
    }
    verify(&files, text("name"), &Index { installed: list("existing"), known: list("popular") })
}

/// How bad the worst finding is, by what `policy` makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Allow,
    Review,
    Deny,
}

impl Verdict {
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "allow" => Self::Allow,
            "review" => Self::Review,
            "deny" => Self::Deny,
            other => panic!("{other}"),
        }
    }
}

pub(crate) fn verdict(report: &Report) -> Verdict {
    match report.findings.iter().map(|it| it.severity).max() {
        None | Some(Severity::Info | Severity::Low) => Verdict::Allow,
        Some(Severity::Medium) => Verdict::Review,
        Some(Severity::High | Severity::Critical) => Verdict::Deny,
    }
}

/// What was found, on a line each.
pub(crate) fn told(report: &Report) -> String {
    let line = |it: &skill::Finding| {
        format!(
            "  {} {} {}:{} {} `{}`",
            it.severity, it.check, it.file, it.line, it.why, it.excerpt
        )
    };
    report.findings.iter().map(line).collect::<Vec<_>>().join("\n")
}
