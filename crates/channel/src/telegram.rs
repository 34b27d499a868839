//! Telegram, by the Bot API: `getUpdates` waits for messages, `sendMessage` says something.
//!
//! Threats: a group that poses as a direct chat, words that somebody else wrote and the user only passed on, a chat
//! that speaks as a channel or as an anonymous administrator, an update that comes again, edited messages, a link that
//! puts words behind `/start`. Only new
//! messages are asked for; a chat is direct if it is the sender's own; what was forwarded, or made by a bot, is not the
//! sender's word.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::Channel;
use crate::address::{Address, Scope};
use crate::chunk::{CHUNK_CHARS_MAX, chunks_of};
use crate::error::{ChannelError, Health, Noted};
use crate::inbound::{ATTACHMENTS_MAX, Attachment, Inbound, MESSAGES_MAX, Place, Words, cut};
use crate::wire::{Request, TokenPlace, Verb, Wire};

/// The name in addresses.
const NAME: &str = "telegram";
/// What stands before the token in a path.
const TOKEN: TokenPlace = TokenPlace::Path("/bot");
/// How long Telegram waits for a message before it answers that there is none, in seconds.
const POLL_SECONDS: u32 = 50;
/// Answers without an update after which any number may come: Telegram begins anew after a week without one, and by
/// then all those before were taken.
const EMPTY_MAX: u32 = 6 * 24 * 3600 / POLL_SECONDS;
/// How long it may take to hear that nothing more is asked for.
const LEAVE_WAIT: Duration = Duration::from_secs(2);
/// How long any other answer may take.
const WAIT: Duration = Duration::from_secs(20);

/// Telegram.
#[derive(Default)]
pub struct Telegram {
    state: Mutex<State>,
    noted: Noted,
}

#[derive(Default)]
struct State {
    /// Who we are there: our number, and the name by which people mention us.
    us: Option<(i64, String)>,
    /// The first update that was not taken yet.
    next: Option<i64>,
    /// Answers without an update, one after the other.
    empty: u32,
}

impl Channel for Telegram {
    fn receive(&self, wire: &dyn Wire) -> Result<Vec<Inbound>, ChannelError> {
        self.noted.note(self.updates(wire))
    }

    fn send(&self, wire: &dyn Wire, to: &Address, text: &str) -> Result<(), ChannelError> {
        let chat: i64 = chat(to).ok_or(ChannelError::NoSuchPlace)?;
        for text in chunks_of(text, CHUNK_CHARS_MAX) {
            // Plain text: what an agent writes is no markup, and nobody fetches an address because it is named.
            let body = json!({
                "chat_id": chat, "text": text, "link_preview_options": { "is_disabled": true },
            });
            let sent = ask::<IgnoredAny>(wire, "sendMessage", body, WAIT);
            self.noted.note(sent)?;
        }
        Ok(())
    }

    /// What was taken is asked for no more, and so does not come again when somebody listens the next time.
    fn leave(&self, wire: &dyn Wire) -> Result<(), ChannelError> {
        let Some(next) = self.state().next else { return Ok(()) };
        let body = json!({
            "allowed_updates": ["message"], "limit": 1, "timeout": 0, "offset": next,
        });
        ask::<IgnoredAny>(wire, "getUpdates", body, LEAVE_WAIT).map(drop)
    }

    fn health(&self) -> Health {
        self.noted.health()
    }
}

impl Telegram {
    fn updates(&self, wire: &dyn Wire) -> Result<Vec<Inbound>, ChannelError> {
        let us = self.us(wire)?;
        let next = self.state().next;
        let mut body = json!({
            "allowed_updates": ["message"], "limit": MESSAGES_MAX, "timeout": POLL_SECONDS,
        });
        if let (Some(next), Some(fields)) = (next, body.as_object_mut()) {
            fields.insert("offset".to_owned(), next.into());
        }
        let wait = Duration::from_secs(u64::from(POLL_SECONDS)) + WAIT;
        let updates: Vec<Update> = ask(wire, "getUpdates", body, wait)?;
        let mut state = self.state();
        state.empty = if updates.is_empty() { state.empty.saturating_add(1) } else { 0 };
        if state.empty >= EMPTY_MAX {
            state.next = None;
        }
        let mut found = Vec::new();
        for update in updates.into_iter().take(MESSAGES_MAX) {
            // One that was taken already does not come again, whatever is said of it.
            if state.next.is_some_and(|it| update.update_id < it) {
                continue;
            }
            state.next = Some(update.update_id.saturating_add(1));
            found.extend(update.message.and_then(|it| it.read(&us)));
        }
        Ok(found)
    }

