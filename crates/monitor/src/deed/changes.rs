//! What an edit changes, file by file: texts that take the place of others, whole files, and patches, whose lines are
//! taken apart into what stood there and what comes.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::target::{FILE_PARAMS, is_path_of};

/// Lines of a patch that name the file they are for.
const NAMING: &[&str] =
    &["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];
/// The same below a line that begins the part of a file in a patch of git's.
const NAMING_OF_GIT: &[&str] = &["rename from ", "rename to ", "copy to "];
const GIT: &str = "diff --git ";
/// The one that takes a file away.
const DELETING: &str = "*** Delete File: ";

/// One file: what is known of what stood there, and what stands there afterwards.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) old: String,
    pub(super) new: String,
    /// It is there no more.
    pub(super) is_deleted: bool,
}

/// The files that a call writes. What says nothing of its file stands under an empty path.
pub(super) fn of(args: &Map<String, Value>) -> BTreeMap<String, Change> {
    let mut changes = Changes::default();
    changes.object(args, &[], Side::New);
    changes.0
}

/// Which side of a change a text stands on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Old,
    New,
    /// It stands there before and after.
    Both,
}

#[derive(Default)]
struct Changes(BTreeMap<String, Change>);

impl Changes {
    /// Fields of one object belong together: its texts are for the files that it names, or for those named around it.
    fn object(&mut self, fields: &Map<String, Value>, around: &[&str], side: Side) {
        let mut own: Vec<&str> = Vec::new();
        for (_, value) in fields.iter().filter(|it| is_path_of(it.0)) {
            lines(value, &mut own);
        }
        for path in &own {
            self.name(path);
        }
        let paths = if own.is_empty() { around } else { &own };
        for (key, value) in fields {
            let side = if key.starts_with("old") { Side::Old } else { side };
            self.value(key, value, paths, side);
        }
    }

