//! Every passage of so many letters of a prompt, as a set of hashes: a copy shares long rows of them.

use std::ops::Range;

/// Letters of one passage. Shorter ones are ordinary turns of phrase.
pub(super) const GRAM_BYTES: usize = 20;
/// Passages of a prompt that are kept, in all spellings.
pub(super) const GRAMS_MAX: usize = 1 << 20;

/// A set of passages with where each stands in the prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Grams {
    /// One bit for each hash's upper bits: most text ends here.
    filter: Vec<u64>,
    slots: Vec<Slot>,
    count: usize,
    /// What is shifted off a hash to get the index of its bit and of its slot.
    filter_shift: u32,
    slot_shift: u32,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    tag: u32,
    /// Where the passage begins in the prompt; `EMPTY` if there is none.
    at: u32,
}

const EMPTY: u32 = u32::MAX;

/// A row of passages of a text that are all in the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// Where it begins in the squeezed text.
    pub(super) at: usize,
    /// Where it begins in the prompt.
    pub(super) in_prompt: usize,
}

impl Grams {
    /// Makes a set with room for the passages of so many bytes.
    pub(super) fn with_room_for(bytes: usize) -> Self {
        let wanted = bytes.clamp(64, GRAMS_MAX);
        let slots = (wanted * 2).next_power_of_two();
        let bits = (wanted * 16).next_power_of_two();
        Self {
            filter: vec![0; bits / 64],
            slots: vec![Slot { tag: 0, at: EMPTY }; slots],
            count: 0,
            filter_shift: 64 - bits.ilog2(),
            slot_shift: 64 - slots.ilog2(),
        }
    }

    /// Adds every passage of `squeezed`; `place` says where a passage stands in the prompt, or that it is left out.
    pub(super) fn add(&mut self, squeezed: &[u8], place: impl Fn(Range<usize>) -> Option<usize>) {
        let limit = (self.slots.len() / 2).min(GRAMS_MAX);
        for (at, hash) in hashes(squeezed) {
            if self.count >= limit {
                return;
            }
            if let Some(in_prompt) = place(at..at + GRAM_BYTES) {
                self.insert(hash, in_prompt);
            }
        }
    }

    /// Calls `see` for every passage of the text that is in the set, in order.
    pub(super) fn find(&self, squeezed: &[u8], mut see: impl FnMut(Hit)) {
        if self.count == 0 {
            return;
        }
        for (at, hash) in hashes(squeezed) {
            if self.may_have(hash)
                && let Some(in_prompt) = self.get(hash)
            {
                see(Hit { at, in_prompt });
            }
        }
    }

    /// Takes the set apart into plain numbers: how many slots, the filter, and each slot that is taken with its index.
    pub(super) fn parts(&self) -> (usize, &[u64], Vec<[u32; 3]>) {
        let taken = self.slots.iter().enumerate().filter(|(_, it)| it.at != EMPTY);
        let numbers =
            |(index, it): (usize, &Slot)| [u32::try_from(index).unwrap_or(0), it.tag, it.at];
        (self.slots.len(), &self.filter, taken.map(numbers).collect())
    }

    /// Puts a set together again; none if these are no parts of one.
    pub(super) fn of_parts(slots: usize, filter: Vec<u64>, taken: &[[u32; 3]]) -> Option<Self> {
        if slots == 0 && filter.is_empty() && taken.is_empty() {
            return Some(Self::default());
        }
        let bits = filter.len().checked_mul(64)?;
        let is_sound = slots.is_power_of_two() && slots <= GRAMS_MAX * 2 && bits.is_power_of_two();
        // A table that is more than half full would not end a search.
        if !is_sound || bits > GRAMS_MAX * 16 || taken.len() > slots / 2 {
            return None;
        }
        let mut table = vec![Slot { tag: 0, at: EMPTY }; slots];
        for [index, tag, at] in taken {
            let slot = table.get_mut(usize::try_from(*index).ok()?)?;
            *slot = Slot { tag: *tag, at: *at };
        }
        let (filter_shift, slot_shift) = (64 - bits.ilog2(), 64 - slots.ilog2());
        Some(Self { filter, slots: table, count: taken.len(), filter_shift, slot_shift })
    }

