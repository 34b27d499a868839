//! Watching: for some days a person wants to see what would be asked before they let it be asked. What is judged and
//! recorded stays the same; the doors pass over questions, and nothing else.
//!
//! Who reads it and does not understand it does not watch: then everything is asked as always.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The file of the state directory.
const FILE: &str = "observe.json";
/// The longest such file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 12;
/// The longest time for which one may only watch, in days.
pub const OBSERVE_DAYS_MAX: u16 = 30;
/// A day, in seconds.
const DAY_SECONDS: i64 = 86_400;

/// For how long somebody only watches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observe {
    /// From when on, in seconds since 1970.
    pub since: i64,
    /// Until when, in seconds since 1970.
    pub until: i64,
    /// Who said so.
    pub by: String,
}

/// Why nobody can watch.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// The file.
    #[error("`{path}`: {error}")]
    Io {
        /// Which.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// What it says.
    #[error("`{path}` is not understood ({error}): everything is asked; `lazaret observe stop`")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        error: String,
    },
    /// Too long, or not at all.
    #[error("watching takes 1 to {OBSERVE_DAYS_MAX} days, not {0}")]
    Days(u16),
}

impl Observe {
    /// From `now` on for so many days.
    ///
    /// # Errors
    /// If it is no day, or more than [`OBSERVE_DAYS_MAX`].
    pub fn for_days(days: u16, now: i64, by: &str) -> Result<Self, ObserveError> {
        if !(1..=OBSERVE_DAYS_MAX).contains(&days) {
            return Err(ObserveError::Days(days));
        }
        let until = now.saturating_add(i64::from(days) * DAY_SECONDS);
        Ok(Self { since: now, until, by: by.to_owned() })
    }

    /// Reads what is kept in the state directory `home`, whether it is in force or not.
    ///
    /// # Errors
    /// If it cannot be read or understood.
    pub fn of(home: &Path) -> Result<Option<Self>, ObserveError> {
        let path = home.join(FILE);
        let shown = || path.display().to_string();
        let bytes = files::private::read_if_there(&path, FILE_BYTES_MAX)
            .map_err(|error| ObserveError::Io { path: shown(), error })?;
        let Some(bytes) = bytes else { return Ok(None) };
        serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| ObserveError::Unreadable { path: shown(), error: error.to_string() })
    }

    /// What is in force in the state directory `home`. What cannot be read is not.
    #[must_use]
    pub fn in_force(home: &Path, now: i64) -> Option<Self> {
        Self::of(home).ok().flatten().filter(|it| it.holds(now))
    }

    /// Is it in force? A file that promises more than may be promised is not believed at all.
    #[must_use]
    pub fn holds(&self, now: i64) -> bool {
        let most = i64::from(OBSERVE_DAYS_MAX) * DAY_SECONDS;
        let is_bounded = self.until.checked_sub(self.since).is_some_and(|it| it <= most);
        is_bounded && self.since <= now && now < self.until
    }

    /// Keeps it.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, home: &Path) -> Result<(), ObserveError> {
        let path = home.join(FILE);
        let io = |error| ObserveError::Io { path: path.display().to_string(), error };
        let text = serde_json::to_vec(self).map_err(|error| io(error.into()))?;
        files::private::replace(&path, &text).map_err(io)
    }

    /// Ends it: what is not kept is not in force.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn end(home: &Path) -> Result<(), ObserveError> {
        let path = home.join(FILE);
        files::private::remove(&path)
            .map_err(|error| ObserveError::Io { path: path.display().to_string(), error })
    }

    /// For records and programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "since": self.since, "until": self.until, "by": self.by })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    #[test]
    fn it_holds_from_its_beginning_to_its_end() {
        let watch = Observe::for_days(2, NOW, "ann").unwrap();
        assert!(watch.holds(NOW) && watch.holds(NOW + 2 * DAY_SECONDS - 1));
        assert!(!watch.holds(NOW + 2 * DAY_SECONDS));
        assert!(!watch.holds(NOW - 1), "a clock that went back is no reason to watch");
    }

    #[test]
    fn it_is_bounded_also_where_somebody_wrote_the_file() {
        for days in [0, OBSERVE_DAYS_MAX + 1, u16::MAX] {
            assert!(matches!(Observe::for_days(days, NOW, "ann"), Err(ObserveError::Days(_))));
        }
        assert!(Observe::for_days(OBSERVE_DAYS_MAX, NOW, "ann").unwrap().holds(NOW));
        for (since, until) in
            [(0, i64::MAX), (i64::MIN, i64::MAX), (NOW - 40 * DAY_SECONDS, NOW + 1)]
        {
            assert!(!Observe { since, until, by: "ann".to_owned() }.holds(NOW), "{since} {until}");
        }
    }

    #[test]
    fn what_is_kept_is_read_back_and_rubbish_is_not_in_force() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(Observe::of(home.path()).unwrap(), None);
        let watch = Observe::for_days(1, NOW, "ann").unwrap();
        watch.keep(home.path()).unwrap();
        assert_eq!(Observe::of(home.path()).unwrap().as_ref(), Some(&watch));
        assert_eq!(Observe::in_force(home.path(), NOW), Some(watch));
        assert_eq!(Observe::in_force(home.path(), NOW + DAY_SECONDS), None);
        for text in ["{", "{}", r#"{"since":1,"until":2,"by":"a","more":3}"#] {
            files::private::replace(&home.path().join(FILE), text.as_bytes()).unwrap();
            assert!(matches!(Observe::of(home.path()), Err(ObserveError::Unreadable { .. })));
            assert_eq!(Observe::in_force(home.path(), NOW), None);
        }
        Observe::end(home.path()).unwrap();
        Observe::end(home.path()).unwrap();
        assert_eq!(Observe::of(home.path()).unwrap(), None);
    }
}
