//! Finds many short texts in one pass, whatever their case.
//!
//! A table of beginnings is asked at every place, and only what it knows is compared. No place waits for what was found at
//! the one before, so this takes a fraction of the time of an automaton. Work at one place is bounded by the keys that
//! begin alike.

/// The bits of a table: one for each mixture of the first bytes of a key.
const BITS: usize = 1 << 16;
/// How many first bytes of a key are mixed, and of a short one.
const LONG_BYTES: usize = 4;
const SHORT_BYTES: usize = 2;
/// The bit that small and capital letters differ in.
const CASE: u8 = 0x20;
/// The end of a list.
const NONE: u16 = u16::MAX;

/// Texts to be looked for.
pub(crate) struct Keys {
    /// In small letters.
    keys: Vec<Vec<u8>>,
    short: Table,
    long: Table,
}

/// A key at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// The key, by its place in the list.
    pub(crate) key: usize,
}

impl Keys {
    /// Takes a list of keys; nothing if one of them is empty, or if there are too many.
    pub(crate) fn new<K: AsRef<[u8]>>(keys: impl IntoIterator<Item = K>) -> Option<Self> {
        let keys: Vec<Vec<u8>> =
            keys.into_iter().map(|it| it.as_ref().to_ascii_lowercase()).collect();
        let mut all = Self { keys, short: Table::new(), long: Table::new() };
        for (at, key) in all.keys.iter().enumerate() {
            let at = u16::try_from(at).ok()?;
            match key.as_slice() {
                [] => return None,
                [one] => {
                    for next in 0..=u8::MAX {
                        all.short.add(pair([*one, next]), at)?;
                    }
                }
                [one, two] => all.short.add(pair([*one, *two]), at)?,
                [one, two, three] => {
                    for next in 0..=u8::MAX {
                        all.long.add(mixture([*one, *two, *three, next]), at)?;
                    }
                }
                [one, two, three, four, ..] => {
                    all.long.add(mixture([*one, *two, *three, *four]), at)?;
                }
            }
        }
        Some(all)
    }

    /// Shows `see` every key of `bytes`, in the order in which they begin, also those within others.
    pub(crate) fn find(&self, bytes: &[u8], mut see: impl FnMut(Hit)) {
        for (start, four) in bytes.windows(LONG_BYTES).enumerate() {
            if let Some(four) = four.first_chunk() {
                self.look(bytes, start, *four, &mut see);
            }
        }
        // Near the end, zeros stand for what is not there.
        for start in bytes.len().saturating_sub(LONG_BYTES - 1)..bytes.len() {
            let mut four = [0; LONG_BYTES];
            let rest = bytes.get(start..).unwrap_or_default();
            four.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            self.look(bytes, start, four, &mut see);
        }
    }

    #[inline]
    fn look(&self, bytes: &[u8], start: usize, four: [u8; LONG_BYTES], see: &mut impl FnMut(Hit)) {
        let [one, two, _, _] = four;
        let (short, long) = (pair([one, two]), mixture(four));
        if self.short.has(short) {
            self.compare(bytes, start, self.short.list(short), see);
        }
        if self.long.has(long) {
            self.compare(bytes, start, self.long.list(long), see);
        }
    }

    fn compare(
        &self,
        bytes: &[u8],
        start: usize,
        list: impl Iterator<Item = usize>,
        see: &mut impl FnMut(Hit),
    ) {
        for key in list {
            let Some(text) = self.keys.get(key) else { continue };
            let end = start + text.len();
            if bytes.get(start..end).is_some_and(|it| it.eq_ignore_ascii_case(text)) {
                see(Hit { start, end, key });
            }
        }
    }
}

/// Chooses, of hits that come in the order in which they begin, the leftmost ones, and of these the longest.
#[derive(Debug, Default)]
pub(crate) struct Leftmost {
    best: Option<Hit>,
}

impl Leftmost {
    /// Takes the next hit, and returns one that no later hit can replace.
    pub(crate) fn next(&mut self, hit: Hit) -> Option<Hit> {
        match &mut self.best {
            Some(best) if best.start == hit.start => {
                if hit.end > best.end {
                    *best = hit;
                }
                None
            }
            Some(best) if hit.start < best.end => None,
            Some(_) | None => self.best.replace(hit),
        }
    }

