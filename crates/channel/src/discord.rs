//! Discord, by its REST API: places are asked for new messages every few seconds.
//!
//! Asked are direct conversations with people whom somebody has mapped to users, and channels that the settings name; so
//! nothing has to reach us from outside. Threats: a webhook or a bot that speaks as a person, a direct conversation in
//! which somebody else speaks, what was passed on.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::Channel;
use crate::address::{Address, Scope};
use crate::chunk::chunks_of;
use crate::error::{ChannelError, Health, Noted};
use crate::inbound::{ATTACHMENTS_MAX, Attachment, Inbound, Place, Words, cut};
use crate::wire::{Request, TokenPlace, Verb, Wire};

/// The name in addresses.
const NAME: &str = "discord";
/// The API.
const API: &str = "/api/v10";
/// How long an answer may take.
const WAIT: Duration = Duration::from_secs(20);
/// Characters of one message.
const MESSAGE_CHARS_MAX: usize = 2000;
/// Messages of one place in one round.
const MESSAGES_MAX: usize = 50;
/// People and channels that are asked about.
const PLACES_MAX: usize = 50;
/// A message, and an answer to one.
const SAID: [u64; 2] = [0, 19];
/// A message that is passed on.
const FORWARD: u64 = 1;
/// No previews of addresses.
const SUPPRESS_EMBEDS: u64 = 1 << 2;

/// Discord.
#[derive(Default)]
pub struct Discord {
    places: Vec<String>,
    people: Vec<String>,
    state: Mutex<State>,
    noted: Noted,
}

#[derive(Default)]
struct State {
    us: Option<u64>,
    /// The direct conversation with each person.
    direct: BTreeMap<String, String>,
    /// The last message that was taken of each place.
    last: BTreeMap<String, u64>,
    /// With which place a round begins.
    first: usize,
    /// What ended a round in which something was heard.
    owed: Option<ChannelError>,
}

/// What a round came to.
struct Round {
    heard: Vec<Inbound>,
    /// What went wrong first or for good, and whether that ended the round.
    failed: Option<(ChannelError, bool)>,
}

impl Channel for Discord {
    /// What was heard in a place is kept, whatever becomes of the next.
    fn receive(&self, wire: &dyn Wire) -> Result<Vec<Inbound>, ChannelError> {
        let late = self.state().owed.take();
        let Round { heard, failed } = match late {
            Some(error) => Round { heard: Vec::new(), failed: Some((error, true)) },
            None => match self.us(wire) {
                Ok(us) => self.round(wire, us),
                Err(error) => Round { heard: Vec::new(), failed: Some((error, true)) },
            },
        };
        match failed {
            None => self.noted.note(Ok(heard)),
            Some((error, true)) if heard.is_empty() => self.noted.note(Err(error)),
            Some((error, ends)) => {
                // Said now, and waited for after what was heard is answered.
                self.state().owed = ends.then(|| error.clone());
                let _ = self.noted.note::<()>(Err(error));
                Ok(heard)
            }
        }
    }

    fn send(&self, wire: &dyn Wire, to: &Address, text: &str) -> Result<(), ChannelError> {
        let place = match to.scope() {
            Scope::Dm => {
                let person = to.person().filter(|it| number(it).is_some());
                self.direct(wire, person.ok_or(ChannelError::NoSuchPlace)?)?
            }
            Scope::Channel => {
                let place = to.ids().channel.clone().filter(|it| number(it).is_some());
                place.ok_or(ChannelError::NoSuchPlace)?
            }
            Scope::Thread | Scope::Group => return Err(ChannelError::NoSuchPlace),
        };
        for text in chunks_of(text, MESSAGE_CHARS_MAX) {
            let body = json!({
                "content": text, "allowed_mentions": { "parse": [] }, "flags": SUPPRESS_EMBEDS,
            });
            let path = format!("/channels/{place}/messages");
            self.noted.note(ask::<IgnoredAny>(wire, path, Some(body)))?;
        }
        Ok(())
    }

