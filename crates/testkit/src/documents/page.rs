//! A document: its lines outside of fences, its code spans, its fenced blocks.

use std::fs;
use std::path::{Path, PathBuf};

/// One document of the repository.
pub struct Page {
    /// Its path from the root.
    pub name: String,
    /// All of it.
    pub text: String,
}

/// What stands between two fences.
pub struct Block {
    /// The line of the opening fence, from 1 on.
    pub line: usize,
    /// What stands behind the opening fence: `console`, `console no-run reason="…"`, `json`.
    pub info: String,
    /// What stands between the fences.
    pub lines: Vec<String>,
}

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// Every document: at the top, in `docs`, and those of crates, benchmarks and references.
#[must_use]
pub fn pages() -> Vec<Page> {
    let mut paths = Vec::new();
    for folder in ["", "docs", "reference"] {
        for entry in fs::read_dir(root().join(folder)).unwrap() {
            paths.push(entry.unwrap().path());
        }
    }
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        paths.push(entry.unwrap().path().join("README.md"));
    }
    paths.retain(|it| it.extension().is_some_and(|it| it == "md") && it.is_file());
    paths.sort();
    paths.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> Page {
    let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    Page { name, text: fs::read_to_string(path).unwrap() }
}

impl Page {
    /// What is fenced, from top to bottom.
    #[must_use]
    pub fn blocks(&self) -> Vec<Block> {
        let mut found = Vec::new();
        let mut open: Option<Block> = None;
        for (at, line) in self.text.lines().enumerate() {
            match (line.trim_start().strip_prefix("```"), &mut open) {
                (Some(info), None) => {
                    let info = info.trim().to_owned();
                    open = Some(Block { line: at + 1, info, lines: Vec::new() });
                }
                (Some(_), Some(_)) => found.extend(open.take()),
                (None, Some(block)) => block.lines.push(line.to_owned()),
                (None, None) => {}
            }
        }
        assert!(open.is_none(), "{}: a fence is not closed", self.name);
        found
    }

    /// Lines outside of fences with their numbers.
    #[must_use]
    pub fn prose(&self) -> Vec<(usize, &str)> {
        let mut is_inside = false;
        let mut found = Vec::new();
        for (at, line) in self.text.lines().enumerate() {
            if line.trim_start().starts_with("```") {
                is_inside = !is_inside;
            } else if !is_inside {
                found.push((at + 1, line));
            }
        }
        found
    }

    /// What stands between backticks in prose, each with its line.
    #[must_use]
    pub fn spans(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        for (at, line) in self.prose() {
            found.extend(line.split('`').skip(1).step_by(2).map(|it| (at, it)));
        }
        found
    }

    /// Where its links lead, each with its line.
    #[must_use]
    pub fn links(&self) -> Vec<(usize, &str)> {
        let mut found = Vec::new();
        for (at, line) in self.prose() {
            let ends = line.split("](").skip(1).filter_map(|it| it.split_once(')'));
            found.extend(ends.map(|(link, _)| (at, link)));
        }
        found
    }

    /// Its headings as hosts of repositories make anchors of them.
    #[must_use]
    pub fn anchors(&self) -> Vec<String> {
        let headings = self.prose().into_iter().filter(|(_, line)| line.starts_with('#'));
        headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
    }
}

fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
