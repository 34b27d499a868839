//! Lists of words and tables of rows that rules look up: data, in `tables.txt`.
//!
//! `[module.NAME]` begins a table. White space separates words; `\s` in a word stands for a space. A row is a line
//! `KEY KEY …: WORD WORD …`.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{LazyLock, OnceLock};

const TEXT: &str = include_str!("tables.txt");

/// The lines of each table, by its name.
static TABLES: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let mut tables: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut name = "";
    for line in TEXT.lines().filter(|it| !it.is_empty() && !it.starts_with("# ")) {
        match line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(begun) if begun.contains('.') => name = begun,
            Some(_) | None => tables.entry(name).or_default().push(line),
        }
    }
    tables
});

/// The lines of a table that has a form of its own.
pub(crate) fn lines(name: &str) -> impl Iterator<Item = &'static str> {
    TABLES.get(name).into_iter().flatten().copied()
}

/// The words of a line; one with a space in it is written once and kept.
fn words(line: &'static str) -> impl Iterator<Item = &'static str> {
    let spaced = |it: &'static str| -> &'static str {
        if it.contains("\\s") { it.replace("\\s", " ").leak() } else { it }
    };
    line.split_ascii_whitespace().map(spaced)
}

/// A list of words.
pub(crate) struct Words {
    name: &'static str,
    read: OnceLock<Vec<&'static str>>,
    sorted: OnceLock<Vec<&'static str>>,
}

impl Words {
    pub(crate) const fn named(name: &'static str) -> Self {
        Self { name, read: OnceLock::new(), sorted: OnceLock::new() }
    }

    /// Is it one of them? Found by halves: some lists are long.
    pub(crate) fn contains(&self, word: &&str) -> bool {
        let sorted = self.sorted.get_or_init(|| {
            let mut sorted = self.to_vec();
            sorted.sort_unstable();
            sorted
        });
        sorted.binary_search(word).is_ok()
    }
}

impl Deref for Words {
    type Target = [&'static str];

    fn deref(&self) -> &Self::Target {
        self.read.get_or_init(|| lines(self.name).flat_map(words).collect())
    }
}

/// The words of a row.
pub(crate) type Row = Vec<&'static str>;

/// Rows of words, each under a key that may have several.
pub(crate) struct Rows {
    name: &'static str,
    read: OnceLock<HashMap<&'static str, Vec<Row>>>,
}

impl Rows {
    pub(crate) const fn named(name: &'static str) -> Self {
        Self { name, read: OnceLock::new() }
    }

    /// The rows of a key, in their order.
    pub(crate) fn all(&'static self, key: &str) -> &'static [Row] {
        self.read().get(key).map(Vec::as_slice).unwrap_or_default()
    }

    fn read(&'static self) -> &'static HashMap<&'static str, Vec<Row>> {
        self.read.get_or_init(|| {
            let mut rows: HashMap<_, Vec<Row>> = HashMap::new();
            for (keys, row) in lines(self.name).filter_map(|it| it.split_once(':')) {
                for key in words(keys) {
                    rows.entry(key).or_default().push(words(row).collect());
                }
            }
            rows
        })
    }

    #[cfg(test)]
    pub(crate) fn keys(&'static self) -> impl Iterator<Item = &'static str> {
        self.read().keys().copied()
    }

    /// The first row of a key.
    pub(crate) fn get(&'static self, key: &str) -> Option<&'static [&'static str]> {
        self.all(key).first().map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn named_in(folder: &Path, signs: &[&str], found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                named_in(&path, signs, found);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for sign in signs {
                    let names = text.split(*sign).skip(1).filter_map(|it| it.split('"').next());
                    found.extend(names.map(str::to_owned));
                }
            }
        }
    }

    #[test]
    fn every_table_that_is_named_is_there_and_every_one_that_is_there_is_named() {
        let mut found = Vec::new();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        named_in(&source, &["::named(\"", "lines(\""], &mut found);
        for name in &found {
            assert!(TABLES.get(name.as_str()).is_some_and(|it| !it.is_empty()), "{name}");
        }
        for name in TABLES.keys() {
            assert!(found.iter().any(|it| it == name), "nobody names {name}");
        }
    }

    #[test]
    fn every_line_has_the_form_of_its_table() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let named = |sign: &str| {
            let mut found = Vec::new();
            named_in(&source, &[sign], &mut found);
            found
        };
        for name in named("Rows::named(\"") {
            for line in lines(&name) {
                let keys = line.split_once(':').map(|it| words(it.0).count());
                assert!(keys.is_some_and(|it| it > 0), "{name}: {line}");
            }
        }
        // A name of a table that is written wrongly would be words of the one before it.
        for name in named("Words::named(\"") {
            for word in lines(&name).flat_map(words) {
                let is_name = word.starts_with('[') && word.len() > 2;
                assert!(!is_name && !word.starts_with('#'), "{name}: {word}");
            }
        }
        assert!(!TABLES.contains_key(""), "a line before the first table");
    }
}
