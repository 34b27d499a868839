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
}

impl Channel for Discord {
    fn receive(&self, wire: &dyn Wire) -> Result<Vec<Inbound>, ChannelError> {
        self.noted.note(self.round(wire))
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

    fn round(&self, wire: &dyn Wire) -> Result<Vec<Inbound>, ChannelError> {
        let us = self.us(wire)?;
        let mut heard = Vec::new();
        for person in &self.people {
            let place = self.direct(wire, person)?;
            for message in self.since(wire, &place)? {
                heard.extend(message.read(us, &place, Some(person)));
            }
        }
        for place in &self.places {
            for message in self.since(wire, place)? {
                heard.extend(message.read(us, place, None));
            }
        }
        Ok(heard)
    }

    /// What was said in a place since the last time, oldest first. The first time nothing is new.
    fn since(&self, wire: &dyn Wire, place: &str) -> Result<Vec<Message>, ChannelError> {
        let last = self.state().last.get(place).copied();
        let path = match last {
            None => format!("/channels/{place}/messages?limit=1"),
            Some(last) => format!("/channels/{place}/messages?limit={MESSAGES_MAX}&after={last}"),
        };
        let all: Vec<Value> = ask(wire, path, None)?;
        let all = all.into_iter().take(MESSAGES_MAX);
        let known = all.filter_map(|it| serde_json::from_value::<Message>(it).ok());
        let mut known: Vec<(u64, Message)> =
            known.filter_map(|it| Some((number(&it.id)?, it))).collect();
        known.sort_by_key(|it| it.0);
        known.retain(|it| last.is_none_or(|last| it.0 > last));
        let newest = known.last().map_or(last.unwrap_or_default(), |it| it.0);
        self.state().last.insert(place.to_owned(), newest);
        Ok(match last {
            None => Vec::new(),
            Some(_) => known.into_iter().map(|it| it.1).collect(),
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
        let attachments = self.attachments.into_iter().take(ATTACHMENTS_MAX).map(|it| Attachment {
            mime: it.content_type.unwrap_or_default().chars().take(100).collect(),
            bytes: it.size,
        });
        Some(Inbound {
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
mod tests {
    use super::*;
    use crate::wire::{Response, WireError};

    /// Has one direct conversation, `70` with `5`, and a channel, `80`.
    struct Guild(Mutex<Vec<Value>>, Mutex<Vec<Request>>);

    impl Wire for Guild {
        fn ask(&self, request: &Request) -> Result<Response, WireError> {
            self.1.lock().unwrap().push(request.clone());
            let path = request.path.strip_prefix(API).unwrap();
            let answer = match (path, path.split_once('?')) {
                ("/users/@me", _) => json!({ "id": "99", "bot": true }),
                ("/users/@me/channels", _) => json!({ "id": "70" }),
                (_, Some((_, "limit=1"))) => json!([message("1", json!({}))]),
                (_, Some(("/channels/70/messages", _))) => json!(*self.0.lock().unwrap()),
                _ => json!([]),
            };
            Ok(Response { status: 200, retry_after: None, body: answer.to_string().into() })
        }
    }

    fn message(id: &str, more: Value) -> Value {
        let mut message =
            json!({ "id": id, "type": 0, "author": { "id": "5" }, "content": "hello" });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    }

    fn heard(messages: &[Value]) -> (Vec<Inbound>, Guild, Discord) {
        let guild = Guild(Mutex::new(messages.to_vec()), Mutex::default());
        let discord = Discord::listening_to(vec!["80".into()], vec!["5".into(), "x".into()]);
        // What was said before is not new.
        assert!(discord.receive(&guild).unwrap().is_empty());
        (discord.receive(&guild).unwrap(), guild, discord)
    }

    #[test]
    fn new_messages_of_the_person_are_heard_once_and_in_order() {
        let (said, guild, discord) = heard(&[message("3", json!({})), message("2", json!({}))]);
        assert_eq!(said.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["2", "3"]);
        assert_eq!(said[0].address.to_string(), "discord:dm:5");
        assert_eq!((said[0].place, said[0].words), (Place::Direct, Words::Own));
        assert!(discord.receive(&guild).unwrap().is_empty());
    }

    #[test]
    fn programs_others_and_what_was_passed_on_are_not_the_person() {
        for bad in [
            json!({ "author": { "id": "5", "bot": true } }),
            json!({ "author": { "id": "6" } }),
            json!({ "author": { "id": "05" } }),
            json!({ "webhook_id": "9" }),
            json!({ "type": 7 }),
            json!({ "id": "1" }),
            json!({ "id": "../2" }),
        ] {
            assert!(heard(&[message("2", bad.clone())]).0.is_empty(), "{bad}");
        }
        for passed in
            [json!({ "message_reference": { "type": 1 } }), json!({ "message_snapshots": [{}] })]
        {
            assert_eq!(heard(&[message("2", passed)]).0[0].words, Words::Others);
        }
    }

    #[test]
    fn what_is_said_mentions_nobody() {
        let (_, guild, discord) = heard(&[]);
        let to = Address::parse("discord:dm:5").unwrap();
        discord.send(&guild, &to, &format!("@everyone {}", "x".repeat(2500))).unwrap();
        let asked = guild.1.lock().unwrap();
        let sent: Vec<_> =
            asked.iter().filter(|it| it.path.ends_with("/channels/70/messages")).collect();
        assert_eq!(sent.len(), 2);
        let body = sent[0].body.as_ref().unwrap();
        assert_eq!((&body["allowed_mentions"]["parse"], &body["flags"]), (&json!([]), &json!(4)));
        drop(asked);
        let nowhere = Address::parse("discord:channel:general").unwrap();
        assert_eq!(discord.send(&guild, &nowhere, "x"), Err(ChannelError::NoSuchPlace));
    }
}
