//! Classes of phrases that are looked for in folded text, as whole words and in one pass.

use aho_corasick::{AhoCorasick, BuildError, MatchKind};

use crate::text::Normal;

/// Phrases, each of a class.
pub(crate) struct Phrases<C> {
    automaton: AhoCorasick,
    classes: Vec<C>,
}

/// A phrase that was found, by its place in the folded text.
pub(crate) struct Phrase<C> {
    pub(crate) class: C,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<C: Copy> Phrases<C> {
    /// Makes a set of lists, in which phrases are parted by a comma and a space.
    pub(crate) fn new(lists: &[(C, &str)]) -> Result<Self, BuildError> {
        let (mut all, mut classes) = (Vec::new(), Vec::new());
        for (class, list) in lists {
            for phrase in list.split(", ") {
                all.push(Normal::new(phrase).bytes().to_owned());
                classes.push(*class);
            }
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&all)?;
        Ok(Self { automaton, classes })
    }

    /// Finds the phrases of a text in the order of their ends, also those within others.
    pub(crate) fn find(&self, folded: &Normal) -> impl Iterator<Item = Phrase<C>> {
        let text = folded.bytes();
        self.automaton.find_overlapping_iter(text).filter_map(move |found| {
            let (start, end) = (found.start(), found.end());
            let class = *self.classes.get(found.pattern().as_usize())?;
            is_whole(text, start, end).then_some(Phrase { class, start, end })
        })
    }
}

/// Is it no part of a longer word?
fn is_whole(text: &[u8], start: usize, end: usize) -> bool {
    let is_letter =
        |at: Option<usize>| at.and_then(|it| text.get(it)).is_some_and(u8::is_ascii_alphanumeric);
    let goes_on_before = is_letter(Some(start)) && is_letter(start.checked_sub(1));
    let goes_on_behind = is_letter(end.checked_sub(1)) && is_letter(Some(end));
    !goes_on_before && !goes_on_behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_as_whole_words() {
        let phrases = Phrases::new(&[(1, "read, read all"), (2, "<x>")]).unwrap();
        let found: Vec<(i32, usize)> = phrases
            .find(&Normal::new("Reads; READ  all, a<x>b, bread, read"))
            .map(|it| (it.class, it.start))
            .collect();
        assert_eq!(found, [(1, 7), (1, 7), (2, 18), (1, 31)]);
    }
}
