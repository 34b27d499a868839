//! The budget of one session: how much came from outside, against what people wrote.

use aegx::Digest;
use model::TaintTag;

use super::delta::TaintDelta;
use super::fingerprint::{Fingerprint, Seen};
use super::rules::{Rules, Threshold};
use super::tokens::{self, QUARTERS_PER_TOKEN};
use super::{is_outside, tracker};

/// Distinct clean contents that a session remembers. Beyond it nothing earns credit.
const CLEAN_CONTENTS_MAX: usize = 512;
/// Distinct outside contents that a session remembers. Beyond it every reading counts again.
const TAINTED_CONTENTS_MAX: usize = 256;
/// A shorter content counts each time: a page cut into letters is not thirty contents.
const DISTINCT_CHARS_MIN: usize = 64;

/// How many tokens of a session came from outside, and how many a person or the operator wrote.
///
/// Each distinct content counts once. What the agent wrote or read back counts for nothing, so
/// only people can bring the share down, and nothing brings the count of outside tokens down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    clean_quarters: u64,
    tainted_tokens: u64,
    /// Of the outside tokens, those that the session was born with.
    inherited_tokens: u64,
    peak_millionths: u32,
    clean: Seen,
    tainted: Seen,
}

/// An action that waits for a person, because too much of the session came from outside.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}% of this session came from outside, more than the {}% that are allowed; `{action}` needs the user's confirmation",
    percent(*ratio_millionths), percent(*threshold_millionths)
)]
pub struct Blocked {
    /// The action.
    pub action: String,
    /// The share of outside tokens, rounded.
    pub ratio_millionths: u32,
    /// What is allowed.
    pub threshold_millionths: u32,
}

impl Budget {
    /// What `text` with this label would add. Nothing is changed.
    #[must_use]
    pub fn delta(&self, label: &TaintTag, text: &str) -> TaintDelta {
        let mut delta = TaintDelta::of_label(label);
        if is_outside(label.taint) {
            let long = text.chars().nth(DISTINCT_CHARS_MIN).is_some();
            let fingerprint = long.then(|| Fingerprint::of(text));
            if fingerprint.is_none_or(|it| !self.tainted.contains(it)) {
                delta.tainted_tokens = tokens::tainted(text);
                let room = !self.tainted.is_full(TAINTED_CONTENTS_MAX);
                delta.seen_tainted.extend(fingerprint.filter(|_| room));
            }
        } else if label.source.is_vouched_for() && !self.clean.is_full(CLEAN_CONTENTS_MAX) {
            let fingerprint = Fingerprint::of(text);
            // A page that somebody pastes is still the page.
            if !self.clean.contains(fingerprint) && !self.tainted.contains(fingerprint) {
                delta.clean_quarters = tokens::clean_quarters(text);
                delta.seen_clean.push(fingerprint);
            }
        }
        delta
    }

    /// What a content would add of which only the length is known. Nothing is changed.
    #[must_use]
    pub fn delta_tokens(&self, label: &TaintTag, tokens: u64) -> TaintDelta {
        let mut delta = TaintDelta::of_label(label);
        if is_outside(label.taint) {
            delta.tainted_tokens = tokens;
        } else if label.source.is_vouched_for() {
            delta.clean_quarters = tokens.saturating_mul(QUARTERS_PER_TOKEN);
        }
        delta
    }

    /// What a content would add that is known by its hash and its length alone. Nothing is changed.
    #[must_use]
    pub fn delta_found(&self, label: &TaintTag, tokens: u64, content: Digest) -> TaintDelta {
        let mut delta = TaintDelta::of_label(label);
        let fingerprint = Fingerprint::of(content.to_hex().as_str());
        // What is clean earns nothing by lying there.
        if is_outside(label.taint) && !self.tainted.contains(fingerprint) {
            delta.tainted_tokens = tokens;
            let room = !self.tainted.is_full(TAINTED_CONTENTS_MAX);
            delta.seen_tainted.extend(room.then_some(fingerprint));
        }
        delta
    }

