//! What a rebase that is under way runs when somebody goes on with it: git keeps its steps in a file, and one of the steps
//! that there may be is a command.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::git;
use super::leads::text;
use super::nested::Nested;

/// Where the steps are, seen from the directory of a repository.
const DIRECTORY: &str = "rebase-merge";
const STEPS: &str = "git-rebase-todo";

/// Steps that run nothing of their own. What is not known may.
const PLAIN: &[&[u8]] = &[
    b"b",
    b"break",
    b"d",
    b"drop",
    b"e",
    b"edit",
    b"f",
    b"fixup",
    b"l",
    b"label",
    b"m",
    b"merge",
    b"noop",
    b"p",
    b"pick",
    b"r",
    b"reset",
    b"revert",
    b"reword",
    b"s",
    b"squash",
    b"t",
    b"u",
    b"update-ref",
];

/// Every step of these repositories that runs something.
pub(crate) fn running(
    nested: &Nested,
    made: &[PathBuf],
    bare: &[PathBuf],
) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let roots = nested.roots().chain(made).flat_map(|it| git::directories(it));
    let all: BTreeSet<PathBuf> = roots.chain(nested.bare.iter().chain(bare).cloned()).collect();
    all.iter().flat_map(|it| of_repository(it)).collect()
}

fn of_repository(repository: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let dir = repository.join(DIRECTORY);
    let steps = dir.join(STEPS);
    let all_of = |at: PathBuf| vec![(at, Vec::new())];
    // Git makes no link here, and what one leads to may be changed later.
    if dir.is_symlink() {
        return all_of(dir);
    }
    if steps.is_symlink() {
        return all_of(steps);
    }
    match text(&steps) {
        Ok(Some(text)) => {
            let running = text.split(|it| *it == b'\n').filter(|it| runs(it));
            running.map(|it| (steps.clone(), it.to_vec())).collect()
        }
        Ok(None) => Vec::new(),
        Err(_) => all_of(steps),
    }
}

fn runs(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    !word.is_empty() && !word.starts_with(b"#") && !PLAIN.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_other_steps() {
        for line in ["exec make", "x make", "\tx make", "exec\tmake", "X", "sh x", "execute"] {
            assert!(runs(line.as_bytes()), "{line}");
        }
        for line in ["", "  ", "# exec make", "pick 1234 exec make", "p 1", "label onto", "noop\r"]
        {
            assert!(!runs(line.as_bytes()), "{line}");
        }
    }
}
