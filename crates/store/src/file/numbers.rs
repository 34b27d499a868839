//! Numbers of rows, oldest first, and the newest of many such lists.

use std::collections::BinaryHeap;

/// Numbers of rows, oldest first. The newest lies beside the list: whoever compares many lists need not look into each.
#[derive(Default)]
pub(super) struct Numbers {
    newest: i64,
    all: Vec<i64>,
}

impl Numbers {
    /// Adds one that is newer than all.
    pub(super) fn push(&mut self, n: i64) {
        self.newest = n;
        self.all.push(n);
    }

    pub(super) fn remove(&mut self, n: i64) {
        if let Ok(at) = self.all.binary_search(&n) {
            self.all.remove(at);
        }
        self.newest = self.all.last().copied().unwrap_or_default();
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn contains(&self, n: i64) -> bool {
        self.all.binary_search(&n).is_ok()
    }

    /// Newest first.
    pub(super) fn rev(&self) -> impl Iterator<Item = i64> {
        self.all.iter().rev().copied()
    }
}

/// What is in any of the lists, newest first, each once.
pub(super) fn newest_of<'a, I>(lists: I) -> impl Iterator<Item = i64> + use<'a, I>
where
    I: Iterator<Item = &'a Numbers>,
{
    let heads = lists.filter_map(|it| Some((it.newest, it.all.get(..it.len().checked_sub(1)?)?)));
    let mut heads: BinaryHeap<(i64, &[i64])> = heads.collect();
    let mut last = None;
    std::iter::from_fn(move || {
        loop {
            let (n, rest) = heads.pop()?;
            heads.extend(rest.split_last().map(|(n, rest)| (*n, rest)));
            if last != Some(n) {
                last = Some(n);
                return last;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[i64]) -> Numbers {
        let mut numbers = Numbers::default();
        all.iter().for_each(|it| numbers.push(*it));
        numbers
    }

    #[test]
    fn the_newest_of_many_lists_come_first_and_once() {
        let lists = [of(&[1, 4, 9]), of(&[]), of(&[4, 5]), of(&[2])];
        let merged = |lists: &[Numbers]| newest_of(lists.iter()).collect::<Vec<_>>();
        assert_eq!(merged(&lists), [9, 5, 4, 2, 1]);
        let [mut one, none, two, mut three] = lists;
        one.remove(9);
        one.remove(7);
        three.remove(2);
        assert_eq!((one.len(), three.len(), one.contains(4), one.contains(9)), (2, 0, true, false));
        assert_eq!(one.rev().collect::<Vec<_>>(), [4, 1]);
        assert_eq!(merged(&[one, none, two, three]), [5, 4, 1]);
    }
}
