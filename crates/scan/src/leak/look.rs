//! One look at one block of text.

use std::ops::{ControlFlow, Range};
use std::sync::LazyLock;

use super::grams::{GRAM_BYTES, Hit};
use super::patterns::{Broken, Found, Means, Patterns};
use super::squeeze::Squeezed;
use super::structure::each_window;
use super::{Kind, Leak, Registry, Rule};

/// Copied letters that lie closer together than this belong to one copy: a word may be put in between.
const GAP_LETTERS: usize = 48;
/// Names, anchors and the like that are taken of one block.
const FOUND_MAX: usize = 1 << 16;
/// Passages of one copy that are told apart. Those that are said over and over are put together before they count; so many that lie apart
/// are a copy many times over.
const PASSAGES_MAX: usize = 256;
/// Copied letters from which on it is a copy, some ten words.
const COPIED_MIN: usize = 56;
/// The same where the text says that it tells of its instructions.
const COPIED_FRAMED_MIN: usize = 28;
/// The least that a copy of a short prompt has, and the share of it in percent.
const COPIED_SHORT_MIN: usize = 24;
const COPIED_SHORT_PERCENT: usize = 70;
/// How far before a passage the text may say what it tells, in bytes, and how far behind it.
const FRAME_BEFORE_BYTES: usize = 600;
const FRAME_BEHIND_BYTES: usize = 120;
/// Anchors, and their share in percent, from which on a text that says so is a translation.
const ANCHORS_FRAMED_MIN: usize = 3;
const ANCHORS_FRAMED_PERCENT: usize = 25;
/// The same where it does not say so.
const ANCHORS_MIN: usize = 6;
const ANCHORS_PERCENT: usize = 80;

/// What is looked for whatever the prompt is.
static FIXED: LazyLock<Patterns> = LazyLock::new(Patterns::fixed);

/// A block of text, ready to be compared.
pub(super) struct Look<'a> {
    registry: &'a Registry,
    text: &'a str,
    squeezed: Squeezed,
    /// Where the text speaks of its instructions, in order.
    framings: Vec<usize>,
    anchors: Vec<(Range<usize>, usize)>,
}

/// A copy as it grows, by places in the squeezed text.
struct Copy {
    start: usize,
    end: usize,
    /// The passages of the prompt that are in it. What is said twice is given away once.
    passages: Vec<Range<usize>>,
}

impl Copy {
    fn new(hit: Hit) -> Self {
        let Hit { at, in_prompt } = hit;
        let passages = std::iter::once(in_prompt..in_prompt + GRAM_BYTES).collect();
        Self { start: at, end: at + GRAM_BYTES, passages }
    }

    fn add(&mut self, hit: Hit) {
        let Hit { at, in_prompt } = hit;
        let end = in_prompt + GRAM_BYTES;
        if self.passages.len() >= PASSAGES_MAX {
            self.passages = united(std::mem::take(&mut self.passages));
            // Room for as many again, or it would be done for each one.
            self.passages.truncate(PASSAGES_MAX / 2);
        }
        match self.passages.last_mut() {
            Some(last) if (last.start..=last.end).contains(&in_prompt) => {
                last.end = last.end.max(end);
            }
            Some(_) | None => self.passages.push(in_prompt..end),
        }
        self.end = at + GRAM_BYTES;
    }

    /// The letters of the prompt that are in it.
    fn letters(&self) -> usize {
        united(self.passages.clone()).iter().map(|it| it.end - it.start).sum()
    }
}

/// Passages in order, those that overlap as one.
fn united(mut passages: Vec<Range<usize>>) -> Vec<Range<usize>> {
    passages.sort_by_key(|it| it.start);
    passages.dedup_by(|next, kept| {
        let overlaps = next.start <= kept.end;
        if overlaps {
            kept.end = kept.end.max(next.end);
        }
        overlaps
    });
    passages
}

impl<'a> Look<'a> {
    pub(super) fn new(registry: &'a Registry, text: &'a str) -> Self {
        let (framings, anchors) = (Vec::new(), Vec::new());
        Self { registry, text, squeezed: Squeezed::new(text), framings, anchors }
    }

