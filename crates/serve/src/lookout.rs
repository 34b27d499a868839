//! What becomes of workers and of calls of tools, for the log.

use std::sync::{Arc, Weak};

use agent::{ToolEvent, Watches, WorkerEvent};
use serde_json::json;

use crate::app::App;
use crate::log::{About, Event};
use crate::turns::Key;

/// Writes down what becomes of them, as long as there is a server.
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
        let key =
            Key { user: user.to_owned(), agent: agent.to_owned(), session: session.to_owned() };
        match event {
            WorkerEvent::Ready { .. } => app.with_worker.begin(key),
            WorkerEvent::Exit => app.with_worker.end(&key),
            WorkerEvent::Spawned
            | WorkerEvent::ReadyTimeout
            | WorkerEvent::NotStarted
            | WorkerEvent::IdleTimeout
            | WorkerEvent::Lacks { .. }
            | WorkerEvent::Broke
            | WorkerEvent::FrameRejected { .. } => {}
        }
        let (event, details) = match event {
            WorkerEvent::Spawned => (Event::WorkerSpawned, json!({})),
            WorkerEvent::Ready { ms } => (Event::WorkerReady, json!({ "ms": ms })),
            WorkerEvent::ReadyTimeout => (Event::WorkerReadyTimeout, json!({})),
            WorkerEvent::NotStarted => (Event::WorkerError, json!({ "why": "not_started" })),
            WorkerEvent::IdleTimeout => (Event::WorkerIdleTimeout, json!({})),
            WorkerEvent::Lacks { count } => (Event::WorkerError, json!({ "lacks": count })),
            WorkerEvent::Broke => (Event::WorkerError, json!({ "why": "broke" })),
            WorkerEvent::Exit => (Event::WorkerExit, json!({})),
            WorkerEvent::FrameRejected { count } => {
                (Event::WorkerFrameRejected, json!({ "count": count }))
            }
        };
        let about = About { user: Some(user), agent: Some(agent), session: Some(session) };
        app.log(event, about, details);
    }

    fn tool(&self, (user, agent, session): (&str, &str, &str), tool: &str, event: ToolEvent<'_>) {
        let Some(app) = self.0.upgrade() else { return };
        let (event, details) = match event {
            ToolEvent::Called => (Event::ToolCalled, json!({ "tool": tool })),
            ToolEvent::Completed { well, ms } => {
                let status = if well { "ran" } else { "failed" };
                let details =
                    json!({ "tool": tool, "decision": "allow", "status": status, "ms": ms });
                (Event::ToolCompleted, details)
            }
            ToolEvent::Denied { decision, rule } => {
                let details = json!({ "tool": tool, "decision": decision, "rule": rule });
                (Event::ToolDenied, details)
            }
        };
        let about = About { user: Some(user), agent: Some(agent), session: Some(session) };
        app.log(event, about, details);
    }
}
