//! Sessions that other sessions start: a child begins as tainted and as risky as its parent, and what
//! it takes in reaches the parent before the child sees it.

use model::{SessionId, UserId};

use crate::change::Change;
use crate::monitor::Monitor;
use crate::refusal::Refusal;
use crate::session::Session;

impl Monitor {
    /// What a child of `parent` begins with.
    pub(crate) fn inheritance(&self, parent: &SessionId, user: &UserId) -> Result<Change, Refusal> {
        let handle = self.sessions().of_user(parent, user)?;
        let parent = handle.lock()?;
        Ok(parent.for_child())
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
