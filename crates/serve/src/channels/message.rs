//! One message of a messenger that was taken, to the answer: who? → what is attached → rate → session → turn → answer.

use std::sync::Arc;

use agent::Voice;
use channel::{Inbound, Place, Words};
use host::channels::{Line, Origin};
use model::UserId;
use model::ipc::Uuid;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::questions::{WAITS, telling};
use super::speech::Saying;
use super::{MINUTE, Refused as Unheard, Room, refuse};
use crate::admit::{charge, may_use};
use crate::app::App;
use crate::books::BooksError;
use crate::directory::Known;
use crate::frame::ErrorCode;
use crate::limits::SESSIONS_PER_USER_MAX;
use crate::log::Event;
use crate::turn::{self, Asked, Refused, about, internal};
use crate::turns::{Key, Waiting};

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

/// Takes one message in. Turns have their places in the order of messages when this returns; they run beside it.
pub(super) async fn take_in(app: &Arc<App>, line: &Arc<Line>, inbound: Inbound, room: Room) {
    if app.is_draining() {
        return;
    }
    // Who was mapped when it came may be nobody now.
    let Some(known) = app.directory().at(line.channel(), &inbound.sender) else {
        return refuse(app, line, inbound, Unheard::NotMapped);
    };
    let user = known.name().clone();
    if let Some(channels) = &app.parts.channels {
        channels.wrote(&user, line.agent(), &inbound.address);
    }
    match next(app, line, known, &inbound).await {
        Ok(Next::Nothing) => {}
        Ok(Next::Say(text)) => say(app, line, &inbound, (user, text, Origin::host()), room),
        Err(refused) if is_said_already(app, &user, &refused) => {}
        Err(refused) => {
            let text = told(app, &refused, inbound.place);
            say(app, line, &inbound, (user, text, Origin::host()), room);
        }
        Ok(Next::Turn(asked, waiting)) => {
            let (app, line) = (Arc::clone(app), Arc::clone(line));
            tokio::spawn(
                async move { answer(&app, &line, inbound, (*asked, waiting), room).await },
            );
        }
    }
}

/// Whoever writes too much is told so once in a minute: that would be too much as well.
fn is_said_already(app: &App, user: &UserId, refused: &Refused) -> bool {
    refused.code == ErrorCode::RateLimited
        && app.inbox.told.admit(&user.to_string(), 1, MINUTE).is_err()
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
    let (text, origin) = match telling(app, &key, turn::run(app, asked, waiting), tell).await {
        Ok(answered) => (answered.content, origin_of(app, &user, line, &key)),
        Err(refused) => (told(app, &refused, inbound.place), Origin::host()),
    };
    if !text.trim().is_empty() {
        say(app, line, &inbound, (user, text, origin), room);
    }
}

/// What an answer carries out of the session in which it was given.
fn origin_of(app: &App, user: &UserId, line: &Line, key: &Key) -> Origin {
    let channels = app.parts.channels.as_ref();
    channels.map_or_else(Origin::host, |it| it.origin_of(user, line.agent(), &key.session))
}

/// Says something where a message was written.
fn say(
    app: &App,
    line: &Line,
    inbound: &Inbound,
    (user, text, origin): (UserId, String, Origin),
    room: Room,
) {
    if let Some(speech) = app.inbox.speech(line) {
        let (agent, to) = (line.agent().clone(), inbound.address.clone());
        speech.say(Saying { user, agent, to, text, origin, room });
    }
}

/// Tells whoever wrote, where nobody else hears it, that their turn waits for them.
fn waits(app: &App, line: &Line, user: UserId, inbound: &Inbound) {
    if let (Place::Direct, Some(room)) = (inbound.place, app.inbox.rooms.spare()) {
        say(app, line, inbound, (user, WAITS.to_owned(), Origin::host()), room);
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
    let key = Key { user, agent: with, session: id.clone() };
    let in_use = app.deletions.enter(&key.user)?;
    let begun = app.blocking(move |app| match app.books.session(&key.user, &key.session)? {
        Some(row) => Ok::<_, BooksError>(row.agent == key.agent),
        None => {
            let of = (key.user.as_str(), key.agent.as_str());
            let _in_use = in_use;
            let begun = app.books.begin(&key.session, of, SESSIONS_PER_USER_MAX, app.now())?;
            if begun {
                app.log(Event::SessionCreated, about(&key), json!({ "by": "channel" }));
            }
            Ok(begun)
        }
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
