//! Messengers as a door: what somebody writes there becomes a turn, and the answer goes back to where it was written.
//!
//! Each messenger that the settings name has a thread that listens and one that speaks; nothing here dials. Who may
//! write is said in `users.yaml`: whoever is not mapped is refused, and an empty list is nobody.

mod message;
mod questions;
mod speech;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use channel::{Backoff, Health, Inbound, Seen};
use host::channels::{Channels, Line, ListenError};
use model::provider::Provider;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::App;
use crate::log::{About, Event};
use crate::window::Window;

use speech::Speech;

/// Messages of all messengers that are being answered.
const MESSAGES_MAX: usize = 256;
/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// How long what is still to be said may take once the server is to end.
const SAY_MAX: Duration = Duration::from_secs(5);
/// How long threads may take to end after that.
const END_MAX: Duration = Duration::from_secs(3);

/// What the server keeps of messengers while it runs.
pub(crate) struct Inbox {
    seen: Mutex<Seen>,
    room: Arc<Semaphore>,
    strangers: Window<&'static str>,
    /// Messages that were not taken: of strangers, or one too many.
    refused: AtomicU64,
    speech: Mutex<Vec<Arc<Speech>>>,
    heard: Mutex<Vec<(&'static str, Heard)>>,
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            seen: Mutex::default(),
            room: Arc::new(Semaphore::new(MESSAGES_MAX)),
            strangers: Window::default(),
            refused: AtomicU64::new(0),
            speech: Mutex::default(),
            heard: Mutex::default(),
        }
    }
}

impl Inbox {
    fn speech(&self, line: &Line) -> Option<Arc<Speech>> {
        let all = held(&self.speech);
        all.iter().find(|it| it.name() == line.name()).cloned()
    }
}

/// Threads that listen and speak.
pub(crate) struct Listening {
    app: Arc<App>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Begins to listen to every messenger that the settings name.
pub(crate) fn begin(app: &Arc<App>) -> std::io::Result<Listening> {
    let stop = Arc::<AtomicBool>::default();
    let mut listening = Listening { app: Arc::clone(app), stop, threads: Vec::new() };
    let Some(channels) = &app.parts.channels else { return Ok(listening) };
    for line in channels.lines() {
        let (speech, speaking) = Speech::begin(app, channels, line)?;
        listening.threads.push(speaking);
        held(&app.inbox.speech).push(speech);
        // Each message has room, so no more than there is room for wait here.
        let (heard, mut waiting) = unbounded_channel();
        held(&app.inbox.heard).push((line.name(), heard));
        let (of, by) = (Arc::clone(app), Arc::clone(line));
        tokio::spawn(async move {
            while let Some((inbound, room)) = waiting.recv().await {
                message::take_in(&of, &by, inbound, room).await;
            }
        });
        let (app, line, stop) = (Arc::clone(app), Arc::clone(line), Arc::clone(&listening.stop));
        let thread = thread::Builder::new().name(format!("channel-{}", line.name()));
        listening.threads.push(thread.spawn(move || listen(&app, &line, &stop))?);
    }
    Ok(listening)
}

impl Listening {
    /// Nothing more is heard.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Says what is still to be said, and ends.
    pub(crate) async fn end(self) {
        let room = &self.app.inbox.room;
        let said = async {
            while room.available_permits() < MESSAGES_MAX {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(SAY_MAX, said).await;
        if let Some(channels) = &self.app.parts.channels {
            channels.end();
        }
        held(&self.app.inbox.speech).clear();
        held(&self.app.inbox.heard).clear();
        let ended = async {
            while !self.threads.iter().all(JoinHandle::is_finished) {
                tokio::time::sleep(LOOK).await;
            }
        };
        let _ = tokio::time::timeout(END_MAX, ended).await;
    }
}

/// Listens until it is to end; what fails is tried again, each time later.
fn listen(app: &App, line: &Line, stop: &AtomicBool) {
    let mut backoff = Backoff::default();
    while !stop.load(Ordering::Acquire) {
        let heard = line.listen(stop, &mut |inbound| take(app, line, inbound));
        let Err(ListenError { why, retry, answered }) = heard else {
            backoff.reset();
            continue;
        };
        if answered {
            backoff.reset();
        }
        let wait = backoff.wait(retry);
        let details = json!({ "channel": line.name(), "why": why, "waitSeconds": wait.as_secs() });
        app.log(Event::ChannelDown, About::default(), details);
        let until = Instant::now() + wait;
        while Instant::now() < until && !stop.load(Ordering::Acquire) {
            thread::sleep(LOOK);
        }
    }
}

/// Takes one message, if it is new and there is room. Nothing is waited for.
pub(crate) fn take(app: &App, line: &Line, inbound: Inbound) {
    let id = format!("{} {}", line.name(), inbound.id);
    if !held(&app.inbox.seen).is_new(&id, app.began.elapsed()) {
        return;
    }
    let Ok(room) = Arc::clone(&app.inbox.room).try_acquire_owned() else {
        app.inbox.refused.fetch_add(1, Ordering::Relaxed);
        let details = json!({ "channel": line.name(), "code": "busy" });
        app.log(Event::ChannelRefused, About::default(), details);
        return;
    };
    if let Some((_, heard)) = held(&app.inbox.heard).iter().find(|it| it.0 == line.name()) {
        // If nobody takes it, it is over.
        let _ = heard.send((inbound, room));
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where messages of one messenger go, in their order.
type Heard = UnboundedSender<(Inbound, Room)>;

/// A place among the messages that are being answered, until its answer was said.
type Room = OwnedSemaphorePermit;

/// How the messengers are, for people who look.
pub(crate) fn shown(app: &App) -> Value {
    let lines = app.parts.channels.iter().flat_map(|it| it.lines());
    let lines = lines.map(|it| match it.health() {
        Health::Unknown => json!({ "channel": it.name(), "status": "unknown" }),
        Health::Up => json!({ "channel": it.name(), "status": "up" }),
        Health::Down(why) => json!({ "channel": it.name(), "status": "down", "why": why }),
    });
    json!({
        "lines": lines.collect::<Vec<_>>(),
        "refused": app.inbox.refused.load(Ordering::Relaxed),
    })
}

/// The line to a messenger of this name.
pub(crate) fn line<'a>(app: &'a App, name: &str) -> Option<&'a Arc<Line>> {
    let channels: &Arc<Channels> = app.parts.channels.as_ref()?;
    channels.lines().iter().find(|it| Provider::Channel(it.channel()).name() == name)
}