    /// Calls `see` with every leak.
    pub(super) fn find(mut self, mut see: impl FnMut(Leak)) {
        let mut found = Vec::new();
        let looked = [&*FIXED, &self.registry.patterns].iter().try_for_each(|it| {
            it.find(self.text, &self.squeezed, |one| {
                found.push(one);
                // More than one for each byte: names within names, which are denied whatever else is there.
                if found.len() < FOUND_MAX {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })
        });
        if looked == Err(Broken) {
            // INVARIANT (FailClosed): a guard that does not work lets nothing pass.
            see(self.leak(Kind::PromptText, true, 0..self.text.len()));
            return;
        }
        for one in found {
            self.take(one, &mut see);
        }
        self.framings.sort_unstable();
        self.copies(&mut see);
        self.paraphrases(&mut see);
        self.skeletons(&mut see);
        self.translations(&mut see);
        if let Some(plain) = self.squeezed.without_digits() {
            self.squeezed = plain;
            self.drawn_in_digits(&mut see);
        }
    }

    /// Looks once more for names and copies, with digits read as the letters that they are drawn for.
    fn drawn_in_digits(&self, see: &mut impl FnMut(Leak)) {
        for patterns in [&*FIXED, &self.registry.patterns] {
            // That it works was seen before.
            let _ = patterns.find(self.text, &self.squeezed, |found| {
                let Means::Leak(kind) = found.means else { return ControlFlow::Continue(()) };
                see(self.leak(kind, true, self.span(found.start, found.end)));
                ControlFlow::Break(())
            });
        }
        self.copies(see);
    }

    fn take(&mut self, found: Found, see: &mut impl FnMut(Leak)) {
        let span = self.span(found.start, found.end);
        match found.means {
            Means::Leak(kind) => see(self.leak(kind, true, span)),
            Means::Framing => self.framings.push(span.start),
            Means::Anchor(index) => self.anchors.push((span, index)),
        }
    }

    fn copies(&self, see: &mut impl FnMut(Leak)) {
        let letters = self.registry.letters;
        let short = (letters * COPIED_SHORT_PERCENT / 100).max(COPIED_SHORT_MIN);
        let (plain, framed) = (COPIED_MIN.min(short), COPIED_FRAMED_MIN.min(short));
        self.each_copy(|copy| {
            let span = self.span(copy.start, copy.end);
            let least = if self.is_framed(span.start, span.end) { framed } else { plain };
            if copy.letters() >= least {
                see(self.leak(Kind::PromptText, true, span));
            }
        });
    }

    /// Calls `see` with every row of passages of the prompt.
    fn each_copy(&self, mut see: impl FnMut(&Copy)) {
        let mut copy: Option<Copy> = None;
        self.hits(|hit| match &mut copy {
            Some(known) if hit.at <= known.end + GAP_LETTERS => known.add(hit),
            Some(_) | None => {
                if let Some(done) = copy.replace(Copy::new(hit)) {
                    see(&done);
                }
            }
        });
        if let Some(done) = copy {
            see(&done);
        }
    }

    /// Calls `see` with every passage that stands in the prompt.
    pub(super) fn hits(&self, see: impl FnMut(Hit)) {
        self.registry.grams.find(self.squeezed.bytes(), see);
    }

    /// Does one passage of the prompt go on over this byte of the text?
    pub(super) fn goes_on_at(&self, cut: usize) -> bool {
        let cut = self.squeezed.at_origin(cut);
        let mut goes_on = false;
        self.hits(|hit| goes_on |= hit.at < cut && cut < hit.at + GRAM_BYTES);
        goes_on
    }

    fn paraphrases(&self, see: &mut impl FnMut(Leak)) {
        let is_framed = |start, end| {
            let span = self.span(start, end);
            self.is_framed(span.start, span.end)
        };
        self.registry.pairs.find(&self.squeezed, is_framed, |passage| {
            let span = self.span(passage.start, passage.end);
            let certain = self.is_framed(span.start, span.end);
            see(self.leak(Kind::Paraphrase, certain, span));
        });
    }

    fn skeletons(&self, see: &mut impl FnMut(Leak)) {
        let is_framed = |start, end| self.is_framed(start, end);
        for seen in self.registry.skeleton.find(self.text, &self.squeezed, is_framed) {
            see(self.leak(Kind::PromptStructure, seen.framed, seen.span));
        }
    }

    fn translations(&self, see: &mut impl FnMut(Leak)) {
        let all = self.registry.anchors.len().max(1);
        each_window(&self.anchors, |span, kinds| {
            let framed = self.is_framed(span.start, span.end);
            let (least, percent) = if framed {
                (ANCHORS_FRAMED_MIN, ANCHORS_FRAMED_PERCENT)
            } else {
                (ANCHORS_MIN, ANCHORS_PERCENT)
            };
            if kinds.len() >= least && kinds.len() * 100 / all >= percent {
                see(self.leak(Kind::Translation, framed, span));
            }
        });
    }

    /// Does the text say, shortly before or behind, that it tells of its instructions?
    fn is_framed(&self, start: usize, end: usize) -> bool {
        let from = start.saturating_sub(FRAME_BEFORE_BYTES);
        let first = self.framings.partition_point(|it| *it < from);
        self.framings.get(first).is_some_and(|it| *it <= end + FRAME_BEHIND_BYTES)
    }

    /// The passage of the text for one of the squeezed text.
    fn span(&self, start: usize, end: usize) -> Range<usize> {
        let (first, last) = self.squeezed.origin(start, end);
        first..self.text.ceil_char_boundary(last + 1)
    }

    fn leak(&self, kind: Kind, certain: bool, span: Range<usize>) -> Leak {
        let Range { start, end } = span;
        Leak { rule: Rule::of(kind), kind, certain, encoded: false, start, end }
    }
}
