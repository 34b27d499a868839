//! Words for acts, things and hints, as tables in `words/`. No tool, product or task is named there.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::acts::{object, verb};

const VERBS: &str = include_str!("words/verbs.txt");
const OBJECTS: &str = include_str!("words/objects.txt");
const TOOL_VERBS: &str = include_str!("words/tool_verbs.txt");
const STEM_TABLE: &str = include_str!("words/stems.txt");
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

/// Everything that the tables say of one word.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// A bit for each list that it stands in.
    lists: u64,
    verb: Option<Verb>,
    objects: u32,
    tool_verb: u32,
    /// It is the first word of a phrase of [`REQUESTS`].
    begins_request: bool,
}

/// All tables in one: a word is looked up once, whatever is asked of it.
static ALL: LazyLock<Table<Box<str>, Entry>> = LazyLock::new(|| {
    let mut all = Table::<Box<str>, Entry>::default();
    for found in lines(VERBS).filter_map(read_verb) {
        let word = found.word;
        all.entry(word.into()).or_default().verb = Some(found);
    }
    for (word, kinds) in turned(OBJECTS, object::named) {
        all.entry(word.into()).or_default().objects = kinds;
    }
    for (word, kinds) in turned(TOOL_VERBS, verb::named) {
        all.entry(word.into()).or_default().tool_verb = kinds;
    }
    for (list, word) in listed() {
        if list.bit == REQUESTS.bit {
            let first = word.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
            all.entry(first.into()).or_default().begins_request = true;
        }
        all.entry(word.into()).or_default().lists |= list.bit;
    }
    all
});

/// A word, looked up.
#[derive(Clone, Copy)]
pub(super) struct Known(Option<&'static Entry>);

impl Known {
    pub(super) fn of(word: &str) -> Self {
        Self(ALL.get(word))
    }

    pub(super) fn is_in(self, list: &List) -> bool {
        self.0.is_some_and(|it| it.lists & list.bit != 0)
    }

    /// May it begin the phrase of a request?
    pub(super) fn begins_request(self) -> bool {
        self.0.is_some_and(|it| it.begins_request)
    }

    /// The verb that is exactly this word.
    pub(super) fn verb(self) -> Option<&'static Verb> {
        self.0.and_then(|it| it.verb.as_ref())
    }
}

/// The verb that is exactly `word`.
pub(super) fn verb(word: &str) -> Option<&'static Verb> {
    Known::of(word).verb()
}

/// Beginnings of words for acts, in other languages, by their first letter.
static STEMS: LazyLock<HashMap<char, Vec<(&'static str, u32)>>> = LazyLock::new(|| {
    let mut all = HashMap::<char, Vec<_>>::new();
    for (names, stems) in lines(STEM_TABLE).filter_map(|it| it.split_once(':')) {
        let kinds = names.split_whitespace().filter_map(verb::named).fold(0, |all, it| all | it);
        for stem in stems.split_whitespace() {
            if let Some(first) = stem.chars().next() {
                all.entry(first).or_default().push((stem, kinds));
            }
        }
    }
    all
});

/// What a word of another language asks to have done. Where words are not written apart, `word` is a run of several.
pub(super) fn stem_acts(word: &str) -> u32 {
    let of = |first: char| STEMS.get(&first).into_iter().flatten();
    let is_spaced = |it: char| u32::from(it) < 0x2e80;
    let Some(first) = word.chars().next() else { return 0 };
    if word.chars().all(is_spaced) {
        let is = |stem: &str| match stem.strip_suffix('*') {
            Some(start) => word.starts_with(start),
            None => word == stem,
        };
        return of(first).filter(|it| is(it.0)).fold(0, |all, it| all | it.1);
    }
    let letters = word.chars().filter(|it| !is_spaced(*it));
    letters.flat_map(of).filter(|it| word.contains(it.0)).fold(0, |all, it| all | it.1)
}

/// The same for a word in the name of a tool, which is written without accents.
pub(super) fn bare_stem_acts(word: &str) -> u32 {
    if word.len() < BARE_LETTERS_MIN {
        return 0;
    }
    let is = |stem: &str| match stem.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == stem,
    };
    BARE_STEMS.iter().filter(|it| is(&it.0)).fold(0, |all, it| all | it.1)
}

/// Shorter words of one language are beginnings in another.
const BARE_LETTERS_MIN: usize = 4;