    fn chars_max(&self) -> usize {
        MESSAGE_CHARS_MAX
    }

    fn health(&self) -> Health {
        self.noted.health()
    }
}

impl Discord {
    /// Between two rounds.
    pub const PAUSE: Duration = Duration::from_secs(3);

    /// Asks about these channels, and about direct conversations with these people.
    #[must_use]
    pub fn listening_to(places: Vec<String>, people: Vec<String>) -> Self {
        let known = |all: Vec<String>| -> Vec<String> {
            all.into_iter().filter(|it| number(it).is_some()).take(PLACES_MAX).collect()
        };
        Self { places: known(places), people: known(people), ..Self::default() }
    }

    /// Asks about every place once. A place that is none does not silence the others; who wants to be left alone, or does
    /// not answer at all, is left alone, and the next round begins behind that place.
    fn round(&self, wire: &dyn Wire, us: u64) -> Round {
        let people = self.people.iter().map(|it| (it.as_str(), true));
        let all: Vec<(&str, bool)> =
            people.chain(self.places.iter().map(|it| (it.as_str(), false))).collect();
        let first = self.state().first;
        let mut round = Round { heard: Vec::new(), failed: None };
        let (mut asked, mut answered) = (0, 0);
        for at in 0..all.len() {
            let at = (first + at) % all.len();
            let Some((name, is_person)) = all.get(at).copied() else { continue };
            asked += 1;
            match self.heard_at(wire, us, name, is_person) {
                Ok(heard) => {
                    answered += 1;
                    round.heard.extend(heard);
                }
                Err(error) => {
                    let ends = error.retry().is_some() || matches!(error, ChannelError::Wire(_));
                    if ends {
                        self.state().first = (at + 1) % all.len();
                        round.failed = Some((error, true));
                        break;
                    }
                    round.failed.get_or_insert((error, false));
                }
            }
        }
        // If no place answers, it is no matter of the places.
        if let (Some((_, ends)), true) = (&mut round.failed, asked > 0 && answered == 0) {
            *ends = true;
        }
        round
    }

    fn heard_at(
        &self,
        wire: &dyn Wire,
        us: u64,
        name: &str,
        is_person: bool,
    ) -> Result<Vec<Inbound>, ChannelError> {
        let place = if is_person { self.direct(wire, name)? } else { name.to_owned() };
        let person = is_person.then_some(name);
        let new = self.since(wire, &place)?;
        Ok(new.into_iter().filter_map(|it| it.read(us, &place, person)).collect())
    }

    /// What was said in a place since the last time, oldest first. The first time nothing is new.
    fn since(&self, wire: &dyn Wire, place: &str) -> Result<Vec<Message>, ChannelError> {
        let last = self.state().last.get(place).copied();
        let path = match last {
            None => format!("/channels/{place}/messages?limit=1"),
            Some(last) => format!("/channels/{place}/messages?limit={MESSAGES_MAX}&after={last}"),
        };
        let all: Vec<Value> = ask(wire, path, None)?;
        // Also a message that is not understood was there, and is not new the next time.
        let id = |it: &Value| it.get("id").and_then(Value::as_str).and_then(number);
        let all = all.into_iter().take(MESSAGES_MAX);
        let mut all: Vec<(u64, Value)> = all.filter_map(|it| Some((id(&it)?, it))).collect();
        all.sort_by_key(|it| it.0);
        all.retain(|it| last.is_none_or(|last| it.0 > last));
        let newest = all.last().map_or(last.unwrap_or_default(), |it| it.0);
        self.state().last.insert(place.to_owned(), newest);
        let known = all.into_iter().filter_map(|(id, it)| {
            let message = serde_json::from_value::<Message>(it).ok();
            message.map(|it| (id, it))
        });
        Ok(match last {
            None => Vec::new(),
            Some(_) => known.map(|it| it.1).collect(),
        })
    }

