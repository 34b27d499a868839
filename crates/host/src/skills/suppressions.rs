//! Findings that a person has looked at and lets pass, for a while: bound to check, file and what stands there, signed with
//! the key of the journal.

use aegx::Sorted;
use jiff::civil::Date;
use model::skill::SkillCheck;
use serde::{Deserialize, Serialize};
use skill::Finding;

/// The file, in the state directory.
pub const SUPPRESSIONS: &str = "skill-suppressions.note";
/// The longest file, in bytes.
pub const SUPPRESSIONS_BYTES_MAX: u64 = 1 << 20;
/// Suppressions of one file.
const COUNT_MAX: usize = 1_000;
/// The longest time, in days.
pub const DAYS_MAX: i32 = 366;
/// The longest reason, in bytes.
const REASON_BYTES_MAX: usize = 2_000;
/// The first line: what the signature is for.
const DOMAIN: &str = "lazaret-skill-suppressions-v1";

/// One finding that passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppression {
    /// The finding's fingerprint, which says check, file and what stands there.
    pub fingerprint: String,
    /// The check, for readers.
    pub check: String,
    /// The file, for readers.
    pub file: String,
    /// The last day on which it holds.
    pub until: String,
    /// Why.
    pub reason: String,
    /// Who says so.
    pub by: String,
}

/// Why a suppression is none.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SuppressionError {
    /// The text is none of suppressions.
    #[error("it holds no suppressions: {0}")]
    Form(String),
    /// Not a day, or not one within the limit.
    #[error("`{0}` is no day (YYYY-MM-DD) from today to {DAYS_MAX} days from now")]
    Until(String),
    /// No reason, or a long one.
    #[error("a suppression has a reason of 1 to {REASON_BYTES_MAX} bytes")]
    Reason,
    /// Too many.
    #[error("there are {COUNT_MAX} suppressions already")]
    Count,
}

/// The suppressions of one signed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressions {
    list: Vec<Suppression>,
}

impl Suppressions {
    /// Reads the text of a note whose signature holds.
    ///
    /// # Errors
    /// If it is no list of suppressions.
    pub fn parse(text: &str) -> Result<Self, SuppressionError> {
        let form = |why: &dyn std::fmt::Display| SuppressionError::Form(why.to_string());
        let mut lines = text.lines();
        if lines.next() != Some(DOMAIN) {
            return Err(form(&"its first line is another"));
        }
        let mut list = Vec::new();
        for line in lines {
            let one: Suppression = serde_json::from_str(line).map_err(|it| form(&it))?;
            if SkillCheck::from_name(&one.check).is_none() || one.until.parse::<Date>().is_err() {
                return Err(form(&"a check or a day is none"));
            }
            list.push(one);
        }
        if list.len() > COUNT_MAX {
            return Err(SuppressionError::Count);
        }
        Ok(Self { list })
    }

    /// Returns the text that is signed.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{DOMAIN}\n");
        for it in &self.list {
            if let Ok(value) = serde_json::to_value(it) {
                text.push_str(&format!("{}\n", Sorted(&value)));
            }
        }
        text
    }

    /// Adds one for a finding; one that is there for it already is replaced.
    ///
    /// # Errors
    /// If the day or the reason is none, or there are too many.
    pub fn add(
        &mut self,
        finding: &Finding,
        until: &str,
        reason: &str,
        by: &str,
        today: Date,
    ) -> Result<(), SuppressionError> {
        let wrong = || SuppressionError::Until(until.to_owned());
        let day: Date = until.parse().map_err(|_| wrong())?;
        let days = today.until(day).map_err(|_| wrong())?.get_days();
        if until.len() != 10 || !(0..=DAYS_MAX).contains(&days) {
            return Err(wrong());
        }
        if reason.trim().is_empty() || reason.len() > REASON_BYTES_MAX {
            return Err(SuppressionError::Reason);
        }
        let fingerprint = finding.fingerprint.to_string();
        self.list.retain(|it| it.fingerprint != fingerprint);
        if self.list.len() >= COUNT_MAX {
            return Err(SuppressionError::Count);
        }
        self.list.push(Suppression {
            fingerprint,
            check: finding.check.as_str().to_owned(),
            file: finding.file.clone(),
            until: until.to_owned(),
            reason: reason.to_owned(),
            by: by.to_owned(),
        });
        Ok(())
    }

    /// Returns the suppression of a finding that still holds on this day.
    #[must_use]
    pub fn of(&self, finding: &Finding, today: Date) -> Option<&Suppression> {
        let fingerprint = finding.fingerprint.to_string();
        let holds = |it: &Suppression| it.until.parse::<Date>().is_ok_and(|it| today <= it);
        self.list.iter().find(|it| it.fingerprint == fingerprint && holds(it))
    }
}

/// The day of a time in seconds since 1970, in UTC.
#[must_use]
pub fn day(unix: i64) -> Date {
    let time = jiff::Timestamp::from_second(unix).unwrap_or(jiff::Timestamp::MAX);
    // A clock that says nothing makes everything expired.
    time.to_zoned(jiff::tz::TimeZone::UTC).date()
}
