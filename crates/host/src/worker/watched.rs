//! Who is told of workers and of their calls.

use std::sync::{Arc, PoisonError, RwLock};

use agent::{ToolEvent, Watches, WorkerEvent};
use model::Caller;

/// Whoever looks on, if somebody does. All workers of a host have the same.
#[derive(Clone, Default)]
pub(crate) struct Watched(Arc<RwLock<Option<Arc<dyn Watches>>>>);

impl Watched {
    /// From now on they are told.
    pub(crate) fn by(&self, watcher: Arc<dyn Watches>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(watcher);
    }

    /// Something became of the worker of this user, agent and session.
    pub(crate) fn worker(&self, (user, agent, session): (&str, &str, &str), event: WorkerEvent) {
        if let Some(it) = self.now() {
            it.worker(user, agent, session, event);
        }
    }

    /// Something became of a call.
    pub(super) fn tool(&self, who: &Caller, tool: &str, event: ToolEvent<'_>) {
        if let Some(it) = self.now() {
            let of = (who.user.as_str(), who.agent.as_str(), who.session.as_str());
            it.tool(of, tool, event);
        }
    }

    fn now(&self) -> Option<Arc<dyn Watches>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
