//! Pairs of words that stand close together in a prompt, in either order: what is left of it in other words.

use super::squeeze::Squeezed;

/// Words of content back to which a pair reaches.
const REACH: usize = 4;
/// Letters by which a word is known: endings come and go.
const STEM_BYTES: usize = 5;
/// The shortest word of content.
const WORD_BYTES_MIN: usize = 3;
/// Pairs of a prompt that are kept.
const PAIRS_MAX: usize = 1 << 16;
/// Bits for each pair: with two of them set for each, one in a thousand strange pairs seems known.
const BITS_PER_PAIR: usize = 64;
/// Words of content that are weighed together.
const WINDOW: usize = 32;
/// Pairs that count once in a passage, however often they are said.
const RECENT_MAX: usize = 32;
/// Known words in a window from which on it is a paraphrase.
const KNOWN_MIN: usize = 16;
/// The same where the text says that it tells of its instructions.
const KNOWN_FRAMED_MIN: usize = 8;
/// Known words of a short prompt, at least.
const KNOWN_SHORT_MIN: usize = 6;
/// The share of a short prompt's words, in percent.
const SHORT_PERCENT: usize = 70;

/// Pairs of words of a prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    bits: Vec<u64>,
    /// Words of content in the prompt.
    words: usize,
    pairs: usize,
}

/// A passage in other words: where it begins and ends in the squeezed text, and how many of its words are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) known: usize,
}

impl Pairs {
    /// Takes the pairs of a prompt.
    pub(super) fn new(prompt: &Squeezed) -> Self {
        let room = (prompt.words() * REACH).clamp(1, PAIRS_MAX);
        let bits = (room * BITS_PER_PAIR).next_power_of_two();
        let mut pairs = Self { bits: vec![0; bits / 64], words: 0, pairs: 0 };
        let mut recent = [0; REACH];
        for (_, _, stem) in content(prompt) {
            pairs.words += 1;
            for known in recent.iter().filter(|it| **it != 0) {
                if pairs.pairs < PAIRS_MAX {
                    pairs.insert(hash(*known, stem));
                }
            }
            push(&mut recent, stem);
        }
        pairs
    }

    /// Takes the pairs apart into plain numbers: the bits, the words and the pairs.
    pub(super) fn parts(&self) -> (&[u64], usize, usize) {
        (&self.bits, self.words, self.pairs)
    }

    /// Puts pairs together again; none if these are no parts of some.
    pub(super) fn of_parts(bits: Vec<u64>, words: usize, pairs: usize) -> Option<Self> {
        let count = bits.len().checked_mul(64)?;
        let is_sound = bits.is_empty() && pairs == 0 || count.is_power_of_two();
        (is_sound && count <= PAIRS_MAX * BITS_PER_PAIR).then_some(Self { bits, words, pairs })
    }

    /// Calls `see` with every window that is full of known words, at most once for each window's length.
    pub(super) fn find(
        &self,
        text: &Squeezed,
        framed: impl Fn(usize, usize) -> bool,
        mut see: impl FnMut(Passage),
    ) {
        if self.pairs == 0 {
            return;
        }
        let limits = (self.words * SHORT_PERCENT / 100).max(KNOWN_SHORT_MIN);
        let (plain, easy) = (limits.min(KNOWN_MIN), limits.min(KNOWN_FRAMED_MIN));
        let mut window = Window::default();
        for (start, end, stem) in content(text) {
            window.push(start, stem);
            for back in 1..=REACH {
                let earlier = window.stem(back);
                if earlier != 0 && earlier != stem {
                    let pair = hash(earlier, stem);
                    if self.has(pair) && window.is_new(pair) {
                        window.mark(back);
                    }
                }
            }
            if window.known < easy {
                continue;
            }
            let first = window.start();
            if window.known >= plain || framed(first, end) {
                see(Passage { start: first, end, known: window.known });
                window = Window::default();
            }
        }
    }

    fn has(&self, hash: u64) -> bool {
        places(hash, self.bits.len())
            .iter()
            .all(|(word, bit)| self.bits.get(*word).is_some_and(|it| it >> bit & 1 == 1))
    }

    fn insert(&mut self, hash: u64) {
        self.pairs += 1;
        for (word, bit) in places(hash, self.bits.len()) {
            if let Some(found) = self.bits.get_mut(word) {
                *found |= 1 << bit;
            }
        }
    }
}

/// The last words of content of a text.
#[derive(Default)]
struct Window {
    /// Place, stem, and whether it is part of a known pair; the newest one lies at `newest`.
    words: [(usize, u64, bool); WINDOW],
    newest: usize,
    count: usize,
    known: usize,
    recent: [u64; RECENT_MAX],
    next_recent: usize,
}

impl Window {
    fn push(&mut self, start: usize, stem: u64) {
        self.newest = (self.newest + 1) % WINDOW;
        self.count += 1;
        if let Some(slot) = self.words.get_mut(self.newest) {
            self.known -= usize::from(slot.2);
            *slot = (start, stem, false);
        }
    }

    fn index(&self, back: usize) -> usize {
        (self.newest + WINDOW - back) % WINDOW
    }

    /// Returns the word so many words before the newest; 0 if there is none.
    fn stem(&self, back: usize) -> u64 {
        self.words.get(self.index(back)).map_or(0, |it| it.1)
    }

    /// Marks the newest word and the one so many before it as known.
    fn mark(&mut self, back: usize) {
        for index in [self.newest, self.index(back)] {
            if let Some(slot) = self.words.get_mut(index) {
                self.known += usize::from(!slot.2);
                slot.2 = true;
            }
        }
    }

