//! YAML of one meaning: no key twice, no anchors, aliases, merges or foreign tags, one document.

use serde::de::DeserializeOwned;
use serde_saphyr::Spanned;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

use super::FileError;

/// The longest file.
pub const FILE_BYTES_MAX: usize = 256 * 1024;
/// The deepest nesting.
const LEVELS_MAX: usize = 16;
/// The most values.
const VALUES_MAX: usize = 50_000;

/// Refuses texts that different readers take differently.
pub(super) fn check_text(text: &str) -> Result<(), FileError> {
    if text.len() > FILE_BYTES_MAX {
        let bytes = text.len();
        return Err(FileError::whole(format!("{bytes} bytes, at most {FILE_BYTES_MAX} are read")));
    }
    if text.starts_with('\u{feff}') {
        return Err(FileError::at(1, "begins with a byte order mark; save it as plain UTF-8"));
    }
    for (at, line) in text.split('\n').enumerate() {
        let foul = |it: char| {
            it.is_control() && it != '\t'
                || matches!(it, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{85}')
        };
        if line.ends_with('\r') {
            return Err(FileError::at(at + 1, "ends with a carriage return; use line feeds alone"));
        }
        if let Some(found) = line.chars().find(|it| foul(*it)) {
            let found = found.escape_debug();
            return Err(FileError::at(at + 1, format!("holds the control character `{found}`")));
        }
    }
    Ok(())
}

/// Reads `text`, which begins on line `first` of its file.
pub(super) fn read<T: DeserializeOwned>(text: &str, first: usize) -> Result<T, FileError> {
    check_text(text)?;
    if text.trim().is_empty() {
        return Err(FileError::at(first, "there is nothing in it"));
    }
    let marks = ["---", "...", "%"];
    if let Some(at) = text.lines().position(|line| marks.iter().any(|it| line.starts_with(it))) {
        return Err(FileError::at(first + at, "one document is read, without marks or directives"));
    }
    serde_saphyr::from_str_with_options(text, options()).map_err(|error| {
        let line = error.location().and_then(|it| usize::try_from(it.line()).ok());
        let line = line.filter(|it| *it > 0).map(|it| it + first - 1);
        FileError { line, what: plain(&error.to_string()) }
    })
}

/// The line of something that was read from a text which begins on line `first`.
pub(super) fn line<T>(at: &Spanned<T>, first: usize) -> usize {
    usize::try_from(at.referenced.line()).unwrap_or(1).max(1) + first - 1
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_anchors: 0,
            max_aliases: 0,
            max_depth: LEVELS_MAX,
            max_documents: 1,
            max_nodes: VALUES_MAX,
            max_merge_keys: 0,
            flow_nesting_limit: LEVELS_MAX,
        },
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
        // A number or a truth value where a text stands is a slip.
        no_schema: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// The parser's message in our words, without its picture of the place and without the place, which
/// is told by the line of the file.
fn plain(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let line = line.rsplit_once(" at line ").map_or(line, |(words, _)| words);
    let between = |before: &str, after: &str| {
        let name = line.strip_prefix(before)?.split(after).next()?;
        Some(name.chars().take(40).collect::<String>())
    };
    if let Some(key) = between("duplicate mapping key: ", ",") {
        return format!("`{key}` is there twice");
    }
    if let Some(number) = between("non-finite float `", "`") {
        return format!("`{number}` is no number that counts");
    }
    if let Some(text) = between("The string value [", "]") {
        return format!("`{text}` is a text here and must be in quotes");
    }
    match line {
        "expected sequence start" => "a list is wanted here".to_owned(),
        "externally tagged enum expected scalar or mapping" => "one word is wanted here".to_owned(),
        "YAML merge keys are not allowed by configured policy" => {
            "`<<` is not used here".to_owned()
        }
        it if it.contains("Anchors") || it.contains("Aliases") => {
            "anchors and aliases are not used here".to_owned()
        }
        it => it.to_owned(),
    }
}
