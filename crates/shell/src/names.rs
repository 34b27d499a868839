//! Names of commands: where they lie, what looks like them, which of them are shells.

use unicode_normalization::UnicodeNormalization as _;

use crate::{Words, marks};

/// Builtins whose arguments are assignments that stay.
pub(super) const DECLARING: [&str; 5] = ["declare", "typeset", "export", "readonly", "local"];

pub(super) static SHELLS: Words = Words::named("names.SHELLS");

/// Programs that take code as an argument or on stdin.
static INTERPRETERS: Words = Words::named("names.INTERPRETERS");

/// Programs that run recipes.
pub(super) static MAKES: Words = Words::named("names.MAKES");

/// Names that a pattern in place of a command can stand for: those that matter.
static PATTERNED: Words = Words::named("names.PATTERNED");

/// The last part of a path, in lower case, without what Windows adds.
pub(super) fn base(path: &str) -> String {
    let last = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    last.strip_suffix(".exe").unwrap_or(&last).to_owned()
}

/// `bash-5.2` and `bash-static` are `bash`.
pub(super) fn is_shell(name: &str) -> bool {
    let name = name.strip_suffix("-static").unwrap_or(name);
    let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || ".-".contains(it));
    SHELLS.contains(&bare)
}

/// Is it the name of a command that matters?
pub(super) fn matters(name: &str) -> bool {
    PATTERNED.contains(&base(name).as_str())
}

/// `python3.11` is `python`.
pub(super) fn interpreter(name: &str) -> Option<&'static str> {
    let bare = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    INTERPRETERS.iter().find(|it| **it == bare).copied()
}

/// The command that a pattern stands for, if it can be one that matters.
pub(super) fn matching(pattern: &str) -> Option<String> {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    let found = PATTERNED.iter().find(|it| marks::matches(last, it))?;
    Some((*found).to_owned())
}

/// The name in plain letters, if it has others that only look like them.
pub(super) fn skeleton(name: &str) -> Option<String> {
    if name.is_ascii() {
        return None;
    }
    let folded: String = name
        .nfkd()
        .filter(|it| !scan::is_invisible(*it))
        .map(|it| scan::look_alike(it.to_lowercase().next().unwrap_or(it)))
        .collect();
    folded.is_ascii().then_some(folded)
}