    fn may_have(&self, hash: u64) -> bool {
        let bit = hash >> self.filter_shift;
        let word = self.filter.get((bit >> 6) as usize).copied().unwrap_or_default();
        word >> (bit & 63) & 1 == 1
    }

    fn get(&self, hash: u64) -> Option<usize> {
        let mut index = (hash >> self.slot_shift) as usize;
        // The table is at most half full, so an empty slot ends every search.
        loop {
            let slot = self.slots.get(index)?;
            if slot.at == EMPTY {
                return None;
            }
            if slot.tag == tag(hash) {
                return Some(slot.at as usize);
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    fn insert(&mut self, hash: u64, in_prompt: usize) {
        let bit = hash >> self.filter_shift;
        if let Some(word) = self.filter.get_mut((bit >> 6) as usize) {
            *word |= 1 << (bit & 63);
        }
        let mut index = (hash >> self.slot_shift) as usize;
        let mask = self.slots.len().saturating_sub(1);
        while let Some(slot) = self.slots.get_mut(index) {
            if slot.at == EMPTY {
                *slot = Slot { tag: tag(hash), at: u32::try_from(in_prompt).unwrap_or(0) };
                self.count += 1;
                return;
            }
            if slot.tag == tag(hash) {
                return;
            }
            index = (index + 1) & mask;
        }
    }
}

/// The lower half: the upper bits chose the slot.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
fn tag(hash: u64) -> u32 {
    hash as u32
}

/// A polynomial of the bytes, rolled on by one byte at a time, and then mixed: the upper bits are the good ones.
fn hashes(squeezed: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    let first = squeezed.get(..GRAM_BYTES).unwrap_or_default();
    let mut rolled = first.iter().fold(0, |sum: u64, it| step(sum, *it));
    let entering = squeezed.get(GRAM_BYTES..).unwrap_or_default();
    let begun = (!first.is_empty()).then_some((0, mixed(rolled)));
    begun.into_iter().chain(squeezed.iter().zip(entering).enumerate().map(
        move |(index, (leaving, entering))| {
            let without = rolled.wrapping_sub(u64::from(*leaving).wrapping_mul(OLDEST));
            rolled = step(without, *entering);
            (index + 1, mixed(rolled))
        },
    ))
}

fn step(sum: u64, byte: u8) -> u64 {
    sum.wrapping_mul(BASE).wrapping_add(u64::from(byte))
}

fn mixed(rolled: u64) -> u64 {
    (rolled ^ (rolled >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

const BASE: u64 = 0x0000_0100_0000_01b3;
/// `BASE` to the power that the oldest byte of a passage has.
const OLDEST: u64 = BASE.wrapping_pow(GRAM_BYTES as u32 - 1);

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(grams: &Grams, text: &[u8]) -> Vec<Hit> {
        let mut all = Vec::new();
        grams.find(text, |it| all.push(it));
        all
    }

    #[test]
    fn rolled_hashes_are_those_of_each_passage_alone() {
        let text: Vec<u8> = (0..100_u8).map(|it| b'a' + it % 23).collect();
        for (at, hash) in hashes(&text) {
            let alone: Vec<_> = hashes(&text[at..at + GRAM_BYTES]).collect();
            assert_eq!(alone, [(0, hash)]);
        }
        assert_eq!(hashes(&text).count(), text.len() - GRAM_BYTES + 1);
        assert_eq!(hashes(b"short").count(), 0);
    }

    #[test]
    fn passages_are_found_again_with_their_place() {
        let prompt = b"youareacmesbillingagentnevermentiontherefundoverridecode";
        let mut grams = Grams::with_room_for(prompt.len());
        grams.add(prompt, |it| Some(it.start));
        let found = hits(&grams, b"xxnevermentiontherefundoverrideyy");
        assert_eq!(found.first(), Some(&Hit { at: 2, in_prompt: 23 }));
        assert_eq!(found.len(), 29 - GRAM_BYTES + 1);
        assert!(hits(&grams, b"nothingofthisstandsintheprompt").is_empty());
        assert!(hits(&Grams::default(), prompt).is_empty());
    }
}
