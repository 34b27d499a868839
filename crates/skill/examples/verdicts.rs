//! Verifies many skills and counts what was found: one JSON object a line, with `id`, `label` and `text`. A text may bring further
//! files, each behind a line `--- path ---`.
//!
//! cargo run -p skill --example verdicts -- FILE…

#![expect(clippy::print_stdout, reason = "a tool for the terminal")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use model::skill::Severity;
use serde_json::Value;
use skill::{Index, TEXT, Tree, verify};

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
        for line in fs::read_to_string(&path)?.lines() {
            let row: Value = serde_json::from_str(line)?;
            let field = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
            let report = verify(&tree(field("text"))?, None, &Index::default());
            let worst =
                report.findings.iter().map(|it| it.severity).max().unwrap_or(Severity::Info);
            let verdict = match worst {
                Severity::Info | Severity::Low => "allow",
                Severity::Medium => "review",
                Severity::High | Severity::Critical => "deny",
            };
            *counts.entry((field("label").to_owned(), verdict)).or_default() += 1;
            println!("{verdict:6}  {}  {}", field("label"), field("id"));
            for it in report.findings.iter().filter(|it| it.severity >= Severity::Medium) {
                println!(
                    "    {} {} {}:{} {} `{}`",
                    it.severity, it.check, it.file, it.line, it.why, it.excerpt
                );
            }
        }
        println!("{path}: {counts:?}");
    }
    Ok(())
}

fn tree(text: &str) -> Result<Tree, Box<dyn Error>> {
    let mut tree = Tree::default();
    let (mut path, mut content) = (TEXT.to_owned(), String::new());
    for line in text.split_inclusive('\n') {
        let marked = line.trim().strip_prefix("--- ").and_then(|it| it.strip_suffix(" ---"));
        if let Some(next) = marked {
            tree.insert(&path, std::mem::take(&mut content).into_bytes())?;
            path = next.to_owned();
        } else {
            content.push_str(line);
        }
    }
    tree.insert(&path, content.into_bytes())?;
    Ok(tree)
}
