//! What the daemon says of itself.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::Doors;

impl Doors<'_> {
    /// Which doors are open, and what goes through them.
    pub(super) fn status(&self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "pid": std::process::id(),
            "uptime": self.began.elapsed().as_secs(),
            // Whoever asks is one of them.
            "under_way": self.calls.count(),
            "connections": self.open.load(Ordering::Acquire).saturating_sub(1),
            "hooks": {
                "called": self.hook.called(),
                "answered": self.answered.load(Ordering::Relaxed),
                "sessions": self.hook.open_sessions(),
                "waiting": self.hook.waiting(),
                "missed": self.hook.missed(),
                "past_gateway": self.hook.past_gateway(),
                "unannounced": self.hook.unannounced_calls(),
                "changed": self.hook.changed(),
            },
            "serve": self.served.as_ref().map(|it| it.status()),
            "jobs": self.talks.as_ref().map(|it| it.jobs()),
            "proxies": { "strangers": self.strangers.load(Ordering::Relaxed) },
        })
    }
}
