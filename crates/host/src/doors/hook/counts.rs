//! What goes through the door for hooks, in numbers.

use std::sync::atomic::Ordering;

use super::{HookDoor, lock};

impl HookDoor<'_> {
    /// How many sessions are open.
    #[must_use]
    pub fn open_sessions(&self) -> usize {
        lock(&self.sessions).len()
    }

    /// Calls that were let through and have not come back.
    #[must_use]
    pub fn waiting(&self) -> usize {
        let sessions: Vec<_> = lock(&self.sessions).values().cloned().collect();
        sessions.iter().map(|it| lock(it).waiting()).sum()
    }

    /// Are there calls under way that need this daemon and no other?
    #[must_use]
    pub fn is_watching(&self) -> bool {
        let sessions: Vec<_> = lock(&self.sessions).values().cloned().collect();
        sessions.iter().any(|it| lock(it).is_watching())
    }

    /// How often a result came of a call that no hook had announced.
    #[must_use]
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// How many files changed between calls without anybody having been seen to write them.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.changed.load(Ordering::Relaxed)
    }
}
