//! Reads delegations in what the user said: which clause leaves what open, and by which words it names the source.

use std::ops::Range;

use super::asked::singular;
use super::delegation::{DELEGATIONS_MAX, Delegation, Named, Slots};
use super::parts::{Part, Read, Spoken};
use super::pointing::{
    Pointing, is_direction, is_place_word, is_possessive, pointing, points_unspaced,
};
use super::tasks::hands_on_tasks;
use super::words::{GUIDES, LINKS, SETS};

/// Words that begin another thing, unless they belong to the one before.
const DETERMINERS: &[&str] =
    &["the", "a", "an", "my", "his", "her", "our", "their", "its", "your", "this", "that"];

/// The delegations in a text, and the source that it named last.
pub(super) fn delegations(text: &str) -> (Vec<Delegation>, Named) {
    let read = Read::of(text);
    let mut found = Vec::new();
    if let Some(at) = hands_on_tasks(&read.words) {
        found.push(Delegation { source: read.source_of(at), ..Delegation::of(Slots::TASKS) });
    }
    for sentence in read.sentences.iter().filter(|it| !it.is_doubted) {
        if found.len() < DELEGATIONS_MAX {
            read.point(sentence, &mut found);
        }
    }
    for part in &read.parts {
        let is_doubted = read.sentences.get(part.sentence).is_none_or(|it| it.is_doubted);
        if found.len() < DELEGATIONS_MAX && !is_doubted {
            read.cue(part, &mut found);
        }
    }
    found.truncate(DELEGATIONS_MAX);
    for delegation in &mut found {
        delegation.source = std::mem::take(&mut delegation.source).in_order();
    }
    let last = read.parts.iter().rev().map(|it| &it.named).find(|it| it.is_sure());
    (found, last.cloned().unwrap_or_default().in_order())
}

impl Delegation {
    fn of(slots: Slots) -> Self {
        Self { slots, ..Self::default() }
    }
}

impl Read {
    /// Clauses that say where something stands.
    fn point(&self, sentence: &Spoken, found: &mut Vec<Delegation>) {
        let own = self.words.get(sentence.range.clone()).unwrap_or_default();
        let start = sentence.range.start;
        for Pointing { slots, source, is_before } in pointing(&sentence.folded, own) {
            let source = source.start.saturating_add(start)..source.end.saturating_add(start);
            let source = self.within_part(source, is_before);
            let source = if is_before { source } else { self.one_thing(source) };
            let source = self.source_in(source);
            found.push(Delegation { source, ..Delegation::of(slots) });
        }
        if points_unspaced(&sentence.folded) {
            found.push(Delegation { is_any: true, ..Delegation::of(Slots::ANYTHING) });
        }
    }

    /// Words of a part by which it hands something on. The source stands behind a word for a place, or around.
    fn cue(&self, part: &Part, found: &mut Vec<Delegation>) {
        for (list, slots) in [(&SETS, Slots::EACH), (&LINKS, Slots::LINK), (&GUIDES, Slots::WAY)] {
            let is = |at: &usize| list.has(self.word(*at)) || list.has(singular(self.word(*at)));
            let Some(at) = part.range.clone().find(is) else { continue };
            let place = (at..part.range.end).find(|it| is_place_word(self.word(*it)));
            let behind = place.map(|it| self.one_thing(it.saturating_add(1)..part.range.end));
            let source = match behind.filter(|it| !self.named(it.clone()).is_empty()) {
                Some(behind) => self.source_in(behind),
                None => self.source_of(at),
            };
            found.push(Delegation { source, ..Delegation::of(slots) });
        }
    }

    /// The source that the words in this range name. Where they are none, it is the one that was named last before them.
    fn source_in(&self, range: Range<usize>) -> Named {
        let mut named = self.named(range.clone());
        if named.is_marked {
            return named;
        }
        let part = self.part_at(range.start);
        let start = self.parts.get(part).map_or(0, |it| it.range.start);
        let before = self.named(start..range.start.max(start));
        let earlier = std::iter::once(&before)
            .chain(self.parts.get(..part).unwrap_or_default().iter().rev().map(|it| &it.named));
        let later = self.parts.get(part.saturating_add(1)..).unwrap_or_default();
        let again = || {
            let mut all = earlier.clone().chain(later.iter().map(|it| &it.named));
            all.find(|it| it.is_marked && it.shares_word(&named)).cloned()
        };
        // *Her letter*: whoever was named last; *the letter*: what was called so elsewhere, or the last thing with a name; *it*:
        // what was spoken of last.
        let is_of_somebody = range.clone().any(|it| is_possessive(self.word(it)));
        let last = || match before.is_marked {
            true => Some(before.clone()),
            false => earlier.clone().skip(1).find(|it| it.is_sure()).cloned(),
        };
        let meant = match () {
            () if is_of_somebody => last(),
            () if named.is_sure() || !named.kinds.is_empty() => {
                again().or_else(|| earlier.clone().find(|it| it.is_thing).cloned())
            }
            () if named.is_named => again(),
            () => last(),
        };
        if let Some(aside) = later.first().filter(|it| it.is_aside && it.named.is_thing) {
            named.add_names(&aside.named);
        }
        if let Some(meant) = meant {
            named.add_names(&meant);
            if named.kinds.is_empty() {
                named.kinds = meant.kinds;
            }
        }
        named
    }

    /// The source that is spoken of around a word: in its part, in those behind it of the same sentence, or before.
    fn source_of(&self, at: usize) -> Named {
        let part = self.part_at(at);
        let Some(own) = self.parts.get(part) else { return Named::default() };
        if own.named.is_sure() {
            return self.source_in(own.range.clone());
        }
        let later = self.parts.get(part.saturating_add(1)..).unwrap_or_default();
        let mut later = later.iter().take_while(|it| it.sentence == own.sentence);
        let mut named = own.named.clone();
        let earlier = self.parts.get(..part).unwrap_or_default();
        let meant = later
            .find(|it| it.named.is_sure())
            .or_else(|| earlier.iter().rev().find(|it| it.named.is_sure()));
        if let Some(meant) = meant {
            let meant = self.source_in(meant.range.clone());
            named.add_names(&meant);
            named.kinds.extend(meant.kinds);
        }
        named
    }

    /// A range, cut to the part that it begins in, or that it ends in where it stands before what it says.
    fn within_part(&self, range: Range<usize>, is_before: bool) -> Range<usize> {
        let holds = |it: &&Part| it.range.start < range.end && it.range.end > range.start;
        let part = match is_before {
            true => self.parts.iter().rfind(holds),
            false => self.parts.iter().find(holds),
        };
        let Some(part) = part else { return range };
        range.start.max(part.range.start)..range.end.min(part.range.end)
    }

    /// A range, cut where another thing is spoken of than the first: *the sheet of the club | a summary*, *the bill | to Bob*.
    fn one_thing(&self, range: Range<usize>) -> Range<usize> {
        let mut start = range.clone();
        let first = start.find(|it| !self.named(*it..it.saturating_add(1)).is_empty());
        let Some(first) = first else { return range };
        let begins = |at: &usize| {
            let before = self.word(at.saturating_sub(1));
            let is_new = DETERMINERS.contains(&self.word(*at)) && !joins(before);
            is_new || is_direction(self.word(*at))
        };
        let end = (first.saturating_add(1)..range.end).find(begins);
        range.start..end.unwrap_or(range.end)
    }
}

/// Does a word tie what follows to what stands before it?
fn joins(word: &str) -> bool {
    word == "of" || is_place_word(word)
}

#[cfg(test)]
mod tests;
