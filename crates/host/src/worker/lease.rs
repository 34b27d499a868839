//! Sessions that somebody still works in. One whose last call has not come back is not begun anew: whoever ends the old
//! one would end the new one with it.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use model::SessionId;

use super::shared::held;

/// The sessions of a host that workers have.
#[derive(Clone, Default)]
pub(crate) struct Leases(Arc<Mutex<HashSet<SessionId>>>);

/// A session is somebody's, until this is dropped.
pub(super) struct Lease {
    all: Leases,
    session: SessionId,
}

impl Leases {
    /// Takes a session; none while somebody has it.
    pub(super) fn take(&self, session: &SessionId) -> Option<Lease> {
        let is_free = held(&self.0).insert(session.clone());
        is_free.then(|| Lease { all: self.clone(), session: session.clone() })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        held(&self.all.0).remove(&self.session);
    }
}
