//! What is said by one messenger: one thing after the other, on a thread of its own.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use channel::Address;
use host::channels::{Channels, Line, Origin};
use model::{AgentId, UserId};
use serde_json::json;

use super::{MESSAGES_MAX, Room};
use crate::app::App;
use crate::log::{About, Event};

/// Where things are put that are to be said.
pub(super) struct Speech {
    name: &'static str,
    queue: SyncSender<Saying>,
}

/// Something that is to be said.
pub(super) struct Saying {
    pub(super) user: UserId,
    pub(super) agent: AgentId,
    pub(super) to: Address,
    pub(super) text: String,
    /// Whose words it is made of.
    pub(super) origin: Origin,
    /// Given back when it was said.
    pub(super) room: Room,
}

impl Speech {
    /// Begins to speak by a line.
    pub(super) fn begin(
        app: &Arc<App>,
        channels: &Arc<Channels>,
        line: &Arc<Line>,
    ) -> std::io::Result<(Arc<Self>, JoinHandle<()>)> {
        // One place for each message that is being answered.
        let (queue, waiting) = sync_channel(MESSAGES_MAX);
        let (app, channels, name) = (Arc::clone(app), Arc::clone(channels), line.name());
        let thread = thread::Builder::new().name(format!("say-{name}"));
        let thread = thread.spawn(move || speak(&app, &channels, name, &waiting))?;
        Ok((Arc::new(Self { name, queue }), thread))
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Puts something at the end. What comes after the end is not said.
    pub(super) fn say(&self, saying: Saying) {
        // There is a place for each that has room; if the thread has gone, it is over.
        let _ = self.queue.try_send(saying);
    }
}

fn speak(app: &App, channels: &Channels, name: &'static str, waiting: &Receiver<Saying>) {
    for Saying { user, agent, to, text, origin, room } in waiting {
        if let Err(error) = channels.deliver(&user, &agent, (&to, &text), &origin) {
            let about = About {
                user: Some(user.as_str()),
                agent: Some(agent.as_str()),
                ..About::default()
            };
            let details = json!({ "channel": name, "why": error.to_string() });
            app.log(Event::ChannelUnsaid, about, details);
        }
        drop(room);
    }
}
