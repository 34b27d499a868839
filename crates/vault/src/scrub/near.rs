//! What is almost a value: the same but for a few letters, as somebody writes who knows the rest and tries.
//!
//! INVARIANT (NoOracle): of a value of which four fifths are the same, some [`SEED_BYTES`] in a row are, wherever the others
//! stand. So each text is looked through for every such run of every value, and where one stands the whole is compared.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::coded::{Alphabet, TWICE};
use super::needles::number;
use crate::secret::Secret;

/// A value of so many bytes can be missed by little: of shorter ones too much is the same by chance, and to compare
/// longer ones wherever they seem to begin would take long.
const NEAR_BYTES: RangeInclusive<usize> = 16..=512;
/// So many values in one text that are almost a secret are told apart.
const NEAR_MAX: usize = 1024;
/// By so many bytes in a row it is seen that a value may stand there.
const SEED_BYTES: usize = 4;
/// A run that is in more values than this says nothing of any: all tokens of one service begin alike.
const SHARED_MAX: usize = 8;
/// Most runs in a text are of no value, which is seen in a table of so many bits.
const TABLE_BITS: u32 = 20;

/// The values that can be missed by little.
pub(super) struct Near {
    values: Vec<Value>,
    /// Each run of letters: in which values, and where in them.
    seeds: HashMap<u32, Vec<(u32, u32)>>,
    table: Vec<u64>,
}

struct Value {
    text: Zeroizing<Vec<u8>>,
    /// As somebody would count it who wrote it the other way round.
    reversed: bool,
    secret: usize,
}

impl Near {
    pub(super) fn new(secrets: &[(usize, Arc<Secret>)]) -> Self {
        let mut values = Vec::new();
        for (secret, value) in secrets {
            let plain = value.plain();
            if NEAR_BYTES.contains(&plain.len()) {
                let backwards: String = plain.chars().rev().collect();
                for (text, reversed) in [(plain.as_bytes(), false), (backwards.as_bytes(), true)] {
                    let text = Zeroizing::new(text.to_ascii_lowercase());
                    values.push(Value { text, reversed, secret: *secret });
                }
            }
        }
        let mut seeds: HashMap<u32, Vec<(u32, u32)>> = HashMap::new();
        for (value, at) in (0_u32..).zip(&values) {
            for (place, run) in (0_u32..).zip(at.text.windows(SEED_BYTES)) {
                let Ok(run) = <[u8; SEED_BYTES]>::try_from(run) else { continue };
                let shared = seeds.entry(u32::from_be_bytes(run)).or_default();
                if shared.len() <= SHARED_MAX {
                    shared.push((value, place));
                }
            }
        }
        seeds.retain(|_, shared| shared.len() <= SHARED_MAX);
        let mut table = vec![0; 1 << (TABLE_BITS - u64::BITS.ilog2())];
        for run in seeds.keys() {
            let (word, bit) = place(*run);
            if let Some(word) = table.get_mut(word) {
                *word |= bit;
            }
        }
        Self { values, seeds, table }
    }

    /// Looks through a text as it stands.
    pub(super) fn look(&self, bytes: &[u8], near: &mut HashSet<(usize, u64)>) {
        if self.values.is_empty() {
            return;
        }
        let mut run = 0_u32;
        for (end, byte) in (1_usize..).zip(bytes) {
            run = run << u8::BITS | u32::from(byte.to_ascii_lowercase());
            let (word, bit) = place(run);
            if end < SEED_BYTES || self.table.get(word).is_none_or(|it| it & bit == 0) {
                continue;
            }
            for (value, place) in self.seeds.get(&run).into_iter().flatten() {
                let value = self.values.get(*value as usize);
                let start =
                    end.checked_sub(SEED_BYTES).and_then(|it| it.checked_sub(*place as usize));
                let Some((value, start)) = value.zip(start) else { continue };
                let there = bytes.get(start..start.saturating_add(value.text.len()));
                let Some(there) = there.filter(|it| is_near(it, &value.text)) else { continue };
                if near.len() >= NEAR_MAX {
                    return;
                }
                near.insert((value.secret, value.number(there)));
            }
        }
    }

    /// Looks through what is encoded in a text as well.
    pub(super) fn look_in_codes(&self, bytes: &[u8], near: &mut HashSet<(usize, u64)>) {
        if self.values.is_empty() {
            return;
        }
        for alphabet in Alphabet::ALL {
            alphabet.decode_all(bytes, NEAR_BYTES.start(), &mut |once| {
                self.look(once, near);
                if alphabet == TWICE {
                    let again = &mut |twice: &[u8]| self.look(twice, near);
                    alphabet.decode_all(once, NEAR_BYTES.start(), again);
                }
            });
        }
    }
}

impl Value {
    fn number(&self, there: &[u8]) -> u64 {
        let mut there = Zeroizing::new(there.to_ascii_lowercase());
        if self.reversed {
            there.reverse();
        }
        number(&there)
    }
}

/// Are three quarters of it the same, and not all? Tokens of one service have less than that in common.
fn is_near(there: &[u8], value: &[u8]) -> bool {
    let same = there.iter().zip(value).filter(|(one, other)| one.eq_ignore_ascii_case(other));
    let same = same.count();
    same < value.len() && same >= value.len().div_ceil(4) * 3
}

/// Where a run stands in the table: the word, and the bit in it.
fn place(run: u32) -> (usize, u64) {
    let hash = run.wrapping_mul(0x9e37_79b1) >> (u32::BITS - TABLE_BITS);
    ((hash / u64::BITS) as usize, 1 << (hash % u64::BITS))
}
