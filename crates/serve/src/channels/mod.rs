//! Messengers as a door: what somebody writes there becomes a turn, and the answer goes back to where it was written.
//!
//! Each messenger that the settings name has a thread that listens and one that speaks; nothing here dials. Who may
//! write is said in `users.yaml`: whoever is not mapped is refused, and an empty list is nobody.

mod message;
mod questions;
mod room;
mod speech;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use channel::{Backoff, Health, Inbound, Noted, Place, Seen};
use host::channels::{Channels, Line, ListenError};
use model::provider::Provider;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::app::App;
use crate::log::{About, Event};
use crate::window::Window;

use room::{MESSAGES_MAX, Room, Rooms};
use speech::Speech;

/// What is turned away by one messenger for one reason and recorded in a minute; more is counted.
const RECORDED_PER_MINUTE_MAX: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);
/// How often it is looked whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// How long what is still to be said may take once the server is to end.
const SAY_MAX: Duration = Duration::from_secs(5);
/// How long threads may take to end after that.
const END_MAX: Duration = Duration::from_secs(3);

/// What the server keeps of messengers while it runs.
pub(crate) struct Inbox {
    /// What came already, of each messenger.
    seen: Mutex<HashMap<&'static str, Seen>>,
    rooms: Rooms,
    recorded: Window<(&'static str, Refused)>,
    /// Users who were told that they write too much.
    told: Window<String>,
    /// Messages that were not taken: of strangers, too old, or one too many.
    refused: AtomicU64,
    /// When it began to be listened, in seconds since 1970: what was seen before that, nobody knows any more.
    began: AtomicI64,
    speech: Mutex<Vec<Arc<Speech>>>,
    heard: Mutex<Vec<(&'static str, Heard)>>,
}

impl Default for Inbox {
    fn default() -> Self {
        Self {
            seen: Mutex::default(),
            rooms: Rooms::default(),
            recorded: Window::default(),
            told: Window::default(),
            refused: AtomicU64::new(0),
            began: AtomicI64::new(i64::MAX),
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
    app.inbox.began.store(app.now(), Ordering::Release);
    for line in channels.lines() {
        let (speech, speaking) = Speech::begin(app, channels, line)?;
        listening.threads.push(speaking);
        held(&app.inbox.speech).push(speech);
        // Each message has room, and few are recorded as refused: no more wait here.
        let (heard, mut waiting) = unbounded_channel();
        held(&app.inbox.heard).push((line.name(), heard));
        let (of, by) = (Arc::clone(app), Arc::clone(line));
        tokio::spawn(async move {
            while let Some(coming) = waiting.recv().await {
                match coming {
                    Coming::Taken(inbound, room) => {
                        message::take_in(&of, &by, inbound, room).await;
                    }
                    Coming::Refused(inbound, why) => record(&of, &by, &inbound, why).await,
                }
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
        let rooms = &self.app.inbox.rooms;
        let said = async {
            while !rooms.are_free() {
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
        let heard = line.listen(stop, &mut |inbound| {
            // A messenger that is asked has no use for the word that there is no room; it is on record.
            take(app, line, inbound).is_ok() || !app.is_draining()
        });
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

/// Why a message is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Refused {
    /// Nobody is mapped to its sender.
    NotMapped,
    /// It was said too long ago, or before we could know whether it is new.
    Old,
    /// Too many messages are being answered, of its sender or of all.
    Busy,
}

impl Refused {
    fn as_str(self) -> &'static str {
        match self {
            Self::NotMapped => "not_mapped",
            Self::Old => "too_old",
            Self::Busy => "busy",
        }
    }
}

/// There is no room for a message now; whoever can say it again may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy;

/// Takes one message, if it is for us, of somebody who may write, of late, new, and if there is room. Nothing is waited for.
///
/// # Errors
/// If there is no room. Then it counts as never seen.
pub(crate) fn take(app: &App, line: &Line, inbound: Inbound) -> Result<(), Busy> {
    // INVARIANT (HostDecidesTaint): whether a place is shared is the messenger's word about the place, not the sender's.
    let is_for_us =
        inbound.place == Place::Direct || inbound.mentions_us || !line.settings().require_mention;
    if !is_for_us {
        return Ok(());
    }
    if app.is_draining() {
        return Err(Busy);
    }
    let known = app.directory().at(line.channel(), &inbound.sender);
    let Some(user) = known.map(|it| it.name().to_string()) else {
        refuse(app, line, inbound, Refused::NotMapped);
        return Ok(());
    };
    // What we were called with before we began may have been carried out: nobody remembers.
    let began = app.inbox.began.load(Ordering::Acquire);
    let is_from_before = line.calls_us() && inbound.at.is_none_or(|it| it < began);
    if is_from_before || !inbound.is_of_late(app.now()) {
        refuse(app, line, inbound, Refused::Old);
        return Ok(());
    }
    let Some(room) = app.inbox.rooms.of(&user) else {
        refuse(app, line, inbound, Refused::Busy);
        return Err(Busy);
    };
    let noted = held(&app.inbox.seen).entry(line.name()).or_default().note(
        &inbound.sender,
        &inbound.id,
        app.began.elapsed(),
    );
    match noted {
        Noted::New => send(app, line, Coming::Taken(inbound, room)),
        Noted::Again => {}
        Noted::Full => {
            refuse(app, line, inbound, Refused::Busy);
            return Err(Busy);
        }
    }
    Ok(())
}

/// INVARIANT (NothingSilent): what is not taken is counted, and recorded as far as that is bearable. Its sender is told nothing.
pub(super) fn refuse(app: &App, line: &Line, inbound: Inbound, why: Refused) {
    app.inbox.refused.fetch_add(1, Ordering::Relaxed);
    let of = (line.name(), why);
    if app.inbox.recorded.admit(&of, RECORDED_PER_MINUTE_MAX, MINUTE).is_ok() {
        send(app, line, Coming::Refused(inbound, why));
    }
}

async fn record(app: &Arc<App>, line: &Line, inbound: &Inbound, why: Refused) {
    let about = json!({
        "address": inbound.address.to_string(), "channel": line.name(), "code": why.as_str(),
        "sender": inbound.sender,
    });
    app.log(Event::ChannelRefused, About::default(), about.clone());
    // It stays refused, recorded or not.
    let _ = app.blocking(move |app| app.record("channel_refused", about)).await;
}

fn send(app: &App, line: &Line, coming: Coming) {
    if let Some((_, heard)) = held(&app.inbox.heard).iter().find(|it| it.0 == line.name()) {
        // If nobody takes it, it is over.
        let _ = heard.send(coming);
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where messages of one messenger go, in their order.
type Heard = UnboundedSender<Coming>;

/// A message that came.
enum Coming {
    /// It is answered.
    Taken(Inbound, Room),
    /// It is recorded.
    Refused(Inbound, Refused),
}

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
