//! Finds the words of the vocabulary, looking only where a word can begin.
//!
//! Most places of most texts are the middle of a word, or the beginning of one that is not in the vocabulary. So
//! a table of beginnings is asked first, and only what it knows is followed further.

use aho_corasick::automaton::OverlappingState;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, Input, MatchKind, StartKind};

/// A word at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    // In this order they are reported: as they end, and of those that end together the longest first.
    pub(super) end: usize,
    pub(super) start: usize,
    /// The word, by its place in the vocabulary.
    pub(super) word: usize,
}

/// Words that wait for their turn, before it is looked whose has come.
const WAITING: usize = 64;

/// The vocabulary, to be looked for.
pub(super) struct Lexicon {
    words: AhoCorasick,
    beginnings: Beginnings,
}

impl Lexicon {
    /// Of these words, which are folded; none if they cannot be looked for.
    pub(super) fn new(words: &[Vec<u8>]) -> Option<Self> {
        let beginnings = Beginnings::of(words);
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .start_kind(StartKind::Anchored)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(words)
            .ok()?;
        Some(Self { words, beginnings })
    }

    /// Shows `see` every word in folded `text` that does not begin inside of a longer one; nothing if they cannot
    /// be looked for.
    pub(super) fn find(&self, text: &[u8], mut see: impl FnMut(Found)) -> Option<()> {
        let mut waiting = Vec::new();
        // The two bytes before.
        let (mut first, mut second) = (b' ', b' ');
        for (start, byte) in text.iter().enumerate() {
            let inside = second.is_ascii_alphanumeric() && byte.is_ascii_alphanumeric();
            let escape = first == b'\\' && matches!(second, b'n' | b't' | b'r');
            (first, second) = (second, *byte);
            if inside && !escape
                || !self.beginnings.may_begin(text.get(start..).unwrap_or_default())
            {
                continue;
            }
            if waiting.len() >= WAITING {
                report(&mut waiting, start, &mut see);
            }
            self.follow(text, start, &mut waiting)?;
        }
        report(&mut waiting, text.len(), &mut see);
        Some(())
    }

    /// The words that begin at `start`.
    fn follow(&self, text: &[u8], start: usize, found: &mut Vec<Found>) -> Option<()> {
        let input = Input::new(text).span(start..text.len()).anchored(Anchored::Yes);
        let mut state = OverlappingState::start();
        loop {
            self.words.try_find_overlapping(input.clone(), &mut state).ok()?;
            let Some(one) = state.get_match() else { return Some(()) };
            // A word within this one is found where it begins itself.
            if one.start() == start {
                let (end, word) = (one.end(), one.pattern().as_usize());
                found.push(Found { end, start, word });
            }
        }
    }
}

/// Shows those that end before any that begins at `start` could.
fn report(waiting: &mut Vec<Found>, start: usize, see: &mut impl FnMut(Found)) {
    waiting.sort_unstable();
    let ended = waiting.partition_point(|it| it.end <= start);
    waiting.drain(..ended).for_each(see);
}

/// Quoted text may hold `\n` as two characters; its `n` is no letter of the next word.
pub(super) fn is_behind_escape(text: &[u8], start: usize) -> bool {
    let before = start.checked_sub(2).and_then(|it| text.get(it..start));
    matches!(before, Some([b'\\', b'n' | b't' | b'r']))
}

/// How the words begin: none is missing, some may be there that are none.
struct Beginnings {
    /// First bytes of words that are shorter than [`BEGINNING_BYTES`].
    short: [bool; 256],
    /// A bit for each mixture of the first bytes of the others.
    mixtures: Vec<u64>,
}

const BEGINNING_BYTES: usize = 3;
const MIXTURES: usize = 1 << 13;

impl Beginnings {
    fn of(words: &[Vec<u8>]) -> Self {
        let mut all = Self { short: [false; 256], mixtures: vec![0; MIXTURES / 64] };
        for word in words {
            match (word.first_chunk(), word.first()) {
                (Some(beginning), _) => {
                    let (at, bit) = place(*beginning);
                    all.mixtures.iter_mut().skip(at).take(1).for_each(|it| *it |= bit);
                }
                (None, Some(first)) => {
                    let first = usize::from(*first);
                    all.short.iter_mut().skip(first).take(1).for_each(|it| *it = true);
                }
                (None, None) => {}
            }
        }
        all
    }

