//! Finds the words of the rules, looking only where a word can begin.
//!
//! Most places of most texts are the middle of a word, or the beginning of one that no rule knows. So a table of
//! beginnings is asked first, and only what it knows is followed through the trie.

use std::collections::BTreeMap;

/// A word at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The word, by its place in the list.
    pub(super) word: usize,
}

/// The words, to be looked for.
pub(super) struct Lexicon {
    nodes: Vec<Node>,
    edges: Vec<(u8, usize)>,
    /// The node behind each pair of first bytes, which most walks end at.
    second: Vec<u32>,
    beginnings: Beginnings,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// The edges that leave it, in the list of all edges.
    edges: std::ops::Range<usize>,
    /// A bit for each of their bytes, of which some share one: most walks end where there is none.
    bytes: u64,
    /// The word that ends here.
    word: Option<usize>,
}

impl Lexicon {
    /// Builds the trie of these words, which are normalised and differ from each other.
    pub(super) fn new(words: &[Vec<u8>]) -> Self {
        let mut tree: Vec<(BTreeMap<u8, usize>, Option<usize>)> = vec![Default::default()];
        for (index, word) in words.iter().enumerate() {
            let mut at = 0;
            for byte in word {
                let fresh = tree.len();
                let next = tree.get_mut(at).map_or(fresh, |it| *it.0.entry(*byte).or_insert(fresh));
                if next == fresh {
                    tree.push(Default::default());
                }
                at = next;
            }
            if let Some(node) = tree.get_mut(at) {
                node.1 = Some(index);
            }
        }
        let mut edges = Vec::new();
        let nodes = tree.into_iter().map(|(next, word)| {
            let first = edges.len();
            let bytes = next.keys().fold(0, |all, byte| all | bit(*byte));
            edges.extend(next);
            Node { edges: first..edges.len(), bytes, word }
        });
        let nodes = nodes.collect();
        let mut lexicon =
            Self { nodes, edges, second: Vec::new(), beginnings: Beginnings::of(words) };
        lexicon.second = (0..=u16::MAX).map(|it| lexicon.after(it.to_be_bytes())).collect();
        lexicon
    }

    /// The node behind two bytes; 0 if there is none.
    fn after(&self, bytes: [u8; 2]) -> u32 {
        let mut node = self.nodes.first();
        let mut at = 0;
        for byte in bytes {
            let edges = node.and_then(|it| self.edges.get(it.edges.clone())).unwrap_or_default();
            let Some(next) = edges.iter().find(|it| it.0 == byte) else { return 0 };
            at = next.1;
            node = self.nodes.get(at);
        }
        u32::try_from(at).unwrap_or_default()
    }

    /// Shows `see` every whole word in normal `text`, in the order in which they begin.
    pub(super) fn find(&self, text: &[u8], mut see: impl FnMut(Found)) {
        let (mut was_word, mut at) = (false, 0);
        let mut visit = |start: usize, byte: u8| {
            if self.beginnings.may_begin(text, start, byte) {
                self.follow(text, start, &mut see);
            }
        };
        while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk::<8>) {
            let mut begun = beginnings(*eight, &mut was_word);
            while begun != 0 {
                let place = begun.trailing_zeros() as usize / 8;
                begun &= begun - 1;
                eight.iter().skip(place).take(1).for_each(|byte| visit(at + place, *byte));
            }
            at += eight.len();
        }
        for (start, byte) in text.iter().enumerate().skip(at) {
            let is_word = byte.is_ascii_alphanumeric();
            let inside = was_word & is_word;
            was_word = is_word;
            if !inside && *byte != b' ' {
                visit(start, *byte);
            }
        }
    }

    /// The words that begin at `start`.
    fn follow(&self, text: &[u8], start: usize, see: &mut impl FnMut(Found)) {
        let rest = text.get(start..).unwrap_or_default();
        let mut at = match rest {
            [one, two, ..] => self
                .second
                .get(usize::from(u16::from_be_bytes([*one, *two])))
                .copied()
                .unwrap_or_default(),
            [_] | [] => 0,
        };
        let mut end = start + 2;
        if at == 0 || rest.first().is_some_and(|it| self.beginnings.has_single(*it)) {
            // A word of one byte, or none at all.
            at = 0;
            end = start;
        }
        let mut node = self.nodes.get(at as usize);
        let mut is_first = at != 0;
        loop {
            let Some(here) = node else { return };
            if !is_first {
                let Some(byte) = text.get(end) else { return };
                if here.bytes & bit(*byte) == 0 {
                    return;
                }
                let edges = self.edges.get(here.edges.clone()).unwrap_or_default();
                let Some((_, next)) = edges.iter().find(|it| it.0 == *byte) else { return };
                end += 1;
                node = self.nodes.get(*next);
            }
            is_first = false;
            let last = end.checked_sub(1).and_then(|it| text.get(it));
            if let Some(word) = node.and_then(|it| it.word)
                && !(last.is_some_and(u8::is_ascii_alphanumeric)
                    && text.get(end).is_some_and(u8::is_ascii_alphanumeric))
            {
                see(Found { start, end, word });
            }
        }
    }
}

/// The bit that stands for a byte among the bytes of a node's edges.
const fn bit(byte: u8) -> u64 {
    1 << (byte & 63)
}

