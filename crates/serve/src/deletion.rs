//! Users for whom something is done now, and users whose account is being deleted.
//!
//! INVARIANT (NothingLeft): nothing begins for a user who is being deleted, and nothing is deleted before everything has ended
//! that had begun. Whatever can leave something behind of a user holds an [`InUse`].

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::frame::ErrorCode;
use crate::turn::Refused;

/// The reason why nothing begins.
pub(crate) const BEING_DELETED: &str = "the account is being deleted";

/// Users of whom something is done, or who are being deleted.
#[derive(Clone, Default)]
pub(crate) struct Deletions(Arc<Mutex<HashMap<String, Account>>>);

#[derive(Default)]
struct Account {
    /// Turns that run, wherever they were begun, and sessions that are being begun.
    in_use: usize,
    being_deleted: bool,
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

impl Deletions {
    /// Begins something for this user.
    ///
    /// # Errors
    /// If they are being deleted.
    pub(crate) fn enter(&self, user: &str) -> Result<InUse, Refused> {
        let mut all = self.held();
        let account = all.entry(user.to_owned()).or_default();
        if account.being_deleted {
            return Err(Refused::new(ErrorCode::AccessDenied, BEING_DELETED));
        }
        account.in_use = account.in_use.saturating_add(1);
        Ok(InUse { of: self.clone(), user: user.to_owned() })
    }

    /// Lets nothing begin for this user from now on. None if somebody deletes them already.
    pub(crate) fn begin(&self, user: &str) -> Option<Deletion> {
        let mut all = self.held();
        let account = all.entry(user.to_owned()).or_default();
        let is_first = !std::mem::replace(&mut account.being_deleted, true);
        is_first.then(|| Deletion { of: self.clone(), user: user.to_owned() })
    }

    /// Changes what is known of a user; whoever is neither in use nor being deleted is forgotten.
    fn change(&self, user: &str, change: impl FnOnce(&mut Account)) {
        let mut all = self.held();
        let Some(account) = all.get_mut(user) else { return };
        change(account);
        if account.in_use == 0 && !account.being_deleted {
            all.remove(user);
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Account>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deletion {
    /// Tells whether something that had begun before still goes on.
    pub(crate) fn is_awaited(&self) -> bool {
        self.of.held().get(&self.user).is_some_and(|it| it.in_use > 0)
    }
}

impl InUse {
    /// Tells whether the user is being deleted since.
    pub(crate) fn is_to_end(&self) -> bool {
        self.of.held().get(&self.user).is_some_and(|it| it.being_deleted)
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.of.change(&self.user, |it| it.in_use = it.in_use.saturating_sub(1));
    }
}

impl Drop for Deletion {
    fn drop(&mut self) {
        self.of.change(&self.user, |it| it.being_deleted = false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_being_deleted_begins_nothing_and_what_had_begun_ends_first() {
        let all = Deletions::default();
        let runs = all.enter("ann").unwrap();
        assert!(!runs.is_to_end());
        let deletion = all.begin("ann").unwrap();
        assert!(all.begin("ann").is_none());
        let refused = all.enter("ann").err().unwrap();
        assert_eq!(refused.code, ErrorCode::AccessDenied);
        assert!(all.enter("bob").is_ok());
        assert!(deletion.is_awaited() && runs.is_to_end());
        drop(runs);
        assert!(!deletion.is_awaited());
        drop(deletion);
        assert!(all.enter("ann").is_ok());
        // Nobody is remembered for whom nothing is done.
        assert!(all.held().is_empty());
    }
}
