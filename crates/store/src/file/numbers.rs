//! Numbers of rows, oldest first, and the newest of many such lists.

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

    /// Marks those from `start` up to `end`.
    fn mark(&self, start: i64, end: i64, there: &mut [bool]) {
        if self.newest < start {
            return;
        }
        let before =
            if self.newest < end { self.len() } else { self.all.partition_point(|it| *it < end) };
        let newer = self.all.get(..before).unwrap_or_default().iter().rev();
        for n in newer.take_while(|it| **it >= start) {
            let place = usize::try_from(n - start).ok().and_then(|it| there.get_mut(it));
            place.into_iter().for_each(|it| *it = true);
        }
    }

    /// Newest first.
    pub(super) fn rev(&self) -> impl Iterator<Item = i64> {
        self.all.iter().rev().copied()
    }
}

/// The newest `most` of what is in any of the lists and fits, newest first, each once.
///
/// Looked for in one stretch of numbers after the other, each twice as long: where many lists hold the same rows, which
/// is so if many words begin alike, a row costs a mark for each and is not put in order again and again.
pub(super) fn newest_of<'a>(
    lists: impl Iterator<Item = &'a Numbers>,
    most: usize,
    fits: impl Fn(&i64) -> bool,
) -> Vec<i64> {
    let lists: Vec<&Numbers> = lists.filter(|it| it.len() > 0).collect();
    let mut found = Vec::new();
    let mut end = lists.iter().map(|it| it.newest.saturating_add(1)).max().unwrap_or_default();
    let mut length = STRETCH_MIN;
    while end > 0 && found.len() < most {
        let start = end.saturating_sub(length).max(0);
        let mut there = vec![false; usize::try_from(end - start).unwrap_or(0)];
        lists.iter().for_each(|it| it.mark(start, end, &mut there));
        let numbers =
            (start..end).rev().zip(there.into_iter().rev()).filter(|it| it.1).map(|it| it.0);
        found.extend(numbers.filter(|it| fits(it)).take(most - found.len()));
        end = start;
        length = length.saturating_mul(2);
    }
    found
}

/// The first stretch that is looked at.
const STRETCH_MIN: i64 = 1024;

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
        let merged = |lists: &[Numbers]| newest_of(lists.iter(), 9, |_| true);
        assert_eq!(merged(&lists), [9, 5, 4, 2, 1]);
        let [mut one, none, two, mut three] = lists;
        one.remove(9);
        one.remove(7);
        three.remove(2);
        assert_eq!((one.len(), three.len(), one.contains(4), one.contains(9)), (2, 0, true, false));
        assert_eq!(one.rev().collect::<Vec<_>>(), [4, 1]);
        assert_eq!(merged(&[one, none, two, three]), [5, 4, 1]);
        assert_eq!(merged(&[]), [] as [i64; 0]);
    }

    #[test]
    fn however_far_apart_they_lie_as_many_come_as_are_wanted() {
        let far = [of(&[1, 3, 5_000, 9_999, 10_000, 200_000]), of(&[2, 3, 10_000, 300_001])];
        let all = [300_001, 200_000, 10_000, 9_999, 5_000, 3, 2, 1];
        for most in 0..=all.len() {
            assert_eq!(newest_of(far.iter(), most, |_| true), all[..most]);
        }
        assert_eq!(newest_of(far.iter(), 2, |it| it % 2 == 1), [300_001, 9_999]);
        assert_eq!(newest_of(far.iter(), 9, |_| false), [] as [i64; 0]);
    }
}