    fn us(&self, wire: &dyn Wire) -> Result<(i64, String), ChannelError> {
        if let Some(us) = self.state().us.clone() {
            return Ok(us);
        }
        let me: User = ask(wire, "getMe", json!({}), WAIT)?;
        let us = (me.id, me.username.unwrap_or_default().to_ascii_lowercase());
        self.state().us = Some(us.clone());
        Ok(us)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The chat of an address; groups have numbers below zero.
fn chat(to: &Address) -> Option<i64> {
    let (text, is_person) = match to.scope() {
        Scope::Dm => (to.person()?, true),
        Scope::Group => (to.ids().channel.as_deref()?, false),
        Scope::Channel | Scope::Thread => return None,
    };
    let chat: i64 = text.parse().ok()?;
    (is_person == (chat > 0) && chat.to_string() == text).then_some(chat)
}

/// Asks, and gives what stands in `result`.
fn ask<T: for<'a> Deserialize<'a>>(
    wire: &dyn Wire,
    method: &str,
    body: Value,
    wait: Duration,
) -> Result<T, ChannelError> {
    let request = Request {
        verb: Verb::Post,
        path: format!("/{method}"),
        token: TOKEN,
        body: Some(body),
        wait,
    };
    let answer = wire.ask(&request)?;
    let Ok(said) = serde_json::from_slice::<Answer<T>>(&answer.body) else {
        return Err(ChannelError::of_status(&answer).unwrap_or(ChannelError::NotUnderstood));
    };
    match said {
        Answer { ok: true, result: Some(result), .. } => Ok(result),
        Answer { description, parameters, .. } => {
            let retry = parameters.and_then(|it| it.retry_after).or(answer.retry_after);
            let said = description.unwrap_or_default();
            Err(ChannelError::refused(answer.status, &said, retry))
        }
    }
}

#[derive(Deserialize)]
#[serde(bound = "T: Deserialize<'de>")]
struct Answer<T> {
    ok: bool,
    result: Option<T>,
    description: Option<String>,
    parameters: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    retry_after: Option<u64>,
}

#[derive(Deserialize)]
struct Update {
    update_id: i64,
    /// A message that is none of ours to read does not spoil the others.
    #[serde(default, deserialize_with = "perhaps")]
    message: Option<Message>,
}

/// What is not understood is not there.
fn perhaps<'de, D: serde::Deserializer<'de>>(input: D) -> Result<Option<Message>, D::Error> {
    let value = Value::deserialize(input)?;
    Ok(serde_json::from_value(value).ok())
}

#[derive(Deserialize)]
struct Message {
    message_id: i64,
    date: i64,
    from: Option<User>,
    chat: Chat,
    text: Option<String>,
    caption: Option<String>,
    #[serde(default)]
    entities: Vec<Entity>,
    #[serde(default)]
    caption_entities: Vec<Entity>,
    reply_to_message: Option<Replied>,
    /// Whatever of these is there, somebody else's words are in it.
    forward_origin: Option<IgnoredAny>,
    forward_from: Option<IgnoredAny>,
    forward_from_chat: Option<IgnoredAny>,
    forward_sender_name: Option<IgnoredAny>,
    forward_date: Option<IgnoredAny>,
    is_automatic_forward: Option<bool>,
    via_bot: Option<IgnoredAny>,
    sender_business_bot: Option<IgnoredAny>,
    business_connection_id: Option<IgnoredAny>,
    /// A chat that speaks in the place of a person.
    sender_chat: Option<IgnoredAny>,
    edit_date: Option<IgnoredAny>,
    document: Option<Document>,
    audio: Option<Document>,
    video: Option<Document>,
    voice: Option<Document>,
    photo: Option<Vec<Photo>>,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    username: Option<String>,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct Replied {
    from: Option<User>,
}

#[derive(Deserialize)]
struct Entity {
    #[serde(rename = "type")]
    kind: String,
    offset: usize,
    length: usize,
}

#[derive(Deserialize)]
struct Document {
    mime_type: Option<String>,
    file_size: Option<u64>,
}

#[derive(Deserialize)]
struct Photo {
    file_size: Option<u64>,
}

impl Message {
    /// None if nobody can be told to have said it.
    fn read(self, us: &(i64, String)) -> Option<Inbound> {
        let from = self.from.as_ref()?;
        if from.is_bot || from.id <= 0 || self.sender_chat.is_some() || self.edit_date.is_some() {
            return None;
        }
        let (place, address) = match self.chat.kind.as_str() {
            // A direct chat is the sender's own, and has their number.
            "private" if self.chat.id == from.id => {
                (Place::Direct, Address::dm(NAME, &from.id.to_string()))
            }
            "group" | "supergroup" if self.chat.id < 0 => {
                let chat = self.chat.id.to_string();
                (Place::Shared, Address::shared(NAME, Scope::Group, &chat))
            }
            _ => return None,
        };
        let (text, entities) = match (&self.text, &self.caption) {
            (Some(text), _) => (text.as_str(), &self.entities),
            (None, Some(text)) => (text.as_str(), &self.caption_entities),
            (None, None) => ("", &self.entities),
        };
        let answers_us =
            self.reply_to_message.as_ref().and_then(|it| it.from.as_ref()).map(|it| it.id);
        let mentions_us =
            answers_us == Some(us.0) || entities.iter().any(|it| it.names(text, &us.1));
        Some(Inbound {
            id: format!("{}-{}", self.chat.id, self.message_id),
            at: Some(self.date),
            address: address.ok()?,
            sender: from.id.to_string(),
            place,
            words: if self.is_passed_on() { Words::Others } else { Words::Own },
            mentions_us,
            text: cut(without_payload(text)),
            attachments: self.attachments(),
        })
    }

    fn is_passed_on(&self) -> bool {
        [
            &self.forward_origin,
            &self.forward_from,
            &self.forward_from_chat,
            &self.forward_sender_name,
            &self.forward_date,
            &self.via_bot,
            &self.sender_business_bot,
            &self.business_connection_id,
        ]
        .iter()
        .any(|it| it.is_some())
            || self.is_automatic_forward.unwrap_or_default()
    }

    fn attachments(&self) -> Vec<Attachment> {
        let files = [&self.document, &self.audio, &self.video, &self.voice];
        let files = files.into_iter().flatten();
        let files = files.map(|it| Attachment::of(it.mime_type.as_deref(), it.file_size));
        // A picture comes in several sizes; the last is the largest.
        let picture = self.photo.as_ref().and_then(|it| it.last());
        let picture = picture.map(|it| Attachment::of(Some("image/jpeg"), it.file_size));
        files.chain(picture).take(ATTACHMENTS_MAX).collect()
    }
}

/// A text without what stands behind `/start`: whoever made the link that was opened has written that, and the sender may
/// never have seen it.
fn without_payload(text: &str) -> &str {
    let command = text.split_whitespace().next().unwrap_or_default();
    let name = command.split_once('@').map_or(command, |it| it.0);
    if name.eq_ignore_ascii_case("/start") { command } else { text }
}

impl Entity {
    /// Is it a mention of this name? Places are counted as UTF-16 counts.
    fn names(&self, text: &str, name: &str) -> bool {
        if self.kind != "mention" || name.is_empty() {
            return false;
        }
        let units: Vec<u16> = text.encode_utf16().skip(self.offset).take(self.length).collect();
        let found = String::from_utf16_lossy(&units);
        found.strip_prefix('@').is_some_and(|it| it.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests;
