//! The right edge of the tree: all that appending needs.

use super::{empty_root, node_hash};
use crate::Digest;

/// The roots of the complete subtrees that `size` leaves fall into, as a binary number falls into
/// powers of two. At most 64 hashes, whatever the size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// INVARIANT (Peaks): one for each one bit of `size`, the largest subtree first.
    peaks: Vec<Digest>,
}

impl Frontier {
    /// The tree without leaves.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes up a stored frontier.
    pub fn from_peaks(size: u64, peaks: Vec<Digest>) -> Result<Self, FrontierError> {
        if size > TREE_SIZE_MAX {
            return Err(FrontierError::TooLarge { size });
        }
        let expected = size.count_ones();
        if peaks.len() as u64 != u64::from(expected) {
            return Err(FrontierError::PeakCount { size, expected, found: peaks.len() });
        }
        Ok(Self { size, peaks })
    }

    /// Appends a leaf, hashing once on average.
    pub fn push(&mut self, leaf: Digest) {
        let mut node = leaf;
        // As with a carry: each trailing one bit is a subtree that the new one completes.
        for _ in 0..self.size.trailing_ones() {
            // By INVARIANT (Peaks) there is one to take.
            if let Some(left) = self.peaks.pop() {
                node = node_hash(&left, &node);
            }
        }
        self.peaks.push(node);
        // No one lives to append the leaves between TREE_SIZE_MAX and the end of the type.
        self.size += 1;
    }

    /// How many leaves were appended.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The root over all leaves.
    #[must_use]
    pub fn root(&self) -> Digest {
        fold_peaks(&self.peaks)
    }

    /// The subtree roots to store, the largest subtree first.
    #[must_use]
    pub fn peaks(&self) -> &[Digest] {
        &self.peaks
    }
}

/// The root above `peaks`, the largest subtree first.
pub(super) fn fold_peaks(peaks: &[Digest]) -> Digest {
    match peaks.split_last() {
        None => empty_root(),
        Some((last, larger)) => {
            larger.iter().rev().fold(*last, |right, left| node_hash(left, &right))
        }
    }
}

/// Why stored peaks are not a frontier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontierError {
    /// The number of peaks follows from the size.
    #[error("a tree of {size} leaves has {expected} peaks, not {found}")]
    PeakCount {
        /// The stated size.
        size: u64,
        /// The peaks of a tree of this size.
        expected: u32,
        /// The peaks given.
        found: usize,
    },
    /// No journal is that long.
    #[error("a tree of {size} leaves is larger than {TREE_SIZE_MAX}")]
    TooLarge {
        /// The stated size.
        size: u64,
    },
}

/// Leaves that a stored frontier may state.
pub const TREE_SIZE_MAX: u64 = 1 << 62;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_pairs_leaves_as_rfc_6962_does() {
        let [a, b, c] = [b"a", b"b", b"c"].map(|text| Digest::of(text));
        let mut frontier = Frontier::new();
        assert_eq!(frontier.root(), empty_root());
        frontier.push(a);
        assert_eq!(frontier.root(), a);
        frontier.push(b);
        assert_eq!(frontier.root(), node_hash(&a, &b));
        frontier.push(c);
        assert_eq!(frontier.root(), node_hash(&node_hash(&a, &b), &c));
        assert_eq!(frontier.peaks(), [node_hash(&a, &b), c]);
        assert_eq!(frontier.size(), 3);
    }

    #[test]
    fn a_stored_frontier_goes_on_where_it_stopped() {
        let mut whole = Frontier::new();
        let mut resumed = Frontier::new();
        for n in 0..100u8 {
            whole.push(Digest::of(&[n]));
            resumed = Frontier::from_peaks(resumed.size(), resumed.peaks().to_vec()).unwrap();
            resumed.push(Digest::of(&[n]));
            assert_eq!(whole, resumed);
        }
    }

    #[test]
    fn the_number_of_peaks_must_fit_the_size() {
        let refused = Frontier::from_peaks(5, vec![Digest::ZERO]).unwrap_err();
        assert_eq!(refused, FrontierError::PeakCount { size: 5, expected: 2, found: 1 });
        assert!(Frontier::from_peaks(0, vec![Digest::ZERO]).is_err());
        assert!(Frontier::from_peaks(4, vec![Digest::ZERO; 2]).is_err());
        assert_eq!(Frontier::from_peaks(0, Vec::new()), Ok(Frontier::new()));
    }

    #[test]
    fn a_size_near_the_end_of_the_type_is_refused() {
        let refused = Frontier::from_peaks(u64::MAX, vec![Digest::ZERO; 64]).unwrap_err();
        assert_eq!(refused, FrontierError::TooLarge { size: u64::MAX });
        let mut largest = Frontier::from_peaks(TREE_SIZE_MAX, vec![Digest::ZERO]).unwrap();
        largest.push(Digest::ZERO);
        assert_eq!(largest.size(), TREE_SIZE_MAX + 1);
    }
}