    fn may_begin(&self, text: &[u8]) -> bool {
        let Some(first) = text.first() else { return false };
        if self.short.get(usize::from(*first)).copied().unwrap_or(true) {
            return true;
        }
        // A text that ends here has no room for a word that is not short.
        let Some(beginning) = text.first_chunk() else { return false };
        let (at, bit) = place(*beginning);
        self.mixtures.get(at).is_none_or(|it| it & bit != 0)
    }
}

/// Where a beginning stands among the mixtures.
fn place(beginning: [u8; BEGINNING_BYTES]) -> (usize, u64) {
    let [a, b, c] = beginning.map(usize::from);
    let mixed = (a ^ (b << 4) ^ (c << 8)) % MIXTURES;
    (mixed / 64, 1 << (mixed % 64))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proptest::prelude::*;

    use super::super::vocabulary;
    use super::*;
    use crate::fold::Folded;

    fn folded() -> Vec<Vec<u8>> {
        vocabulary::words().map(|(_, it)| Folded::new(it).bytes().to_owned()).collect()
    }

    /// The long way: every word at every place, and then those that begin inside of another are left out.
    fn slowly(words: &AhoCorasick, text: &[u8]) -> Vec<Found> {
        let all = words.find_overlapping_iter(text).map(|it| Found {
            end: it.end(),
            start: it.start(),
            word: it.pattern().as_usize(),
        });
        let begins = |it: &Found| {
            let letter = |at: usize| text.get(at).is_some_and(u8::is_ascii_alphanumeric);
            let joined = it.start.checked_sub(1).is_some_and(letter) && letter(it.start);
            !joined || is_behind_escape(text, it.start)
        };
        all.filter(begins).collect()
    }

    struct Both(Lexicon, AhoCorasick);

    impl Both {
        fn new() -> Self {
            let words = folded();
            let plain = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&words);
            Self(Lexicon::new(&words).unwrap(), plain.unwrap())
        }

        fn agree(&self, text: &str) {
            let text = Folded::new(text);
            let mut found = Vec::new();
            self.0.find(text.bytes(), |it| found.push(it)).unwrap();
            assert_eq!(found, slowly(&self.1, text.bytes()), "{text:?}");
        }
    }

    fn texts(dir: &Path, see: &mut dyn FnMut(&str)) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                texts(&path, see);
            } else if let Ok(text) = fs::read_to_string(&path) {
                see(&text);
            }
        }
    }

    #[test]
    fn the_short_way_finds_what_the_long_way_finds_in_the_corpus() {
        let both = Both::new();
        let mut seen = 0;
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
        for part in ["scan", "provenance", "guards"] {
            texts(&corpus.join(part), &mut |text| {
                seen += 1;
                both.agree(text);
            });
        }
        assert!(seen > 50, "{seen} texts");
        for word in vocabulary::words().map(|(_, it)| it) {
            both.agree(word);
            both.agree(&format!("x{word}x {word}\\n{word} \\t{word}. {word}{word}"));
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let words: Vec<&'static str> = vocabulary::words().map(|(_, it)| it).collect();
        let joints = ["", " ", "\\n", "\\", "n", ", ", ".", "\n", "x", "é", "@", "<|", "0"];
        let one = (
            proptest::sample::select(words),
            proptest::sample::select(joints.to_vec()),
            0..40_usize,
        );
        proptest::collection::vec(one, 0..12).prop_map(|all| {
            let cut = |word: &str, at: usize| word.chars().take(at.max(1)).collect::<String>();
            all.iter().map(|(word, joint, at)| format!("{}{joint}", cut(word, *at))).collect()
        })
    }

    proptest! {
        #[test]
        fn the_short_way_finds_what_the_long_way_finds_in_any_text(text in pieces(), any in "\\PC{0,60}") {
            thread_local!(static BOTH: Both = Both::new());
            BOTH.with(|it| {
                it.agree(&text);
                it.agree(&format!("{any}{text}{any}"));
            });
        }
    }
}
