//! What was left out of a page, so that a person sees what was hidden.

use std::collections::BTreeMap;

use super::is_unseen;
use super::tree::Id;

/// Lists the reasons with their names.
macro_rules! kinds {
    ($($kind:ident, $name:literal, $doc:literal;)+) => {
        /// Why something was left out.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DropKind { $(#[doc = $doc] $kind,)+ }

        impl DropKind {
            /// The kind in one word, for records.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }
        }
    };
}

kinds! {
    Script, "script", "`<script>`.";
    Style, "style", "`<style>`.";
    Noscript, "noscript", "`<noscript>`: a browser with scripts does not show it.";
    Template, "template", "`<template>`.";
    Frame, "frame", "`<iframe>` and other frames.";
    Object, "object", "`<object>`, `<canvas>`, `<video>`, `<audio>` and what they hold for old browsers.";
    Svg, "svg", "Text in a drawing.";
    Comment, "comment", "`<!-- … -->`.";
    HiddenAttribute, "hidden-attribute", "The attribute `hidden`.";
    AriaHidden, "aria-hidden", "`aria-hidden=true`.";
    DisplayNone, "display-none", "`display:none`, or an element that browsers do not show.";
    Visibility, "visibility", "`visibility:hidden`, `visibility:collapse`, `content-visibility:hidden`.";
    Opacity, "opacity", "`opacity:0`.";
    FontSize, "font-size", "Text of two and a half pixels or less.";
    ZeroSize, "zero-size", "A box of no size that cuts off what is in it.";
    OffScreen, "off-screen", "Moved to where no screen reaches.";
    Clipped, "clipped", "Clipped to nothing.";
    SameColour, "same-colour", "Text in the colour of what lies behind it, or without colour.";
    HiddenInput, "hidden-input", "`<input type=hidden>`.";
    Link, "link", "The address of a link that does not lead to the web: `javascript:`, `data:`, `file:`.";
    Invisible, "invisible-characters", "Characters that take no room: joiners, marks of direction, tags, control characters.";
}

/// What was left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The reason.
    pub kind: DropKind,
    /// How many elements, comments, links or characters.
    pub count: usize,
    /// How the first of them begin; at most [`SAMPLES_MAX`], each of at most [`SAMPLE_CHARS_MAX`] characters.
    pub samples: Vec<String>,
}

/// Samples that are kept for one reason.
pub const SAMPLES_MAX: usize = 8;
/// Characters of a sample.
pub const SAMPLE_CHARS_MAX: usize = 160;

/// Gathers what is left out.
#[derive(Debug, Default)]
pub(super) struct Report {
    entries: BTreeMap<DropKind, Entry>,
}

#[derive(Debug, Default)]
struct Entry {
    count: usize,
    /// The element that was left out last.
    last: Option<Id>,
    samples: Vec<String>,
    /// How many characters the last sample may still take.
    room: usize,
}

impl Report {
    /// Text was left out because of the element `root`; an element counts once.
    pub(super) fn text(&mut self, kind: DropKind, root: Id, text: &str) {
        let entry = self.entries.entry(kind).or_default();
        if entry.last.replace(root) != Some(root) {
            entry.count += 1;
            entry.begin();
        }
        entry.words(text);
    }

    /// One thing was left out that stands by itself.
    pub(super) fn one(&mut self, kind: DropKind, text: &str) {
        let entry = self.entries.entry(kind).or_default();
        entry.count += 1;
        entry.begin();
        entry.words(text);
    }

    /// A character was left out, right behind another one or not.
    pub(super) fn character(&mut self, found: char, runs_on: bool) {
        let entry = self.entries.entry(DropKind::Invisible).or_default();
        entry.count += 1;
        // Tags repeat ASCII, unseen: whole sentences are hidden in them.
        let ascii = u32::from(found).checked_sub(0xe_0000).filter(|it| (0x20..0x7f).contains(it));
        if let Some(ascii) = ascii.and_then(char::from_u32) {
            if !runs_on {
                entry.begin();
            }
            entry.push(ascii);
            return;
        }
        let name = format!("U+{:04X}", u32::from(found));
        if !entry.samples.contains(&name) {
            entry.begin();
            name.chars().for_each(|it| entry.push(it));
        }
    }

    pub(super) fn finish(self) -> Vec<Dropped> {
        let dropped = |(kind, mut entry): (DropKind, Entry)| {
            entry.samples.retain(|it| !it.is_empty());
            Dropped { kind, count: entry.count, samples: entry.samples }
        };
        self.entries.into_iter().map(dropped).collect()
    }
}

impl Entry {
    fn begin(&mut self) {
        self.room = 0;
        if self.samples.last().is_some_and(String::is_empty) {
            self.room = SAMPLE_CHARS_MAX;
        } else if self.samples.len() < SAMPLES_MAX {
            self.room = SAMPLE_CHARS_MAX;
            self.samples.push(String::new());
        }
    }

    /// Adds to the last sample. Blanks come together, and what cannot be seen is left out.
    fn words(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if self.room == 0 {
                return;
            }
            if self.samples.last().is_some_and(|it| !it.is_empty()) {
                self.push(' ');
            }
            word.chars().filter(|it| !is_unseen(*it)).take(self.room).for_each(|it| self.push(it));
        }
    }

    fn push(&mut self, one: char) {
        if let Some(last) = self.samples.last_mut().filter(|_| self.room > 0) {
            self.room -= 1;
            last.push(one);
        }
    }
}