/// Returns where in eight bytes something other than a space begins, as the highest bit of each such byte: all but the inside of
/// words of ASCII. `was_word` says whether a word goes on from before, and then whether it goes on behind.
fn beginnings(eight: [u8; 8], was_word: &mut bool) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const fn all(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    /// The highest bit of every byte that is at least so much; all bytes are below 128.
    const fn at_least(bytes: u64, least: u8) -> u64 {
        (bytes + all(128 - least)) & HIGH
    }
    let bytes = u64::from_le_bytes(eight);
    let (plain, wide) = (bytes & !HIGH, bytes & HIGH);
    let small = plain | all(0x20);
    let letters = at_least(small, b'a') & !at_least(small, b'z' + 1);
    let digits = at_least(plain, b'0') & !at_least(plain, b'9' + 1);
    let words = (letters | digits) & !wide;
    let others = at_least(plain ^ all(b' '), 1) | wide;
    let inside = words & (words << 8 | u64::from(*was_word) << 7);
    *was_word = words >> 63 == 1;
    others & !inside
}

/// How the words begin: none is missing, some may be there that are none.
struct Beginnings {
    /// Words of one byte.
    single: [bool; 256],
    /// A bit for each pair of first bytes of words that are shorter than [`MIDDLE_BYTES`].
    short: Vec<u64>,
    /// A bit for each mixture of the first bytes of words that are shorter than [`LONG_BYTES`].
    middle: Vec<u64>,
    /// A bit for each mixture of the first bytes of the others.
    long: Vec<u64>,
}

const MIDDLE_BYTES: usize = 4;
const LONG_BYTES: usize = 8;
const MIXTURE_BITS: u32 = 16;

impl Beginnings {
    fn of(words: &[Vec<u8>]) -> Self {
        let bits = || vec![0_u64; (1 << MIXTURE_BITS) / 64];
        let mut all = Self { single: [false; 256], short: bits(), middle: bits(), long: bits() };
        for word in words {
            match word.as_slice() {
                [] => {}
                [one] => {
                    all.single.iter_mut().skip(usize::from(*one)).take(1).for_each(|it| *it = true)
                }
                [one, two] | [one, two, _] => set(&mut all.short, pair(*one, *two)),
                long => {
                    match (long.first_chunk::<LONG_BYTES>(), long.first_chunk::<MIDDLE_BYTES>()) {
                        (Some(first), _) => set(&mut all.long, mixed_8(u64::from_le_bytes(*first))),
                        (None, Some(first)) => {
                            set(&mut all.middle, mixed_4(u32::from_le_bytes(*first)))
                        }
                        (None, None) => {}
                    }
                }
            }
        }
        all
    }

    fn may_begin(&self, text: &[u8], start: usize, first: u8) -> bool {
        let rest = text.get(start..).unwrap_or_default();
        let Some(eight) = rest.first_chunk::<LONG_BYTES>() else {
            // Near the end there is not enough to be looked up.
            return true;
        };
        let eight = u64::from_le_bytes(*eight);
        let four = u32::try_from(eight & u64::from(u32::MAX)).unwrap_or_default();
        let second = u8::try_from((eight >> 8) & 0xff).unwrap_or_default();
        has(&self.long, mixed_8(eight))
            || has(&self.middle, mixed_4(four))
            || has(&self.short, pair(first, second))
            || self.has_single(first)
    }

    /// Tells whether a word of a single byte begins so.
    fn has_single(&self, first: u8) -> bool {
        self.single.get(usize::from(first)).copied().unwrap_or_default()
    }
}

fn set(bits: &mut [u64], at: usize) {
    bits.iter_mut().skip(at / 64).take(1).for_each(|it| *it |= 1 << (at % 64));
}

fn has(bits: &[u64], at: usize) -> bool {
    bits.get(at / 64).is_some_and(|it| it & (1 << (at % 64)) != 0)
}

fn pair(one: u8, two: u8) -> usize {
    usize::from(one) << 8 | usize::from(two)
}

fn mixed_4(first: u32) -> usize {
    (first.wrapping_mul(0x9e37_79b1) >> (32 - MIXTURE_BITS)) as usize
}

fn mixed_8(first: u64) -> usize {
    (first.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - MIXTURE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The long way: every word at every place.
    fn slowly(words: &[Vec<u8>], text: &[u8]) -> Vec<Found> {
        let letter = |at: Option<usize>| {
            at.and_then(|it| text.get(it)).is_some_and(u8::is_ascii_alphanumeric)
        };
        let mut all = Vec::new();
        for start in 0..text.len() {
            for (word, bytes) in words.iter().enumerate() {
                let end = start + bytes.len();
                let inside = letter(start.checked_sub(1)) && letter(Some(start));
                let goes_on = letter(Some(end - 1)) && letter(Some(end));
                if text[start..].starts_with(bytes) && !inside && !goes_on {
                    all.push(Found { start, end, word });
                }
            }
        }
        all.sort();
        all
    }

    #[test]
    fn words_begin_where_they_begin() {
        for (eight, before, expected, behind) in [
            (*b"ab cd e.", false, "x  x  xx".to_owned(), false),
            (*b"abAZ09@x", true, "      xx".to_owned(), true),
            ([b'a', 0xc3, 0xa9, b'b', b' ', b' ', b'/', b'z'], false, "xxxx  xx".to_owned(), true),
        ] {
            let mut word = before;
            let bits = beginnings(eight, &mut word);
            let shown: String =
                (0..8).map(|it| if bits >> (it * 8 + 7) & 1 == 1 { 'x' } else { ' ' }).collect();
            assert_eq!((shown, word), (expected, behind), "{eight:?}");
        }
    }

    proptest! {
        #[test]
        fn the_short_way_finds_what_the_long_way_finds(
            words in proptest::collection::btree_set("[ab@<é][ab @<é]{0,5}", 1..20),
            text in "[ab @<éZ7]{0,60}",
        ) {
            let words: Vec<Vec<u8>> = words.into_iter().map(String::into_bytes).collect();
            let mut found = Vec::new();
            Lexicon::new(&words).find(text.as_bytes(), |it| found.push(it));
            found.sort();
            prop_assert_eq!(found, slowly(&words, text.as_bytes()));
        }
    }
}
