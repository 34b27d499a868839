//! Words of a text, for the index in memory: one spelling for what reads the same.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::memory::QUERY_WORDS_MAX;

/// A longer word is known by its beginning.
const WORD_CHARS_MAX: usize = 64;
/// The beginning of a word that is shorter finds nothing: half of all words begin like it.
const BEGINNING_CHARS_MIN: usize = 3;

/// What one word of a query looks for: rows that have all of these.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wanted {
    /// Words as they are indexed.
    pub(super) whole: Vec<String>,
    /// The last of them, of which the beginning is enough.
    pub(super) beginning: Option<String>,
}

/// The words of a text, each once. Scripts without spaces are cut into pairs of characters, of which a
/// query then wants all.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for run in runs(text) {
        if is_unspaced(&run) {
            found.extend(pairs(&run));
            found.extend(run.chars().map(String::from));
        } else {
            found.insert(run);
        }
    }
    found
}

/// What a query looks for, word by word. Nothing in it is syntax.
pub(super) fn wanted(query: &str) -> BTreeSet<Wanted> {
    let one = |word: &str| {
        let mut whole = Vec::new();
        let mut last_is_spaced = false;
        for run in runs(word) {
            last_is_spaced = !is_unspaced(&run);
            match run.chars().nth(1) {
                Some(_) if !last_is_spaced => whole.extend(pairs(&run)),
                Some(_) | None => whole.push(run),
            }
        }
        let long = |it: &&String| it.chars().count() >= BEGINNING_CHARS_MIN;
        let beginning = whole.last().filter(|_| last_is_spaced).filter(long).cloned();
        if beginning.is_some() {
            whole.pop();
        }
        Wanted { whole, beginning }
    };
    let words = query.split_whitespace().take(QUERY_WORDS_MAX).map(one);
    words.filter(|it| !it.whole.is_empty() || it.beginning.is_some()).collect()
}

/// Letters and digits that stand together, without accents, in lower case.
fn runs(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut run = String::new();
    let mut chars = 0;
    let folded = text.nfkd().filter(|it| !is_combining_mark(*it)).flat_map(char::to_lowercase);
    for it in folded {
        let ends = run.chars().next_back().is_some_and(|last| unspaced(last) != unspaced(it));
        if (ends || !it.is_alphanumeric()) && !run.is_empty() {
            found.push(std::mem::take(&mut run));
            chars = 0;
        }
        if it.is_alphanumeric() && (chars < WORD_CHARS_MAX || unspaced(it)) {
            run.push(it);
            chars += 1;
        }
    }
    if !run.is_empty() {
        found.push(run);
    }
    found
}

fn pairs(run: &str) -> impl Iterator<Item = String> {
    run.chars().zip(run.chars().skip(1)).map(|(one, other)| String::from_iter([one, other]))
}

fn is_unspaced(run: &str) -> bool {
    run.chars().next().is_some_and(unspaced)
}

/// Han, Hiragana, Katakana, Thai, Lao, Khmer, Myanmar.
fn unspaced(it: char) -> bool {
    matches!(u32::from(it),
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff | 0x3040..=0x30ff
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_the_same_is_the_same_word() {
        let all = |text: &str| words(text).into_iter().collect::<Vec<_>>();
        assert_eq!(all("Zoë's KÄSE, käse"), ["kase", "s", "zoe"]);
        assert_eq!(all("ｆｏｏ-bar_2"), ["2", "bar", "foo"]);
        assert_eq!(all("喝綠茶 ok"), ["ok", "喝", "喝綠", "綠", "綠茶", "茶"]);
        assert_eq!(all("\0\u{200b}👍 \""), [] as [&str; 0]);
        assert_eq!(all(&"x".repeat(1000)), ["x".repeat(64)]);
    }

    #[test]
    fn a_query_is_words_and_the_last_part_of_each_may_be_a_beginning() {
        let of = |whole: &[&str], beginning: Option<&str>| Wanted {
            whole: whole.iter().map(|it| (*it).to_owned()).collect(),
            beginning: beginning.map(str::to_owned),
        };
        let wanted = |query: &str| super::wanted(query).into_iter().collect::<Vec<_>>();
        assert_eq!(wanted("pay.example"), [of(&["pay"], Some("example"))]);
        assert_eq!(wanted("an an"), [of(&["an"], None)]);
        assert_eq!(wanted("綠茶"), [of(&["綠茶"], None)]);
        assert_eq!(wanted("* \" ( OR"), [of(&["or"], None)]);
        assert_eq!(super::wanted(&"x ".repeat(5000)).len(), 1);
    }
}
