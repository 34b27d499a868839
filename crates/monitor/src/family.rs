//! Sessions that other sessions start: a child begins as tainted and as risky as its parent, and what
//! it takes in reaches the parent before the child sees it.

use model::{Profile, SessionId, UserId};

use crate::change::Change;
use crate::monitor::Monitor;
use crate::refusal::Refusal;
use crate::session::Session;

impl Monitor {
    /// How careful a session is.
    pub(crate) fn profile_of(&self, id: &SessionId, user: &UserId) -> Result<Profile, Refusal> {
        Ok(self.sessions().of_user(id, user)?.lock()?.profile())
    }

    /// What `child` begins with as a child of `parent`. Nobody is its own ancestor: telling the parents
    /// would never end.
    pub(crate) fn inheritance(
        &self,
        child: &SessionId,
        parent: &SessionId,
        user: &UserId,
    ) -> Result<Change, Refusal> {
        let handle = self.sessions().of_user(parent, user)?;
        let inherited = handle.lock()?.for_child();
        let mut ancestor = Some(parent.clone());
        while let Some(id) = ancestor {
            if id == *child {
                return Err(Refusal::NoSession(id));
            }
            ancestor = match self.sessions().of_user(&id, user) {
                Ok(handle) => handle.lock()?.parent().cloned(),
                Err(_) => None,
            };
        }
        Ok(inherited)
    }

    /// INVARIANT (HostDecidesTaint): fetching through a child is fetching. The parents are told before
    /// anything is delivered to the child; if one of them is not open here, nothing is delivered.
    ///
    /// A child is locked before its parent and never the other way round.
    pub(crate) fn tell_parents(&self, child: &mut Session, change: &Change) -> Result<(), Refusal> {
        let Some(parent) = child.parent() else { return Ok(()) };
        let handle = self.sessions().of_user(parent, &child.who().user)?;
        let mut parent = handle.lock()?;
        let told = parent.learn_from_child(child, change);
        self.keep(&mut parent, &told)?;
        self.tell_parents(&mut parent, &told)
    }
}
