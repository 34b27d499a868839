//! What an edit takes out of a file that build servers, hooks or tools obey: a step, a rule, a check. Lines that are moved or
//! replaced are not taken out; a line that becomes a comment is.

use std::collections::BTreeMap;

use super::changes::Change;
use super::{Deed, Kind, Obeyed};
use crate::target::kind_of_obeyed;

/// Signs with which a line begins that says nothing to a program.
const COMMENTS: &[&str] = &["#", "//", ";", "<!--"];

/// The deed of taking more lines out of an obeyed file than come in their place.
pub(super) fn of(path: &str, change: &Change) -> Option<Deed> {
    if !holds_checks(path) {
        return None;
    }
    let what = match lost(&change.old, &change.new) {
        _ if change.is_deleted => format!("deleting `{path}`"),
        0 => return None,
        1 => format!("a line taken out of `{path}`"),
        count => format!("{count} lines taken out of `{path}`"),
    };
    Some(deed(what))
}

/// The deed of deleting a file that says what build servers do.
pub(super) fn of_deleted(path: &str) -> Option<Deed> {
    let is_build = kind_of_obeyed(path) == Some(Obeyed::Ci);
    is_build.then(|| deed(format!("deleting `{path}`")))
}

/// To name a file is not to ask for less in it: the deed has no object that the user could have named.
fn deed(what: String) -> Deed {
    Deed { kind: Kind::Removal, what, object: String::new() }
}

/// Endings of files that people and agents read, and no program does.
const PROSE: &[&str] = &[".md", ".mdc", ".mdx", ".txt"];

/// Is the file one in which checks stand? What a shell or an agent is told to do are none.
fn holds_checks(path: &str) -> bool {
    let name = path.to_lowercase();
    if PROSE.iter().any(|it| name.ends_with(it)) {
        return false;
    }
    match kind_of_obeyed(path) {
        Some(Obeyed::Ci | Obeyed::Hook | Obeyed::Settings) => true,
        Some(Obeyed::Startup | Obeyed::Instructions) | None => false,
    }
}

/// How many lines there are fewer, of those that say something.
fn lost(old: &str, new: &str) -> usize {
    let (before, after) = (lines(old), lines(new));
    let missing = |from: &BTreeMap<&str, usize>, to: &BTreeMap<&str, usize>| -> usize {
        let left = |(line, count): (&&str, &usize)| {
            count.saturating_sub(to.get(*line).copied().unwrap_or_default())
        };
        from.iter().map(left).sum()
    };
    missing(&before, &after).saturating_sub(missing(&after, &before))
}

fn lines(text: &str) -> BTreeMap<&str, usize> {
    let mut found = BTreeMap::new();
    for line in text.lines().map(|it| it.trim().trim_end_matches(',')) {
        let is_comment = COMMENTS.iter().any(|it| line.starts_with(it));
        if line.contains(char::is_alphanumeric) && !is_comment {
            let count: &mut usize = found.entry(line).or_default();
            *count = count.saturating_add(1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const CI: &str = ".github/workflows/ci.yml";

    fn is_removal(path: &str, old: &str, new: &str) -> bool {
        let change = Change { old: old.to_owned(), new: new.to_owned(), is_deleted: false };
        of(path, &change).is_some()
    }

    #[test]
    fn a_step_that_is_gone_or_only_a_comment_is_taken_out() {
        let steps = "- run: cargo build\n- run: cargo test\n";
        assert!(is_removal(CI, steps, "- run: cargo build\n"));
        assert!(is_removal(CI, steps, "- run: cargo build\n# - run: cargo test\n"));
        assert!(is_removal(".pre-commit-config.yaml", "- id: secrets\n", "\n"));
        assert!(is_removal(".github/codeowners", "/auth @security\n", ""));
    }

    #[test]
    fn what_is_moved_replaced_or_added_is_not() {
        let steps = "- run: cargo build\n- run: cargo test\n";
        assert!(!is_removal(CI, steps, "- run: cargo test\n- run: cargo build\n"));
        assert!(!is_removal(CI, "node: 16\n", "node: 18\n"));
        assert!(!is_removal(CI, "# old\n}\n", ""));
        assert!(!is_removal(CI, "", steps));
        assert!(!is_removal("src/main.rs", "check();\n", ""));
        assert!(!is_removal("CLAUDE.md", "Be careful.\n", ""));
        assert!(!is_removal(".claude/skills/commit/SKILL.md", "Be careful.\n", ""));
    }

    #[test]
    fn a_deleted_file_takes_all_of_its_checks_with_it() {
        let change = Change { is_deleted: true, ..Change::default() };
        assert!(of(CI, &change).is_some() && of("src/main.rs", &change).is_none());
        assert!(of_deleted(CI).is_some() && of_deleted(".git/index.lock").is_none());
    }
}