    fn us(&self, wire: &dyn Wire) -> Result<u64, ChannelError> {
        if let Some(us) = self.state().us {
            return Ok(us);
        }
        let me: Author = ask(wire, "/users/@me".to_owned(), None)?;
        let us = number(&me.id).ok_or(ChannelError::NotUnderstood)?;
        self.state().us = Some(us);
        Ok(us)
    }

    /// The direct conversation with a person, which is opened if we have none.
    fn direct(&self, wire: &dyn Wire, person: &str) -> Result<String, ChannelError> {
        if let Some(place) = self.state().direct.get(person) {
            return Ok(place.clone());
        }
        let body = json!({ "recipient_id": person });
        let place: Opened = ask(wire, "/users/@me/channels".to_owned(), Some(body))?;
        let place = Some(place.id).filter(|it| number(it).is_some());
        let place = place.ok_or(ChannelError::NotUnderstood)?;
        self.state().direct.insert(person.to_owned(), place.clone());
        Ok(place)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks, or posts `body`.
fn ask<T: for<'a> Deserialize<'a>>(
    wire: &dyn Wire,
    path: String,
    body: Option<Value>,
) -> Result<T, ChannelError> {
    let verb = if body.is_some() { Verb::Post } else { Verb::Get };
    let (path, token) = (format!("{API}{path}"), TokenPlace::Header("Bot "));
    let answer = wire.ask(&Request { verb, path, token, body, wait: WAIT })?;
    match ChannelError::of_status(&answer) {
        Some(error) => Err(error),
        None => serde_json::from_slice(&answer.body).map_err(|_| ChannelError::NotUnderstood),
    }
}

/// A number of Discord's, in its one form.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

#[derive(Deserialize)]
struct Opened {
    id: String,
}

#[derive(Deserialize)]
struct Author {
    id: String,
    #[serde(default)]
    bot: bool,
}

#[derive(Deserialize)]
struct Message {
    id: String,
    #[serde(rename = "type")]
    kind: u64,
    author: Author,
    content: String,
    #[serde(default)]
    mentions: Vec<Author>,
    webhook_id: Option<IgnoredAny>,
    message_reference: Option<Reference>,
    #[serde(default)]
    message_snapshots: Vec<IgnoredAny>,
    #[serde(default)]
    attachments: Vec<Attached>,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "type", default)]
    kind: u64,
}

#[derive(Deserialize)]
struct Attached {
    content_type: Option<String>,
    size: Option<u64>,
}

impl Message {
    fn read(self, us: u64, place: &str, with: Option<&str>) -> Option<Inbound> {
        let sender = number(&self.author.id)?;
        let by_program = self.author.bot || self.webhook_id.is_some();
        if by_program || sender == us || !SAID.contains(&self.kind) {
            return None;
        }
        let (kept, address) = match with {
            // In a direct conversation nobody speaks but the person whom it is with.
            Some(person) if person == self.author.id => (Place::Direct, Address::dm(NAME, person)),
            Some(_) => return None,
            None => (Place::Shared, Address::shared(NAME, Scope::Channel, place)),
        };
        let forwards = self.message_reference.as_ref().is_some_and(|it| it.kind == FORWARD);
        let attachments = self.attachments.into_iter().take(ATTACHMENTS_MAX);
        let attachments = attachments.map(|it| Attachment::of(it.content_type.as_deref(), it.size));
        Some(Inbound {
            at: None,
            address: address.ok()?,
            place: kept,
            words: match forwards || !self.message_snapshots.is_empty() {
                true => Words::Others,
                false => Words::Own,
            },
            mentions_us: self.mentions.iter().any(|it| number(&it.id) == Some(us)),
            text: cut(&self.content),
            attachments: attachments.collect(),
            sender: self.author.id,
            id: self.id,
        })
    }
}

#[cfg(test)]
mod tests;