    /// Returns the last one.
    pub(crate) fn end(self) -> Option<Hit> {
        self.best
    }
}

/// Which mixtures of first bytes there are, and the keys of each.
struct Table {
    bits: Box<[u64; BITS / 64]>,
    /// Where the list of a mixture begins in `links`.
    first: Vec<u16>,
    /// A key, and where its list goes on.
    links: Vec<(u16, u16)>,
}

impl Table {
    fn new() -> Self {
        Self { bits: Box::new([0; BITS / 64]), first: vec![NONE; BITS], links: Vec::new() }
    }

    /// Adds a key, if there is room.
    fn add(&mut self, mixture: u16, key: u16) -> Option<()> {
        let first = self.first.get_mut(usize::from(mixture))?;
        let is_there = first != &NONE && self.links.get(usize::from(*first))?.0 == key;
        if is_there {
            return Some(());
        }
        let link = u16::try_from(self.links.len()).ok().filter(|it| *it != NONE)?;
        self.links.push((key, *first));
        *first = link;
        *self.bits.get_mut(usize::from(mixture >> 6))? |= 1 << (mixture & 63);
        Some(())
    }

    #[inline]
    fn has(&self, mixture: u16) -> bool {
        self.bits.get(usize::from(mixture >> 6)).is_some_and(|it| it & (1 << (mixture & 63)) != 0)
    }

    fn list(&self, mixture: u16) -> impl Iterator<Item = usize> {
        let mut next = self.first.get(usize::from(mixture)).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let (key, behind) = *self.links.get(usize::from(next))?;
            next = behind;
            Some(usize::from(key))
        })
    }
}

#[inline]
fn pair(bytes: [u8; SHORT_BYTES]) -> u16 {
    u16::from_le_bytes(bytes) | u16::from_le_bytes([CASE; SHORT_BYTES])
}

#[inline]
fn mixture(bytes: [u8; LONG_BYTES]) -> u16 {
    let word = u32::from_le_bytes(bytes) | u32::from_le_bytes([CASE; LONG_BYTES]);
    (word.wrapping_mul(0x9e37_79b1) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The long way: every key at every place.
    fn slowly(keys: &[String], text: &str) -> Vec<Hit> {
        let mut all = Vec::new();
        for start in 0..text.len() {
            for (key, wanted) in keys.iter().enumerate() {
                let end = start + wanted.len();
                let found = text.as_bytes().get(start..end);
                if found.is_some_and(|it| it.eq_ignore_ascii_case(wanted.as_bytes())) {
                    all.push(Hit { start, end, key });
                }
            }
        }
        all
    }

    proptest! {
        #[test]
        fn the_short_way_finds_what_the_long_way_finds(
            keys in proptest::collection::btree_set("[abA@|é]{1,6}", 1..20),
            text in "[abAB @|é]{0,60}",
        ) {
            let keys: Vec<String> = keys.into_iter().map(|it| it.to_lowercase()).collect();
            let all = Keys::new(&keys).unwrap();
            let mut found = Vec::new();
            all.find(text.as_bytes(), |it| found.push(it));
            prop_assert!(found.is_sorted_by_key(|it| it.start));
            found.sort();
            let mut wanted = slowly(&keys, &text);
            wanted.sort();
            prop_assert_eq!(&found, &wanted);

            let mut chosen = Vec::new();
            let mut choice = Leftmost::default();
            all.find(text.as_bytes(), |it| chosen.extend(choice.next(it)));
            chosen.extend(choice.end());
            let chosen: Vec<_> = chosen.iter().map(|it| (it.start, it.end)).collect();
            wanted.sort_by_key(|it| (it.start, usize::MAX - it.end));
            let (mut leftmost, mut from) = (Vec::new(), 0);
            for it in wanted.iter().filter(|it| it.start < it.end) {
                if it.start >= from {
                    leftmost.push((it.start, it.end));
                    from = it.end;
                }
            }
            prop_assert_eq!(chosen, leftmost);
        }
    }

    #[test]
    fn a_list_with_an_empty_key_is_refused() {
        assert!(Keys::new(["a", ""]).is_none());
    }
}
