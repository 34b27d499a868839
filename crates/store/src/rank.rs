//! Which rows answer a query best: those with the most words of it, where a word that few rows have
//! counts more; among equals the newest.
//!
//! Every word is looked for in the newest rows that have it, and in no more than [`LOOKED_AT_MAX`]: a
//! word that is in every row says nothing, and counting all of them would take longer than everything
//! else.

use std::cmp::Reverse;
use std::collections::HashMap;

/// How many rows with a word are looked at, the newest.
pub(crate) const LOOKED_AT_MAX: usize = 1000;

/// The best rows, best first. `found` has the rows of each word, `rows` is how many there are in all.
pub(crate) fn best(found: &[Vec<i64>], rows: i64, limit: usize) -> Vec<i64> {
    let mut scores: HashMap<i64, u64> = HashMap::new();
    for word in found {
        let weight = weight(word.len(), rows);
        for row in word {
            let score = scores.entry(*row).or_default();
            *score = score.saturating_add(weight);
        }
    }
    let mut ranked: Vec<(u64, i64)> = scores.into_iter().map(|(row, score)| (score, row)).collect();
    ranked.sort_unstable_by_key(|it| Reverse(*it));
    ranked.into_iter().take(limit).map(|(_, row)| row).collect()
}

/// The inverse frequency of a word, in thousandths, as BM25 has it.
fn weight(found: usize, rows: i64) -> u64 {
    let (found, rows) = (found as f64, rows.max(1) as f64);
    let weight = (1.0 + (rows - found + 0.5).max(0.5) / (found + 0.5)).ln();
    // A word that is everywhere still counts for something.
    (weight * 1000.0).max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_count_more_than_common_ones_and_new_rows_more_than_old() {
        let common: Vec<i64> = (1..=100).collect();
        assert_eq!(best(&[common.clone(), vec![7]], 100, 3), [7, 100, 99]);
        assert_eq!(best(&[vec![7, 8], vec![8, 9]], 100, 3), [8, 9, 7]);
        assert_eq!(best(&[vec![7, 8], vec![9]], 100, 3), [9, 8, 7]);
        assert_eq!(best(&[common], 100, 2), [100, 99]);
        assert_eq!(best(&[], 0, 5), [] as [i64; 0]);
    }
}
