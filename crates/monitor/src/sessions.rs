//! The sessions that are open here. Each is locked for itself.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use model::{Caller, SessionId, UserId};

use crate::monitor::Monitor;
use crate::refusal::Refusal;
use crate::session::Session;

/// So many sessions can be opened or ended at the same moment.
const DOORS: usize = 64;

/// One session, to be locked.
#[derive(Clone)]
pub(crate) struct Handle(Arc<Slot>);

struct Slot {
    who: Caller,
    session: Mutex<Session>,
}

impl Handle {
    fn new(session: Session) -> Self {
        Self(Arc::new(Slot { who: session.who().clone(), session: Mutex::new(session) }))
    }

    /// Is it a session of this caller? Whose it is never changes.
    pub(crate) fn is_of(&self, who: &Caller) -> bool {
        self.0.who.user == who.user && self.0.who.agent == who.agent
    }

    /// The session, as long as it is open. Once it has ended, another may live under its id, and what is
    /// added to this one would be seen by nobody.
    pub(crate) fn lock(&self) -> Result<MutexGuard<'_, Session>, Refusal> {
        let session = self.lock_even_if_ended();
        if session.has_ended() {
            return Err(Refusal::NoSession(self.0.who.session.clone()));
        }
        Ok(session)
    }

    /// The session, also after its end: for what is to be kept of it whatever happens.
    pub(crate) fn lock_even_if_ended(&self) -> MutexGuard<'_, Session> {
        // A panic while it was held can only have left more labels than before, never fewer: changes are
        // applied whole.
        self.0.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The open sessions.
pub(crate) struct Sessions {
    open: RwLock<HashMap<SessionId, Handle>>,
    doors: Vec<Mutex<()>>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self { open: RwLock::default(), doors: (0..DOORS).map(|_| Mutex::default()).collect() }
    }
}

impl Sessions {
    /// The session of `who`. A session of somebody else is none of theirs.
    pub(crate) fn get(&self, who: &Caller) -> Result<Handle, Refusal> {
        let found = self.find(&who.session).filter(|it| it.is_of(who));
        found.ok_or_else(|| Refusal::NoSession(who.session.clone()))
    }

    /// The session with this id, whosever it is.
    pub(crate) fn find(&self, id: &SessionId) -> Option<Handle> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Held while a session is opened or ended: what is read from where it is kept must not be older
    /// than what an open one has taken in since.
    pub(crate) fn door(&self, id: &SessionId) -> Option<MutexGuard<'_, ()>> {
        let mut hasher = DefaultHasher::new();
        id.as_str().hash(&mut hasher);
        let at = usize::try_from(hasher.finish() % DOORS as u64).unwrap_or_default();
        self.doors.get(at).map(|it| it.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A session of the user, whichever agent runs it.
    pub(crate) fn of_user(&self, id: &SessionId, user: &UserId) -> Result<Handle, Refusal> {
        let found = self.find(id).filter(|it| it.0.who.user == *user);
        found.ok_or_else(|| Refusal::NoSession(id.clone()))
    }

    pub(crate) fn insert(&self, session: Session) {
        let id = session.who().session.clone();
        let handle = Handle::new(session);
        self.open.write().unwrap_or_else(PoisonError::into_inner).insert(id, handle);
    }

    pub(crate) fn remove(&self, id: &SessionId) {
        self.open.write().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

impl Monitor {
    /// Whose session it is that is open here under this id.
    ///
    /// # Errors
    /// If none is.
    pub fn caller_of(&self, session: &SessionId) -> Result<Caller, Refusal> {
        let found = self.sessions().find(session);
        let found = found.ok_or_else(|| Refusal::NoSession(session.clone()))?;
        Ok(found.lock()?.who().clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_door_for_each_session() {
        let sessions = Sessions::default();
        for number in 0..1000 {
            let id = SessionId::parse(&format!("s-{number}")).unwrap();
            let door = sessions.door(&id);
            assert!(door.is_some());
            let same = |it: &&Mutex<()>| it.try_lock().is_err();
            assert_eq!(sessions.doors.iter().filter(same).count(), 1, "it is held");
        }
    }
}
