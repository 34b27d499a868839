//! What becomes of recorded decisions by another policy, counted.

use std::collections::BTreeMap;

use model::Decision;
use serde_json::{Value, json};

use super::again::{Anew, Names, again};
use super::folder::Loaded;
use super::recorded::{Found, Recorded};

/// How a decision changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// It was let through, and would be stopped.
    Stopped,
    /// It was stopped, and would be let through.
    Allowed,
    /// It was stopped, and would be stopped otherwise: asked about and not denied, or the other way round.
    Otherwise,
}

impl Change {
    pub(crate) const ALL: &[Self] = &[Self::Stopped, Self::Allowed, Self::Otherwise];

    /// The word for programs.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Allowed => "allowed",
            Self::Otherwise => "otherwise",
        }
    }

    fn of(before: Decision, after: Decision) -> Option<Self> {
        match (before.happens(), after.happens()) {
            (true, false) => Some(Self::Stopped),
            (false, true) => Some(Self::Allowed),
            (true, true) => None,
            (false, false) => (before != after).then_some(Self::Otherwise),
        }
    }
}

/// A change, by what decided before and what would decide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) change: Change,
    pub(crate) before: (Decision, String),
    pub(crate) after: (Decision, String),
}

/// All of them, counted.
#[derive(Default)]
pub(crate) struct Tally {
    /// Decisions that were judged again.
    pub(crate) judged: u64,
    /// How often each change is found, and the newest decision that shows it.
    pub(crate) rows: BTreeMap<Row, (u64, String)>,
    /// How many could not be judged again, by why.
    pub(crate) unjudged: BTreeMap<String, u64>,
    /// Those turned away before anything could be judged.
    pub(crate) turned_away: u64,
}

impl Tally {
    /// Judges all that was found by `loaded`; tells `see` of each that changes.
    pub(crate) fn of(
        found: &Found,
        loaded: &Loaded,
        names: &Names,
        see: &mut dyn FnMut(&Recorded, &Anew, Change),
    ) -> Self {
        let mut tally = Self { turned_away: found.turned_away, ..Self::default() };
        for why in &found.unread {
            *tally.unjudged.entry((*why).to_owned()).or_default() += 1;
        }
        for it in &found.decisions {
            let anew = match again(loaded, names, it) {
                Ok(anew) => anew,
                Err(why) => {
                    *tally.unjudged.entry(why.as_str().to_owned()).or_default() += 1;
                    continue;
                }
            };
            tally.judged += 1;
            let Some(change) = Change::of(it.decision, anew.decision) else { continue };
            see(it, &anew, change);
            let before = (it.decision, it.rule.clone());
            let row = Row { change, before, after: (anew.decision, anew.rule) };
            let entry = tally.rows.entry(row).or_default();
            entry.0 += 1;
            entry.1 = format!("{} {}", it.tool, it.shown);
        }
        tally
    }

    /// How many change so.
    pub(crate) fn count(&self, change: Change) -> u64 {
        let rows = self.rows.iter().filter(|(row, _)| row.change == change);
        rows.map(|(_, (count, _))| count).sum()
    }

    /// How many could not be judged again.
    pub(crate) fn unjudged(&self) -> u64 {
        self.unjudged.values().sum()
    }

    /// How many stay as they were.
    pub(crate) fn same(&self) -> u64 {
        let changed: u64 = Change::ALL.iter().map(|it| self.count(*it)).sum();
        self.judged.saturating_sub(changed)
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Value {
        let side = |(decision, rule): &(Decision, String)| json!({"decision": decision.as_str(), "rule": rule});
        let rows = self.rows.iter().map(|(row, (count, _))| {
            json!({
                "change": row.change.as_str(),
                "before": side(&row.before),
                "after": side(&row.after),
                "count": count,
            })
        });
        json!({
            "judged": self.judged,
            "same": self.same(),
            "stopped": self.count(Change::Stopped),
            "allowed": self.count(Change::Allowed),
            "otherwise": self.count(Change::Otherwise),
            "unjudged": self.unjudged(),
            "unjudged_because": self.unjudged,
            "turned_away": self.turned_away,
            "by_rule": rows.collect::<Vec<_>>(),
        })
    }
}
