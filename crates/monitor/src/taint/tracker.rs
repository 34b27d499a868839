//! Where a session's outside content came from.

use model::{Taint, TaintTag};

use super::delta::TaintDelta;
use super::is_outside;
use super::label::{ORIGIN_BYTES_MAX, RECORD_BYTES_MAX};

/// So many of the first labels are kept, and as many of the newest.
const TAGS_KEPT: usize = 4;

/// What a tracker holds in memory at most.
pub(super) const BYTES_MAX: usize =
    2 * TAGS_KEPT * (size_of::<TaintTag>() + ORIGIN_BYTES_MAX + RECORD_BYTES_MAX);

/// The labels that came into a session: all flags, the first and the newest labels, and how many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracker {
    flags: Taint,
    sources: u64,
    first: Vec<TaintTag>,
    recent: Vec<TaintTag>,
}

impl Tracker {
    /// Adds it.
    pub fn apply(&mut self, delta: &TaintDelta) {
        self.flags = self.flags.union(delta.flags);
        self.sources = self.sources.saturating_add(delta.sources);
        for tag in delta.first.iter().chain(&delta.recent) {
            if self.first.len() < TAGS_KEPT && !self.first.iter().any(|it| same_origin(it, tag)) {
                self.first.push(tag.clone());
            }
        }
        for tag in &delta.recent {
            self.recent.retain(|it| !same_origin(it, tag));
            if self.recent.len() == TAGS_KEPT {
                self.recent.remove(0);
            }
            self.recent.push(tag.clone());
        }
    }

    /// Did anything come from outside?
    #[must_use]
    pub fn is_tainted(&self) -> bool {
        is_outside(self.flags)
    }

    /// All flags.
    #[must_use]
    pub fn taint(&self) -> Taint {
        self.flags
    }

    /// How many contents came from outside.
    #[must_use]
    pub fn sources(&self) -> u64 {
        self.sources
    }

    /// What everything carries that the session writes: the newest label with the flags of all.
    #[must_use]
    pub fn tag(&self) -> Option<TaintTag> {
        let newest = self.recent.last().filter(|_| self.is_tainted())?;
        Some(TaintTag { taint: self.flags, ..newest.clone() })
    }

    /// The labels that are kept, the first ones first.
    pub fn tags(&self) -> impl Iterator<Item = &TaintTag> {
        let later = |it: &&TaintTag| !self.first.iter().any(|first| same_origin(first, it));
        self.first.iter().chain(self.recent.iter().filter(later))
    }

    /// Everything, as one change of an empty tracker.
    pub(super) fn write_to(&self, delta: &mut TaintDelta) {
        delta.flags = self.flags;
        delta.sources = self.sources;
        delta.first.clone_from(&self.first);
        delta.recent.clone_from(&self.recent);
    }
}

fn same_origin(one: &TaintTag, other: &TaintTag) -> bool {
    (one.source, one.taint, &one.origin) == (other.source, other.taint, &other.origin)
}

#[cfg(test)]
mod tests {
    use model::Source;

    use super::super::label;
    use super::*;

    fn tracker(origins: &[&str]) -> Tracker {
        let mut tracker = Tracker::default();
        for origin in origins {
            tracker.apply(&TaintDelta::of_label(&label(Source::Web, origin, 1)));
        }
        tracker
    }

    #[test]
    fn the_first_and_the_newest_stay() {
        let tracker = tracker(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "9"]);
        let kept: Vec<_> = tracker.tags().map(|it| it.origin.as_str()).collect();
        assert_eq!(kept, ["1", "2", "3", "4", "6", "7", "8", "9"]);
        assert_eq!((tracker.sources(), tracker.tag().unwrap().origin.as_str()), (10, "9"));
    }

    #[test]
    fn the_label_carries_the_flags_of_all() {
        let mut tracker = tracker(&["page"]);
        tracker.apply(&TaintDelta::of_label(&label(Source::Skill, "pdf", 2)));
        let tag = tracker.tag().unwrap();
        assert_eq!(tag.source, Source::Skill);
        assert!(tag.taint.contains(Taint::WEB_DERIVED.union(Taint::SKILL_OUTPUT)));
    }

    #[test]
    fn what_people_and_the_agent_say_does_not_taint() {
        let mut tracker = Tracker::default();
        for source in [Source::User, Source::System, Source::Agent, Source::Memory] {
            tracker.apply(&TaintDelta::of_label(&label(source, "", 0)));
        }
        assert!(!tracker.is_tainted() && tracker.tag().is_none());
        assert_eq!(tracker.taint(), Taint::CROSS_SESSION);
    }
}