/// Beginnings of words without accents.
static BARE_STEMS: LazyLock<Vec<(String, u32)>> = LazyLock::new(|| {
    let bare = |stem: &str| -> String {
        let plain = stem.nfd().filter(|it| !is_combining_mark(*it));
        plain
            .map(|it| {
                if it == 'ł' {
                    'l'
                } else if it == 'ı' {
                    'i'
                } else {
                    it
                }
            })
            .collect()
    };
    let all = STEMS.values().flatten().map(|(stem, acts)| (bare(stem), *acts));
    let is_long = |it: &str| it.trim_end_matches('*').len() >= BARE_LETTERS_MIN;
    all.filter(|it| it.0.is_ascii() && is_long(&it.0)).collect()
});

/// The kinds of things that `word` stands for.
pub(super) fn objects(word: &str) -> Option<u32> {
    ALL.get(word).map(|it| it.objects).filter(|it| *it != 0)
}

/// What a verb in the name of a tool does.
pub(super) fn tool_verb(word: &str) -> Option<u32> {
    ALL.get(word).map(|it| it.tool_verb).filter(|it| *it != 0)
}

/// Every word of every table.
#[cfg(test)]
pub(super) fn every_word() -> impl Iterator<Item = &'static str> {
    ALL.keys().map(|it| &**it)
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
pub(super) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Mix>>;

/// Multiplies and mixes, eight bytes at a time.
#[derive(Default)]
pub(super) struct Mix(u64);

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
    name: &'static str,
    bit: u64,
}

impl List {
    pub(super) fn has(&self, word: &str) -> bool {
        Known::of(word).is_in(self)
    }
}

/// Does a folded text hold the phrase of a request, at the limits of words?
pub(super) fn has_request(folded: &str) -> bool {
    static PHRASES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let phrases = listed().filter(|(list, _)| list.bit == REQUESTS.bit).map(|(_, it)| it);
        AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(phrases).ok()
    });
    let Some(phrases) = PHRASES.as_ref() else {
        // INVARIANT (FailClosed): what cannot be looked for is taken for found.
        return true;
    };
    phrases.find_overlapping_iter(folded).any(|it| {
        let before = folded.get(..it.start()).unwrap_or_default();
        let after = folded.get(it.end()..).unwrap_or_default();
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

/// Every word of every list.
fn listed() -> impl Iterator<Item = (&'static List, String)> {
    let mut inside = None;
    lines(LISTS).flat_map(move |line| {
        let words = match line.strip_prefix('[') {
            Some(head) => {
                let name = head.split(']').next().unwrap_or_default();
                inside = ALL_LISTS.iter().copied().find(|it| it.name == name);
                ""
            }
            None => line,
        };
        let list = inside;
        let words = words.split_whitespace().map(|it| it.replace('_', " "));
        words.filter_map(move |it| Some((list?, it)))
    })
}

macro_rules! lists {
    ($($name:ident)+) => {
        /// The place of each list among the bits.
        #[derive(Clone, Copy)]
        #[expect(clippy::upper_case_acronyms, non_camel_case_types, reason = "the names of lists")]
        enum Bit { $($name),+ }

        $(pub(super) static $name: List =
            List { name: stringify!($name), bit: 1 << Bit::$name as u32 };)+

        static ALL_LISTS: &[&List] = &[$(&$name),+];
    };
}

lists! {
    STOP GENERIC SETS LINKS BILLS PERSONS TASKS SAYING FOLLOWING GUIDES DOUBTS
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
        for list in ALL_LISTS {
            assert!(listed().any(|(it, _)| it.bit == list.bit), "{}", list.name);
        }
        for head in lines(LISTS).filter_map(|it| it.strip_prefix('[')?.split(']').next()) {
            assert!(ALL_LISTS.iter().any(|it| it.name == head), "{head}");
        }
    }

    #[test]
    fn acts_are_asked_for_in_other_languages() {
        for (word, act) in [
            ("überweise", verb::PAY),
            ("réservez", verb::RESERVE),
            ("cancela", verb::DELETE),
            ("wyślij", verb::SEND),
            ("メールを送ってください", verb::SEND),
            ("请帮我取消预约", verb::DELETE),
        ] {
            assert!(stem_acts(word) & act != 0, "{word}");
        }
        assert_eq!(stem_acts("weather"), 0);
    }

    #[test]
    fn requests_are_whole_words() {
        assert!(has_request("would you please come") && has_request("könnten sie kommen"));
        assert!(!has_request("he was pleased, and could youths swim"));
    }
}