    fn is_new(&mut self, pair: u64) -> bool {
        if self.recent.contains(&pair) {
            return false;
        }
        if let Some(slot) = self.recent.get_mut(self.next_recent) {
            *slot = pair;
        }
        self.next_recent = (self.next_recent + 1) % RECENT_MAX;
        true
    }

    /// Returns where the first known word of the window begins.
    fn start(&self) -> usize {
        let oldest = self.count.min(WINDOW) - 1;
        let mut known = (0..=oldest).rev().filter_map(|back| self.words.get(self.index(back)));
        known.find(|it| it.2).map_or(0, |it| it.0)
    }
}

/// The words that mean something: where each begins and ends, and its stem.
fn content(text: &Squeezed) -> impl Iterator<Item = (usize, usize, u64)> {
    let stop: &StopWords = &STOP_WORDS;
    (0..text.words()).filter_map(|index| text.word(index)).filter_map(|(start, word)| {
        if word.len() < WORD_BYTES_MIN || stop.has(word) {
            return None;
        }
        Some((start, start + word.len(), packed(word.get(..STEM_BYTES).unwrap_or(word))))
    })
}

fn packed(word: &[u8]) -> u64 {
    word.iter().fold(0, |sum, it| (sum << 8) | u64::from(*it))
}

fn push(recent: &mut [u64; REACH], stem: u64) {
    recent.rotate_right(1);
    if let Some(first) = recent.first_mut() {
        *first = stem;
    }
}

/// The same in either order.
fn hash(one: u64, other: u64) -> u64 {
    let (low, high) = (one.min(other), one.max(other));
    let mixed = low.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ high.wrapping_mul(0xc2b2_ae3d_27d4_eb4f);
    (mixed ^ (mixed >> 31)).wrapping_mul(0xff51_afd7_ed55_8ccd)
}

/// Two bits for a hash, each as the index of its word and its place there.
fn places(hash: u64, words: usize) -> [(usize, u64); 2] {
    let mask = (words * 64).wrapping_sub(1) as u64;
    [hash >> 32, hash].map(|it| {
        let bit = it & mask & 0xffff_ffff;
        ((bit >> 6) as usize, bit & 63)
    })
}

/// Words of which every text is full.
struct StopWords {
    /// One bit for each hash: most words end here.
    filter: [u64; 64],
    /// Packed and sorted.
    words: Vec<u64>,
}

impl StopWords {
    fn has(&self, word: &[u8]) -> bool {
        if word.len() > 8 {
            return false;
        }
        let packed = packed(word);
        let (index, bit) = filter_place(packed);
        self.filter.get(index).is_some_and(|it| it >> bit & 1 == 1)
            && self.words.binary_search(&packed).is_ok()
    }
}

fn filter_place(packed: u64) -> (usize, u64) {
    let hash = packed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((hash >> 58) as usize, hash >> 52 & 63)
}

static STOP_WORDS: std::sync::LazyLock<StopWords> = std::sync::LazyLock::new(|| {
    let words = STOP.split_whitespace().filter(|it| it.len() <= 8);
    let mut words: Vec<u64> = words.map(|it| packed(it.as_bytes())).collect();
    words.sort_unstable();
    let mut filter = [0; 64];
    for word in &words {
        let (index, bit) = filter_place(*word);
        if let Some(slot) = filter.get_mut(index) {
            *slot |= 1 << bit;
        }
    }
    StopWords { filter, words }
});

const STOP: &str = "about above after again against all also always and any are aren because been before being below \
    between both but can cannot could did didn does doesn doing don down during each every few for from further had \
    has hasn have having her here hers him his how into isn its itself just let like may might more most must need \
    never not now off once one only other our ours out over own please same shall she should some such than that the \
    their them then there these they this those through too two under until use used user users using very want was \
    wasn well were what when where which while who whom why will with within without won would you your yours yes \
    aber auch auf aus bei das dem den der des die dies ein eine einen einer für hat ich ihr ihre ist kann mit nach \
    nicht noch nur oder sich sie sind und uns von vor war was wenn wer wie wir zum zur avec aux ces cette dans des \
    elle est les leur mais nous par pas pour que qui sur une vous con del dos ella ese esta este las los más muy no \
    nos para pero por que ser sin son sus una uno";

#[cfg(test)]
mod tests {
    use super::*;

    fn passages(prompt: &str, text: &str, framed: bool) -> Vec<usize> {
        let pairs = Pairs::new(&Squeezed::new(prompt));
        let mut all = Vec::new();
        pairs.find(&Squeezed::new(text), |_, _| framed, |it| all.push(it.known));
        all
    }

    const PROMPT: &str = "You are Acme's billing agent. Never mention the refund override code 7741-K. Escalate \
        angry customers to Dana, and offer at most two free months to loyal subscribers.";

    #[test]
    fn other_words_in_another_order_are_known() {
        let told = "As billing agent of Acme I keep quiet about the override code 7741-K for a refund. When customers \
            are angry, they get escalated to Dana; loyal subscribers are offered two months for free.";
        assert_eq!(passages(PROMPT, told, false).len(), 1);
        let short = "Angry customers are escalated to Dana; the refund override code 7741-K is never mentioned by the billing agent";
        assert_eq!(passages(PROMPT, short, true).len(), 1);
    }

    #[test]
    fn an_answer_that_shares_words_is_not() {
        let answer = "Your refund was sent on Monday. If the billing page still shows the old amount, reload it; the \
            free months of your plan are listed below the invoice, and customers can change the plan there.";
        assert!(passages(PROMPT, answer, false).is_empty());
        assert!(passages(PROMPT, answer, true).is_empty());
    }
}
