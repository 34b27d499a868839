//! One message of a messenger, from its arrival to the answer: for us? → who? → what is attached → rate → session →
//! turn → answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use agent::Voice;
use channel::{Inbound, Place, Words};
use host::channels::Line;
use model::UserId;
use model::ipc::Uuid;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::Room;
use super::questions::{WAITS, telling};
use super::speech::Saying;
use crate::admit::{charge, may_use};
use crate::app::App;
use crate::directory::Known;
use crate::frame::ErrorCode;
use crate::limits::SESSIONS_PER_USER_MAX;
use crate::log::{About, Event};
use crate::turn::{self, Asked, Refused, internal};
use crate::turns::{Key, Waiting};

/// Strangers of one messenger that are recorded in a minute; more are counted.
const STRANGERS_PER_MINUTE_MAX: usize = 20;
const MINUTE: Duration = Duration::from_secs(60);
/// What somebody writes to agree to the policy, before its version.
const AGREE: &str = "/agree ";
/// What somebody is told whose attachment is not taken.
const NOT_TAKEN: &str =
    "What is attached is not taken: it is of no type that is allowed here, or too large.";

/// What follows from a message.
enum Next {
    /// Nothing.
    Nothing,
    /// This is said.
    Say(String),
    /// A turn, which has its place in the queue.
    Turn(Box<Asked>, Option<Waiting>),
}

/// Takes one message in, if it is for us and of somebody who may write. Turns have their places in the order of
/// messages when this returns; they run beside it.
pub(super) async fn take_in(app: &Arc<App>, line: &Arc<Line>, inbound: Inbound, room: Room) {
    // INVARIANT (HostDecidesTaint): whether a place is shared is the messenger's word about the place, not the sender's.
    let is_for_us =
        inbound.place == Place::Direct || inbound.mentions_us || !line.settings().require_mention;
    if !is_for_us || app.is_draining() {
        return;
    }
    let Some(known) = app.directory().at(line.channel(), &inbound.sender) else {
        return stranger(app, line, &inbound).await;
    };
    let user = known.name().clone();
    if let Some(channels) = &app.parts.channels {
        channels.wrote(&user, line.agent(), &inbound.address);
    }
    match next(app, line, known, &inbound).await {
        Ok(Next::Nothing) => {}
        Ok(Next::Say(text)) => say(app, line, user, &inbound, text, room),
        Err(refused) => say(app, line, user, &inbound, told(app, &refused, inbound.place), room),
        Ok(Next::Turn(asked, waiting)) => {
            let (app, line) = (Arc::clone(app), Arc::clone(line));
            tokio::spawn(
                async move { answer(&app, &line, inbound, (*asked, waiting), room).await },
            );
        }
    }
}

/// Who may write → what they write → how often → in which session.
async fn next(
    app: &Arc<App>,
    line: &Line,
    known: Known,
    inbound: &Inbound,
) -> Result<Next, Refused> {
    let own = inbound.place == Place::Direct && inbound.words == Words::Own;
    if let Some(version) = inbound.text.trim().strip_prefix(AGREE).filter(|_| own) {
        return agreed(app, &known, version.to_owned()).await.map(Next::Say);
    }
    let Some(content) = content(line, inbound) else {
        return Ok(match inbound.attachments.is_empty() {
            true => Next::Nothing,
            false => Next::Say(NOT_TAKEN.to_owned()),
        });
    };
    let agent = line.agent().as_str();
    charge(app, known.name().as_str())?;
    may_use(&app.directory(), &known, agent)?;
    let session = session(app, &known, agent, &inbound.address.to_string()).await?;
    let key = Key { user: known.name().to_string(), agent: agent.to_owned(), session };
    // Whoever writes where others write as well is not the user at their own desk.
    let voice = match own {
        true => Voice::User,
        false => Voice::Channel { origin: format!("{} {}", inbound.address, inbound.sender) },
    };
    let waiting = app.queues.enqueue(&key);
    let asked = Asked { known, key, content, voice, earlier: None, once: false };
    Ok(Next::Turn(Box::new(asked), waiting))
}

/// Runs a turn, and says what comes of it.
async fn answer(
    app: &Arc<App>,
    line: &Line,
    inbound: Inbound,
    (asked, waiting): (Asked, Option<Waiting>),
    room: Room,
) {
    let (user, key) = (asked.known.name().clone(), asked.key.clone());
    let tell = || waits(app, line, user.clone(), &inbound);
    let text = match telling(app, &key, turn::run(app, asked, waiting), tell).await {
        Ok(answered) => answered.content,
        Err(refused) => told(app, &refused, inbound.place),
    };
    if !text.trim().is_empty() {
        say(app, line, user, &inbound, text, room);
    }
}

