//! The sessions that are open here. Each is locked for itself; those that nobody has used for long
//! are forgotten here and come back from where they are kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use model::{Caller, SessionId, UserId};

use crate::refusal::Refusal;
use crate::session::Session;

/// One session, to be locked.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Mutex<Session>>);

impl Handle {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Session> {
        // A panic while it was held can only have left more labels than before, never fewer: changes are
        // applied whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The open sessions.
#[derive(Default)]
pub(crate) struct Sessions(RwLock<HashMap<SessionId, Handle>>);

impl Sessions {
    /// The session of `who`. A session of somebody else is none of theirs.
    pub(crate) fn get(&self, who: &Caller) -> Result<Handle, Refusal> {
        let handle = self.of_user(&who.session, &who.user)?;
        let is_theirs = handle.lock().who().agent == who.agent;
        if is_theirs { Ok(handle) } else { Err(Refusal::NoSession(who.session.clone())) }
    }

    /// A session of the user, whichever agent runs it.
    pub(crate) fn of_user(&self, id: &SessionId, user: &UserId) -> Result<Handle, Refusal> {
        let sessions = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let handle = sessions.get(id).cloned();
        drop(sessions);
        let handle = handle.ok_or_else(|| Refusal::NoSession(id.clone()))?;
        let is_theirs = handle.lock().who().user == *user;
        if is_theirs { Ok(handle) } else { Err(Refusal::NoSession(id.clone())) }
    }

    pub(crate) fn insert(&self, session: Session) {
        let id = session.who().session.clone();
        let handle = Handle(Arc::new(Mutex::new(session)));
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, handle);
    }

    pub(crate) fn remove(&self, id: &SessionId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}
