//! Finds words of the vocabulary in one pass and rules among them.
//!
//! Each class of words remembers its last few places. When a word comes that ends a rule, the words
//! before it are looked up there: constant work per word, so the whole is linear.

use std::sync::LazyLock;

use super::Finding;
use super::lexicon::{Lexicon, is_behind_escape};
use super::rules::{RULES, Rule};
use super::vocabulary::{CLASSES, Class, words};
use crate::fold::Folded;

/// Places that a class remembers.
const REMEMBERED: usize = 4;
/// Findings of one rule that are kept.
const PER_RULE_MAX: u8 = 32;

/// Finds the signs in folded text.
pub(super) fn find(folded: &Folded) -> Vec<Finding> {
    let mut search = Search::new(folded);
    let looked = ENGINE.as_ref().and_then(|engine| {
        engine.words.find(folded.bytes(), |found| {
            let Some(class) = engine.classes.get(found.word) else { return };
            let place = Place { start: found.start, end: found.end };
            if search.is_whole(place) && (*class != Class::ToAddress || search.is_address(place)) {
                let endings = engine.endings.get(*class as usize).map_or(&[][..], Vec::as_slice);
                search.see(*class, place, endings);
            }
        })
    });
    if looked.is_none() {
        // INVARIANT (FailClosed): a detector that does not work clears nothing.
        let end = folded.original(folded.bytes().len());
        return RULES.first().map(|it| it.finding(0, end)).into_iter().collect();
    }
    search.findings
}

struct Engine {
    words: Lexicon,
    /// The class of each word.
    classes: Vec<Class>,
    /// The rules that end with a word of each class, by their place in the list.
    endings: Vec<Vec<usize>>,
}

static ENGINE: LazyLock<Option<Engine>> = LazyLock::new(|| {
    let (mut patterns, mut classes) = (Vec::new(), Vec::new());
    for (class, word) in words() {
        patterns.push(Folded::new(word).bytes().to_owned());
        classes.push(class);
    }
    let mut endings = vec![Vec::new(); CLASSES];
    for (index, rule) in RULES.iter().enumerate() {
        if let Some(endings) = rule.parts.last().and_then(|it| endings.get_mut(*it as usize)) {
            endings.push(index);
        }
    }
    Lexicon::new(&patterns).map(|words| Engine { words, classes, endings })
});

/// How far a host name is followed, in bytes.
const HOST_BYTES_MAX: usize = 64;

fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-')
}

/// Where something stands in the folded text.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: usize,
    end: usize,
}

struct Search<'a> {
    folded: &'a Folded,
    text: &'a [u8],
    recent: [[Option<Place>; REMEMBERED]; CLASSES],
    counts: Vec<u8>,
    findings: Vec<Finding>,
}

impl<'a> Search<'a> {
    fn new(folded: &'a Folded) -> Self {
        Self {
            folded,
            text: folded.bytes(),
            recent: [[None; REMEMBERED]; CLASSES],
            counts: vec![0; RULES.len()],
            findings: Vec::new(),
        }
    }

    fn see(&mut self, class: Class, place: Place, endings: &[usize]) {
        for index in endings {
            let (Some(rule), Some(count)) = (RULES.get(*index), self.counts.get(*index)) else {
                continue;
            };
            if *count < PER_RULE_MAX
                && let Some(start) = self.complete(rule, place)
            {
                self.findings.push(rule.finding(self.folded.original(start), self.end(place.end)));
                self.counts.iter_mut().skip(*index).take(1).for_each(|it| *it += 1);
            }
        }
        if let Some(recent) = self.recent.get_mut(class as usize) {
            recent.rotate_right(1);
            if let Some(newest) = recent.first_mut() {
                *newest = Some(place);
            }
        }
    }

    /// Where the rule that `last` would end began, if all its words are there.
    fn complete(&self, rule: &Rule, last: Place) -> Option<usize> {
        let mut start = last.start;
        for class in rule.parts.iter().rev().skip(1) {
            let recent = self.recent.get(*class as usize)?;
            let before = recent.iter().flatten().find(|it| it.end <= start)?;
            start = before.start;
        }
        // Looked at only when near, or a long text would be read over and over.
        let near = last.end - start <= rule.within_bytes;
        let fits = near && (rule.across_sentences || self.is_one_sentence(start, last.end));
        fits.then_some(start)
    }

    fn is_one_sentence(&self, start: usize, end: usize) -> bool {
        let between = self.text.get(start..end).unwrap_or_default();
        !between.windows(2).any(|it| matches!(it, b". " | b"? "))
    }

    /// Is it not part of a longer word?
    fn is_whole(&self, place: Place) -> bool {
        let at = |back: usize| place.start.checked_sub(back).and_then(|it| self.text.get(it));
        let joined = |inner: Option<&u8>, outer: Option<&u8>| {
            inner.is_some_and(u8::is_ascii_alphanumeric)
                && outer.is_some_and(u8::is_ascii_alphanumeric)
        };
        let escape = is_behind_escape(self.text, place.start);
        let last = place.end.checked_sub(1).and_then(|it| self.text.get(it));
        (escape || !joined(at(0), at(1))) && !joined(last, self.text.get(place.end))
    }

    /// Is the `@` here the middle of an address?
    fn is_address(&self, at: Place) -> bool {
        let before = at.start.checked_sub(1).and_then(|it| self.text.get(it));
        let host = self.text.get(at.end..).unwrap_or_default().iter();
        let host = host.take(HOST_BYTES_MAX).take_while(|it| is_host(**it));
        let (mut length, mut dot) = (0, false);
        for byte in host {
            length += 1;
            dot |= *byte == b'.' && length > 1;
        }
        before.is_some_and(|it| it.is_ascii_alphanumeric()) && dot
    }

    /// The end in the original of something that ends at `end` in the folded text.
    fn end(&self, end: usize) -> usize {
        end.checked_sub(1).map_or(0, |it| self.folded.original(it) + 1)
    }
}