/// Says something where a message was written.
fn say(app: &App, line: &Line, user: UserId, inbound: &Inbound, text: String, room: Room) {
    if let Some(speech) = app.inbox.speech(line) {
        let (agent, to) = (line.agent().clone(), inbound.address.clone());
        speech.say(Saying { user, agent, to, text, room });
    }
}

/// Tells whoever wrote, where nobody else hears it, that their turn waits for them.
fn waits(app: &App, line: &Line, user: UserId, inbound: &Inbound) {
    let room = Arc::clone(&app.inbox.room).try_acquire_owned();
    if let (Place::Direct, Ok(room)) = (inbound.place, room) {
        say(app, line, user, inbound, WAITS.to_owned(), room);
    }
}

/// What the agent is told. Nothing that is attached is fetched: of what is allowed, type and size are said.
fn content(line: &Line, inbound: &Inbound) -> Option<String> {
    let settings = line.settings();
    let (types, most) = (&settings.allowed_mime_types, settings.max_attachment_bytes);
    let plain =
        |it: &str| it.bytes().all(|it| it.is_ascii_alphanumeric() || b"/.+-_".contains(&it));
    let fit = inbound.attachments.iter().filter(|it| it.fits(types, most) && plain(&it.mime));
    let attached: Vec<String> = fit
        .map(|it| format!("[attached: {}, {} bytes; not fetched]", it.mime, it.bytes.unwrap_or(0)))
        .collect();
    let text = inbound.text.trim();
    let parts = std::iter::once(text.to_owned()).chain(attached);
    let parts: Vec<String> = parts.filter(|it| !it.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// The session of a user with an agent at an address: always the same one.
async fn session(
    app: &Arc<App>,
    known: &Known,
    agent: &str,
    address: &str,
) -> Result<String, Refused> {
    let (user, with) = (known.name().to_string(), agent.to_owned());
    let digest = Sha256::digest(format!("channel\0{user}\0{agent}\0{address}").as_bytes());
    let bytes = digest.first_chunk::<16>().copied().unwrap_or_default();
    let id = Uuid::from_random(bytes).to_string();
    let of = id.clone();
    let begun = app.blocking(move |app| match app.books.session(&user, &of)? {
        Some(row) => Ok(row.agent == with),
        None => app.books.begin(&of, (&user, &with), SESSIONS_PER_USER_MAX, app.now()),
    });
    match begun.await {
        Some(Ok(true)) => Ok(id),
        Some(Ok(false)) => {
            let why = format!("a user has at most {SESSIONS_PER_USER_MAX} sessions: delete some");
            Err(Refused::new(ErrorCode::RateLimited, why))
        }
        Some(Err(_)) | None => Err(internal("the books do not answer")),
    }
}

async fn agreed(app: &Arc<App>, known: &Known, version: String) -> Result<String, Refused> {
    let wanted = app.directory().settings.privacy.policy_version.0.clone();
    if version.trim() != wanted {
        let why = format!("the policy has the version {wanted}");
        return Err(Refused::new(ErrorCode::ConsentRequired, why));
    }
    let user = known.name().to_string();
    let said = format!("You agree to the policy {wanted}.");
    let kept = app.blocking(move |app| app.books.agree(&user, &wanted, app.now())).await;
    match kept {
        Some(Ok(())) => Ok(said),
        Some(Err(_)) | None => Err(internal("the books do not answer")),
    }
}

/// Why there is no answer, as the user is told; where others hear it, not in so many words.
fn told(app: &App, refused: &Refused, place: Place) -> String {
    if place == Place::Shared {
        return format!("There is no answer ({}).", refused.code.as_str());
    }
    let next = if refused.code == ErrorCode::ConsentRequired {
        let version = &app.directory().settings.privacy.policy_version.0;
        format!("agree to the policy first: write `{AGREE}{version}`")
    } else {
        refused.message.clone()
    };
    format!("There is no answer ({}): {next}", refused.code.as_str())
}

/// INVARIANT (NothingSilent): who is not mapped is refused, on record, and told nothing.
async fn stranger(app: &Arc<App>, line: &Line, inbound: &Inbound) {
    app.inbox.refused.fetch_add(1, Ordering::Relaxed);
    if app.inbox.strangers.admit(&line.name(), STRANGERS_PER_MINUTE_MAX, MINUTE).is_err() {
        return;
    }
    let about = json!({
        "address": inbound.address.to_string(), "channel": line.name(), "code": "not_mapped",
        "sender": inbound.sender,
    });
    app.log(Event::ChannelRefused, About::default(), about.clone());
    // It stays refused, recorded or not.
    let _ = app.blocking(move |app| app.record("channel_refused", about)).await;
}
