//! Users for whom something is done now, and users whose account is being deleted: nobody is both.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::frame::ErrorCode;
use crate::turn::Refused;

/// Who is in use, and who is being deleted.
#[derive(Clone, Default)]
pub(crate) struct Deletions(Arc<Mutex<HashMap<String, Account>>>);

#[derive(Default)]
struct Account {
    /// Turns that run, and sessions that are being begun.
    in_use: usize,
    is_deleted: bool,
}

/// Something is done for a user until this is dropped: what it leaves behind is there before a deletion looks for it.
pub(crate) struct InUse {
    of: Deletions,
    user: String,
}

/// A user is being deleted until this is dropped: nothing begins for them.
pub(crate) struct Deletion {
    of: Deletions,
    user: String,
}

/// How often it is looked whether everything has ended.
const LOOK: Duration = Duration::from_millis(10);

impl Deletions {
    /// Something begins for this user.
    pub(crate) fn enter(&self, user: &str) -> Result<InUse, Refused> {
        let mut all = self.held();
        let account = all.entry(user.to_owned()).or_default();
        if account.is_deleted {
            let why = "the account is being deleted";
            return Err(Refused::new(ErrorCode::AccessDenied, why));
        }
        account.in_use = account.in_use.saturating_add(1);
        Ok(InUse { of: self.clone(), user: user.to_owned() })
    }

    /// From now on nothing begins for this user. None if somebody deletes them already.
    pub(crate) fn begin(&self, user: &str) -> Option<Deletion> {
        let mut all = self.held();
        let account = all.entry(user.to_owned()).or_default();
        let is_first = !std::mem::replace(&mut account.is_deleted, true);
        is_first.then(|| Deletion { of: self.clone(), user: user.to_owned() })
    }

    /// Changes what is known of a user; whoever is neither in use nor being deleted is forgotten.
    fn change(&self, user: &str, change: impl FnOnce(&mut Account)) {
        let mut all = self.held();
        let Some(account) = all.get_mut(user) else { return };
        change(account);
        if account.in_use == 0 && !account.is_deleted {
            all.remove(user);
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Account>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deletion {
    /// Waits until everything has ended that had begun before. False if that takes too long.
    pub(crate) async fn alone(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let is_in_use = || self.of.held().get(&self.user).is_some_and(|it| it.in_use > 0);
        while is_in_use() {
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(LOOK).await;
        }
        true
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.of.change(&self.user, |it| it.in_use = it.in_use.saturating_sub(1));
    }
}

impl Drop for Deletion {
    fn drop(&mut self) {
        self.of.change(&self.user, |it| it.is_deleted = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_being_deleted_begins_nothing_and_what_had_begun_ends_first() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let all = Deletions::default();
            let runs = all.enter("ann").unwrap();
            let deletion = all.begin("ann").unwrap();
            assert!(all.begin("ann").is_none());
            let refused = all.enter("ann").err().unwrap();
            assert_eq!(refused.code, ErrorCode::AccessDenied);
            assert!(all.enter("bob").is_ok());
            assert!(!deletion.alone(Duration::from_millis(30)).await);
            drop(runs);
            assert!(deletion.alone(Duration::from_millis(30)).await);
            drop(deletion);
            assert!(all.enter("ann").is_ok());
            // Nobody is remembered for whom nothing is done.
            assert!(all.held().is_empty());
        });
    }
}
