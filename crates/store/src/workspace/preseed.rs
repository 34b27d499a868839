//! What a session takes in by being in a workspace: how much lies there with which label.

use aegx::Hasher;
use model::TaintTag;
use monitor::Found;
use monitor::taint::{is_outside, worse};

use super::manifest::{Entry, Manifest};
use super::marks::{Mark, Marks, WHOLE};

/// Labels with which a budget is seeded; what is beyond them is put together.
pub const PRESEED_MAX: usize = 64;

/// One for each label.
pub(super) fn preseed(marks: &Marks, seen: &Manifest) -> Vec<Found> {
    let mut groups: Vec<Group> = Vec::new();
    // What is only secret is not from outside: it counts when it is read.
    for mark in marks.files.values().filter(|it| is_outside(it.tag.taint)) {
        let known = groups.iter().position(|it| it.is_of(&mark.tag));
        let full = groups.len() >= PRESEED_MAX;
        let at = known.or_else(|| full.then_some(PRESEED_MAX - 1));
        if let Some(group) = at.and_then(|it| groups.get_mut(it)) {
            group.add(mark, seen);
        } else {
            let mut group = Group { tag: mark.tag.clone(), tokens: 0, content: Hasher::new() };
            group.add(mark, seen);
            groups.push(group);
        }
    }
    let found = |it: Group| Found { tag: it.tag, tokens: it.tokens, content: it.content.finish() };
    groups.into_iter().map(found).collect()
}

/// Files with the same label, and how much they are together.
struct Group {
    tag: TaintTag,
    tokens: u64,
    content: Hasher,
}

impl Group {
    fn is_of(&self, tag: &TaintTag) -> bool {
        (self.tag.source, self.tag.taint, &self.tag.origin) == (tag.source, tag.taint, &tag.origin)
    }

    fn add(&mut self, mark: &Mark, seen: &Manifest) {
        if !self.is_of(&mark.tag)
            && let Some(tag) = worse(Some(&self.tag), Some(&mark.tag))
        {
            self.tag = tag;
        }
        if mark.path == WHOLE {
            seen.entries.iter().for_each(|(path, entry)| self.count(path, entry));
        } else if let Some(entry) = seen.entries.get(&mark.path) {
            self.count(&mark.path, entry);
        } else {
            // A file that was not looked at.
            self.tokens = self.tokens.saturating_add(1);
            self.content.update(mark.path.as_bytes());
        }
    }

    fn count(&mut self, path: &str, entry: &Entry) {
        self.tokens = self.tokens.saturating_add(entry.tokens);
        self.content.update(path.as_bytes());
        self.content.update(&[0]);
        self.content.update(entry.digest.as_bytes());
    }
}