    /// Adds it.
    pub fn apply(&mut self, delta: &TaintDelta) {
        self.clean_quarters = self.clean_quarters.saturating_add(delta.clean_quarters);
        self.tainted_tokens = self.tainted_tokens.saturating_add(delta.tainted_tokens);
        self.inherited_tokens = self.inherited_tokens.saturating_add(delta.inherited_tokens);
        for fingerprint in &delta.seen_clean {
            self.clean.add(*fingerprint, CLEAN_CONTENTS_MAX);
        }
        for fingerprint in &delta.seen_tainted {
            self.tainted.add(*fingerprint, TAINTED_CONTENTS_MAX);
        }
        let now = self.ratio_millionths();
        self.peak_millionths = self.peak_millionths.max(delta.peak_millionths).max(now);
    }

    /// May this action happen without a person?
    ///
    /// # Errors
    /// If it is sensitive and more of the session came from outside than the rules allow.
    pub fn check(&self, rules: &Rules, action: &str) -> Result<(), Blocked> {
        if !rules.is_sensitive(action) {
            return Ok(());
        }
        let all = u128::from(Threshold::ALL_MILLIONTHS);
        let allowed = u128::from(rules.threshold().millionths());
        if u128::from(self.tainted_tokens) * all <= allowed * self.total_tokens() {
            return Ok(());
        }
        Err(Blocked {
            action: action.to_owned(),
            ratio_millionths: self.ratio_millionths(),
            threshold_millionths: rules.threshold().millionths(),
        })
    }

    /// The share of outside tokens, rounded; 0 while there are none.
    #[must_use]
    pub fn ratio_millionths(&self) -> u32 {
        let total = self.total_tokens();
        let scaled = u128::from(self.tainted_tokens) * u128::from(Threshold::ALL_MILLIONTHS);
        let rounded = (scaled + total / 2).checked_div(total).unwrap_or(0);
        u32::try_from(rounded).unwrap_or(Threshold::ALL_MILLIONTHS)
    }

    /// The share of outside tokens in thousandths, rounded.
    #[must_use]
    pub fn ratio_permille(&self) -> u16 {
        u16::try_from((self.ratio_millionths() + 500) / 1000).unwrap_or(1000)
    }

    /// The highest share that there ever was: more talk brings the ratio down, never this.
    #[must_use]
    pub fn peak_millionths(&self) -> u32 {
        self.peak_millionths
    }

    /// Tokens from outside.
    #[must_use]
    pub fn tainted_tokens(&self) -> u64 {
        self.tainted_tokens
    }

    /// Tokens that a person or the operator wrote.
    #[must_use]
    pub fn clean_tokens(&self) -> u64 {
        self.clean_quarters.div_ceil(QUARTERS_PER_TOKEN)
    }

    /// Outside tokens that were not there at birth.
    pub(super) fn own_tainted_tokens(&self) -> u64 {
        self.tainted_tokens.saturating_sub(self.inherited_tokens)
    }

    /// Everything, as one change of an empty budget.
    pub(super) fn write_to(&self, delta: &mut TaintDelta) {
        delta.clean_quarters = self.clean_quarters;
        delta.tainted_tokens = self.tainted_tokens;
        delta.inherited_tokens = self.inherited_tokens;
        delta.peak_millionths = self.peak_millionths;
        delta.seen_clean = self.clean.to_vec();
        delta.seen_tainted = self.tainted.to_vec();
    }

    fn total_tokens(&self) -> u128 {
        u128::from(self.tainted_tokens) + u128::from(self.clean_tokens())
    }
}

