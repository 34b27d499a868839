//! A wire before the sanitizer (VIGIL of seed 002): whether a text with orders goes on to be cleaned, or not at all.

use crate::text::{Reading, Verdict};

/// What happens to a text that trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tripwire {
    /// It goes on to the sanitizer.
    #[default]
    Sanitize,
    /// It is withheld if the risk is high.
    Block,
}

/// How grave it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Nothing trips.
    None,
    /// One sign.
    Medium,
    /// It gives orders, or several signs say so.
    High,
}

impl Risk {
    /// Returns the name in records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// Judges what was read: two rules that agree are as grave as one that is certain.
    #[must_use]
    pub fn of(reading: &Reading) -> Self {
        let strong = reading.findings.iter().filter(|it| it.weight >= SIGN_FROM);
        let mut rules: Vec<&str> = strong.map(|it| it.rule).collect();
        rules.sort_unstable();
        rules.dedup();
        match (reading.verdict(), rules.len()) {
            (Verdict::Clean, _) => Self::None,
            (Verdict::Injection, _) | (Verdict::Suspicious, RULES_HIGH..) => Self::High,
            (Verdict::Suspicious, _) => Self::Medium,
        }
    }
}

/// What a sign must say by itself.
const SIGN_FROM: f64 = 0.25;
/// So many rules that agree are grave.
const RULES_HIGH: usize = 2;
