//! Words for acts, things and hints, as tables in `words/`. No tool, product or task is named there.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use super::acts::{object, verb};

const VERBS: &str = include_str!("words/verbs.txt");
const OBJECTS: &str = include_str!("words/objects.txt");
const TOOL_VERBS: &str = include_str!("words/tool_verbs.txt");
const LISTS: &str = include_str!("words/lists.txt");

/// A verb that a person uses: which acts of tools it asks for, and which objects go without saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verb {
    pub(super) word: &'static str,
    pub(super) acts: u32,
    pub(super) implies: u32,
    /// `email`, `book`: a verb only where a verb can stand.
    pub(super) ambiguous: bool,
}

/// The verb that is exactly `word`.
pub(super) fn verb(word: &str) -> Option<&'static Verb> {
    static ALL: LazyLock<Table<&str, Verb>> =
        LazyLock::new(|| lines(VERBS).filter_map(read_verb).map(|it| (it.word, it)).collect());
    ALL.get(word)
}

/// The kinds of things that `word` stands for.
pub(super) fn objects(word: &str) -> Option<u32> {
    static ALL: LazyLock<Table<&str, u32>> = LazyLock::new(|| turned(OBJECTS, object::named));
    ALL.get(word).copied()
}

/// What a verb in the name of a tool does.
pub(super) fn tool_verb(word: &str) -> Option<u32> {
    static ALL: LazyLock<Table<&str, u32>> = LazyLock::new(|| turned(TOOL_VERBS, verb::named));
    ALL.get(word).copied()
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'))
}

fn read_verb(line: &'static str) -> Option<Verb> {
    let mut parts = line.split(':');
    let word = parts.next()?.trim();
    let acts =
        parts.next()?.split_whitespace().try_fold(0, |all, it| Some(all | verb::named(it)?))?;
    let mut implies = parts.next().unwrap_or_default().split_whitespace();
    let implies = implies.try_fold(0, |all, it| Some(all | object::named(it)?))?;
    let bare = word.trim_end_matches('~');
    Some(Verb { word: bare, acts, implies, ambiguous: bare != word })
}

/// A table `kinds: words`, whose entries may run over several lines, by word.
fn turned(table: &'static str, kind: fn(&str) -> Option<u32>) -> Table<&'static str, u32> {
    let mut all = Table::default();
    let mut kinds = 0;
    for line in lines(table) {
        let words = match line.split_once(':') {
            Some((names, words)) => {
                kinds = names.split_whitespace().filter_map(kind).fold(0, |all, it| all | it);
                words
            }
            None => line,
        };
        words.split_whitespace().for_each(|it| *all.entry(it).or_default() |= kinds);
    }
    all
}

/// A table that only this program fills. Nobody can make its words collide, so a cheap hash will do.
type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Multiplies and mixes, eight bytes at a time.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        let (whole, rest) = bytes.as_chunks::<8>();
        whole.iter().for_each(|it| self.write_u64(u64::from_le_bytes(*it)));
        if !rest.is_empty() {
            self.write_u64(rest.iter().fold(0, |all, it| all << 8 | u64::from(*it)));
        }
    }

    /// The end of a text: the tables need no sign of it.
    fn write_u8(&mut self, _: u8) {}

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A list of words.
pub(super) struct List {
    words: LazyLock<HashSet<String, BuildHasherDefault<Mix>>>,
}

/// The phrases by which one asks for something, by the letters that they begin with.
pub(super) fn requests(beginning: &str) -> &'static [&'static str] {
    static ALL: LazyLock<Table<&str, Vec<&str>>> = LazyLock::new(|| {
        let mut all = Table::<&str, Vec<&str>>::default();
        for phrase in REQUESTS.iter() {
            let first = phrase.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
            all.entry(first).or_default().push(phrase);
        }
        all
    });
    ALL.get(beginning).map(Vec::as_slice).unwrap_or_default()
}

impl List {
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str)
    }
}

fn read_list(name: &str) -> HashSet<String, BuildHasherDefault<Mix>> {
    let mut inside = false;
    let mut words = HashSet::default();
    for line in lines(LISTS) {
        if let Some(head) = line.strip_prefix('[') {
            inside = head.split(']').next() == Some(name);
        } else if inside {
            words.extend(line.split_whitespace().map(|it| it.replace('_', " ")));
        }
    }
    words
}

macro_rules! lists {
    ($($name:ident)+) => {
        $(pub(super) static $name: List =
            List { words: LazyLock::new(|| read_list(stringify!($name))) };)+

        #[cfg(test)]
        const ALL: &[(&str, &List)] = &[$((stringify!($name), &$name)),+];
    };
}

lists! {
    STOP GENERIC SETS LINKS MAILS ACCOUNTS PERSONS TASKS SAYING FOLLOWING GUIDES DOUBTS
    REQUESTS INFINITIVES OPENINGS NAMES
    READS NOUN_STARTS SECRETS WEB RECIPIENTS NUMBERS PEOPLE GROUPS PLACES CONTROLS CONTENTS COMMANDS OWN OTHERS
    TEXT_KEYS TITLE_KEYS NAME_KEYS ENDS FILES
    JOINTS AGAIN PASSIVE LEADS ANSWERING WIDE JOINERS READERS WHOLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        for line in lines(VERBS) {
            assert!(read_verb(line).is_some_and(|it| it.acts != 0), "{line}");
        }
        for (table, kind) in
            [(OBJECTS, object::named as fn(&str) -> Option<u32>), (TOOL_VERBS, verb::named)]
        {
            for (names, _) in lines(table).filter_map(|it| it.split_once(':')) {
                assert!(names.split_whitespace().all(|it| kind(it).is_some()), "{names}");
            }
            assert!(turned(table, kind).values().all(|it| *it != 0));
        }
    }

    #[test]
    fn every_list_has_words_and_every_word_a_list() {
        assert!(ALL.iter().all(|(_, list)| list.iter().next().is_some()));
        for head in lines(LISTS).filter_map(|it| it.strip_prefix('[')?.split(']').next()) {
            assert!(ALL.iter().any(|(name, _)| *name == head), "{head}");
        }
    }
}
