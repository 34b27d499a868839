//! What becomes of workers, for the log.

use std::sync::{Arc, Weak};

use agent::{Watches, WorkerEvent};
use serde_json::json;

use crate::app::App;
use crate::log::{About, Event};

/// Writes down what becomes of workers, as long as there is a server.
pub(crate) struct Lookout(pub(crate) Weak<App>);

impl Lookout {
    /// Has the runtime tell it.
    pub(crate) fn begin(app: &Arc<App>) {
        app.parts.runtime.watched_by(Arc::new(Self(Arc::downgrade(app))));
    }
}

impl Watches for Lookout {
    fn worker(&self, user: &str, agent: &str, session: &str, event: WorkerEvent) {
        let Some(app) = self.0.upgrade() else { return };
        let (event, details) = match event {
            WorkerEvent::Spawned => (Event::WorkerSpawned, json!({})),
            WorkerEvent::Ready { ms } => (Event::WorkerReady, json!({ "ms": ms })),
            WorkerEvent::ReadyTimeout => (Event::WorkerReadyTimeout, json!({})),
            WorkerEvent::NotStarted => (Event::WorkerError, json!({})),
            WorkerEvent::IdleTimeout => (Event::WorkerIdleTimeout, json!({})),
            WorkerEvent::Lacks { count } => (Event::WorkerError, json!({ "lacks": count })),
            WorkerEvent::Exit => (Event::WorkerExit, json!({})),
            WorkerEvent::FrameRejected { count } => {
                (Event::WorkerFrameRejected, json!({ "count": count }))
            }
        };
        let about = About { user: Some(user), agent: Some(agent), session: Some(session) };
        app.log(event, about, details);
    }
}