fn percent(millionths: u32) -> String {
    let tenths = millionths.div_ceil(1000);
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

/// What a session holds in memory at most, for everything in this folder.
const _: () = assert!(
    (CLEAN_CONTENTS_MAX + TAINTED_CONTENTS_MAX) * size_of::<Fingerprint>() + tracker::BYTES_MAX
        < 20_000
);

#[cfg(test)]
mod tests {
    use model::{Profile, Source};

    use super::super::label;
    use super::*;

    fn budget(steps: &[(Source, u64)]) -> Budget {
        let mut budget = Budget::default();
        for (source, tokens) in steps {
            let delta = budget.delta_tokens(&label(*source, "test", 0), *tokens);
            budget.apply(&delta);
        }
        budget
    }

    #[test]
    fn the_share_decides_and_the_exact_share_is_allowed() {
        let rules = Rules::of(Profile::Standard);
        let exact = budget(&[(Source::User, 700), (Source::Web, 300)]);
        assert_eq!(exact.check(&rules, "oauth_call"), Ok(()));
        let over = budget(&[(Source::User, 700), (Source::Web, 301)]);
        let blocked = over.check(&rules, "oauth_call").unwrap_err();
        assert_eq!(blocked.ratio_millionths, 300_699);
        assert_eq!(
            blocked.to_string(),
            "30.1% of this session came from outside, more than the 30% that are allowed; \
             `oauth_call` needs the user's confirmation"
        );
        assert_eq!(over.check(&rules, "memory_query"), Ok(()));
    }

    #[test]
    fn only_people_earn_credit() {
        for source in Source::ALL.into_iter().filter(|it| !it.is_vouched_for()) {
            let padded = budget(&[(Source::Web, 10), (source, 1_000_000)]);
            assert_eq!(padded.ratio_millionths(), 1_000_000, "{source}");
        }
        let talked = budget(&[(Source::Web, 100), (Source::User, 300)]);
        assert_eq!((talked.ratio_permille(), talked.peak_millionths()), (250, 1_000_000));
    }

    #[test]
    fn a_content_counts_once() {
        let mut budget = Budget::default();
        let (web, user) = (label(Source::Web, "a", 0), label(Source::User, "", 0));
        let page = "All work and no play makes Jack a dull boy. ".repeat(10);
        for (label, text) in [(&web, page.as_str()), (&web, &page), (&user, "hi"), (&user, "HI ")] {
            let delta = budget.delta(label, text);
            budget.apply(&delta);
        }
        assert_eq!((budget.tainted_tokens(), budget.clean_quarters), (110, 2));
        // Somebody pastes the page: no credit.
        assert_eq!(budget.delta(&user, &page.to_uppercase()), TaintDelta::default());
    }

    #[test]
    fn a_page_in_letters_counts_every_letter() {
        let mut budget = Budget::default();
        for _ in 0..1000 {
            let delta = budget.delta(&label(Source::Web, "a", 0), "a");
            budget.apply(&delta);
        }
        assert_eq!(budget.tainted_tokens(), 1000);
    }

    #[test]
    fn full_sets_err_on_the_safe_side() {
        let mut budget = Budget::default();
        let (web, user) = (label(Source::Web, "a", 0), label(Source::User, "", 0));
        for number in 0..1000 {
            let page = format!("{number} {}", "word ".repeat(20));
            for label in [&web, &user] {
                let delta = budget.delta(label, &format!("{page}{}", label.source));
                budget.apply(&delta);
            }
        }
        assert_eq!(budget.delta(&user, "something new").clean_quarters, 0);
        let last = format!("999 {}web", "word ".repeat(20));
        assert!(budget.delta(&web, &last).tainted_tokens > 0);
        let first = format!("0 {}web", "word ".repeat(20));
        assert_eq!(budget.delta(&web, &first).tainted_tokens, 0);
    }

    #[test]
    fn counters_do_not_wrap() {
        let full = budget(&[(Source::User, u64::MAX), (Source::Web, 1), (Source::Web, u64::MAX)]);
        assert!(full.check(&Rules::of(Profile::Yolo), "oauth_call").is_err());
    }
}