    fn value(&mut self, key: &str, value: &Value, paths: &[&str], side: Side) {
        match value {
            // `file_text` is none that names a file.
            Value::String(text) if !FILE_PARAMS.contains(&key) && !key.contains("path") => {
                self.text(key, text, paths, side);
            }
            Value::Array(items) => {
                items.iter().for_each(|it| self.value(key, it, paths, side));
            }
            Value::Object(fields) => self.object(fields, paths, side),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, key: &str, text: &str, paths: &[&str], side: Side) {
        // What a file is said to hold is held by it, though it looks like a patch.
        let is_called_so = key.contains("patch") || key.contains("diff");
        let is_content = !paths.is_empty() && !is_called_so;
        let is_patch = side == Side::New && is_patch(text);
        if is_content || !is_patch {
            self.add(paths, text, side);
        }
        if is_patch {
            self.patch(text, if is_content { None } else { Some(paths) });
        }
    }

    /// Takes a patch apart. What stands in it before it names a file is for those `around` it.
    fn patch(&mut self, text: &str, around: Option<&[&str]>) {
        let mut file: Option<&str> = None;
        let (mut before, mut is_git) = ("", false);
        for line in text.lines() {
            is_git |= line.starts_with(GIT);
            let paths = if file.is_some() { Some(file.as_slice()) } else { around };
            if let Some(path) = named(line, before, is_git) {
                let change = self.name(path);
                change.is_deleted |= line.starts_with(DELETING);
                file = Some(path);
            } else if let (Some(paths), false) = (paths, line.starts_with("@@")) {
                let (side, rest) = side_of(line);
                self.add(paths, rest, side);
            }
            before = line;
        }
    }

    fn name(&mut self, path: &str) -> &mut Change {
        self.0.entry(path.to_owned()).or_default()
    }

    fn add(&mut self, paths: &[&str], text: &str, side: Side) {
        let unnamed = [""];
        for path in if paths.is_empty() { &unnamed } else { paths } {
            let change = self.0.entry((*path).to_owned()).or_default();
            for (is_there, all) in
                [(side != Side::New, &mut change.old), (side != Side::Old, &mut change.new)]
            {
                if is_there {
                    all.push_str(text);
                    all.push('\n');
                }
            }
        }
    }
}

fn is_patch(text: &str) -> bool {
    let mut lines = [""].into_iter().chain(text.lines()).zip(text.lines());
    lines.any(|(before, it)| it.starts_with("@@") || named(it, before, false).is_some())
}

/// The file that a line of a patch names. In a part of a file, what is added may look like the name of one.
fn named<'a>(line: &'a str, before: &'a str, is_git: bool) -> Option<&'a str> {
    let starts = |all: &[&str]| all.iter().find_map(|it| line.strip_prefix(it));
    if let Some(path) = starts(NAMING) {
        return Some(path.trim());
    }
    if let (Some(old), Some(new)) = (before.strip_prefix("--- "), line.strip_prefix("+++ ")) {
        // A time may stand behind a tab.
        let path = |it: &'a str| it.split('\t').next().unwrap_or_default().trim();
        let (old, new) = (path(old), path(new));
        return Some(match new {
            "/dev/null" => old.strip_prefix("a/").unwrap_or(old),
            new => new.strip_prefix("b/").unwrap_or(new),
        });
    }
    if let Some(both) = line.strip_prefix(GIT) {
        return both.rsplit_once(" b/").map(|it| it.1.trim());
    }
    starts(NAMING_OF_GIT).filter(|_| is_git).map(str::trim)
}

/// Where a line of a patch stands. One without a sign is taken for new: some programs let it be.
fn side_of(line: &str) -> (Side, &str) {
    let mut rest = line.chars();
    match rest.next() {
        Some('+') => (Side::New, rest.as_str()),
        Some('-') => (Side::Old, rest.as_str()),
        Some(' ') | None => (Side::Both, rest.as_str()),
        Some(_) => (Side::New, line),
    }
}

/// The texts of one line in a value: a path has no more.
fn lines<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) if !text.contains('\n') => found.push(text.trim()),
        Value::Array(items) => items.iter().for_each(|it| lines(it, found)),
        Value::String(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(args: &str) -> Vec<(String, String, String)> {
        let args: Map<String, Value> = serde_json::from_str(args).unwrap();
        of(&args).into_iter().map(|(path, it)| (path, it.old, it.new)).collect()
    }

    fn change(path: &str, old: &str, new: &str) -> (String, String, String) {
        (path.to_owned(), old.to_owned(), new.to_owned())
    }

    #[test]
    fn lines_of_a_patch_are_taken_apart_for_each_of_its_files() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n one\n-two\n+three\n*** Add File: b/c.rs\n+++ x\n";
        let args = serde_json::json!({ "input": patch }).to_string();
        let files = changed(&args);
        assert_eq!(files.get(1), Some(&change("a.rs", "one\ntwo\n", "one\nthree\n")));
        assert_eq!(files.get(2), Some(&change("b/c.rs", "", "++ x\n")));
        let patch = "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\t2026\n-1\n--- a/z\n+++ /dev/null\n-2\n";
        let args = serde_json::json!({ "patch": patch, "path": "." }).to_string();
        let paths: Vec<String> = changed(&args).into_iter().map(|it| it.0).collect();
        assert_eq!(paths, [".", "x", "y", "z"]);
    }

    #[test]
    fn texts_belong_to_the_file_beside_them() {
        let args = r#"{"file_path": "a", "edits": [{"old_string": "1", "new_string": "2"}, {"old_string": "3", "new_string": "4"}]}"#;
        assert_eq!(changed(args), [change("a", "1\n3\n", "2\n4\n")]);
        let args =
            r#"{"files": [{"path": "a", "content": "1"}, {"path": "b", "file_text": "2\n3"}]}"#;
        assert_eq!(changed(args), [change("a", "", "1\n"), change("b", "", "2\n3\n")]);
        let args = r#"{"path": "a", "diff": "@@ -1 +1 @@\n-1\n+2"}"#;
        assert_eq!(changed(args), [change("a", "1\n", "2\n")]);
    }

    #[test]
    fn what_a_file_holds_may_look_like_a_patch() {
        let args = r#"{"path": "a", "content": "verify\n--- a/b\n+++ b/b\n+1\n"}"#;
        let files = changed(args);
        assert_eq!(files.first(), Some(&change("a", "", "verify\n--- a/b\n+++ b/b\n+1\n\n")));
        assert_eq!(files.get(1), Some(&change("b", "", "1\n")));
    }
}
