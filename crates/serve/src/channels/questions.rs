//! A turn that waits for a person: whoever wrote is told that it does, and where it is answered. What it is about stands
//! there, and not on the messenger.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::channel;

use crate::app::App;
use crate::limits::OUTGOING_MAX;
use crate::sockets::Outgoing;
use crate::turns::Key;

/// What is said, once in a turn.
pub(super) const WAITS: &str = "Something in this needs your word before it goes on: answer it with `lazaret approvals`, or where you are signed in.";

/// Runs a turn, and calls `tell` when the gate asks something in it for the first time.
pub(super) async fn telling<T>(
    app: &Arc<App>,
    key: &Key,
    turn: impl Future<Output = T>,
    tell: impl FnOnce(),
) -> T {
    let (to, mut from) = channel(OUTGOING_MAX);
    let id = app.sockets.number();
    app.rooms.listen(key, (id, to), None, app.now_ms());
    tokio::pin!(turn);
    let mut tell = Some(tell);
    let done = loop {
        tokio::select! {
            biased;
            done = &mut turn => break done,
            Some(Outgoing { text, .. }) = from.recv() => {
                if is_question(&text) && let Some(tell) = tell.take() {
                    tell();
                }
            }
        }
    };
    app.rooms.leave(key, id);
    done
}

fn is_question(frame: &str) -> bool {
    let frame: Value = serde_json::from_str(frame).unwrap_or_default();
    frame.get("type").and_then(Value::as_str) == Some("tool_approval")
}
