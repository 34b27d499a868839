//! WhatsApp, by the Cloud API: it calls us with messages, and `messages` says something.
//!
//! A call is known by its signature before it comes here. Threats: a message to another phone number of the same
//! business, one that was passed on, one that is signed and old.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::Channel;
use crate::address::Address;
use crate::chunk::{CHUNK_CHARS_MAX, chunks_of};
use crate::error::{ChannelError, Health, Noted};
use crate::inbound::{Attachment, Inbound, MESSAGES_MAX, Place, Words, cut};
use crate::wire::{Request, TokenPlace, Verb, Wire};

/// The name in addresses.
const NAME: &str = "whatsapp";
/// The version of the API.
const VERSION: &str = "v23.0";
/// How long an answer may take.
const WAIT: Duration = Duration::from_secs(20);

/// WhatsApp, at one phone number.
pub struct WhatsApp {
    account: String,
    noted: Noted,
}

impl Channel for WhatsApp {
    /// It calls us: there is nothing to ask for.
    fn receive(&self, _: &dyn Wire) -> Result<Vec<Inbound>, ChannelError> {
        Ok(Vec::new())
    }

    fn send(&self, wire: &dyn Wire, to: &Address, text: &str) -> Result<(), ChannelError> {
        let person = to.person().filter(|it| is_number(it)).ok_or(ChannelError::NoSuchPlace)?;
        for text in chunks_of(text, CHUNK_CHARS_MAX) {
            let request = Request {
                verb: Verb::Post,
                path: format!("/{VERSION}/{}/messages", self.account),
                token: TokenPlace::Header("Bearer "),
                body: Some(json!({
                    "messaging_product": "whatsapp", "recipient_type": "individual", "to": person,
                    "type": "text", "text": { "body": text, "preview_url": false },
                })),
                wait: WAIT,
            };
            let sent = wire.ask(&request).map_err(ChannelError::from);
            let sent = sent.and_then(|it| ChannelError::of_status(&it).map_or(Ok(()), Err));
            self.noted.note(sent)?;
        }
        Ok(())
    }

    fn health(&self) -> Health {
        self.noted.health()
    }
}

impl WhatsApp {
    /// At the phone number of this id.
    #[must_use]
    pub fn of(account: String) -> Self {
        Self { account, noted: Noted::default() }
    }

    /// Reads what WhatsApp calls us with. Signatures have no time of their own: messages have, and whoever takes them in
    /// looks at it.
    ///
    /// # Errors
    /// If it is not understood.
    pub fn called(&self, body: &[u8]) -> Result<Vec<Inbound>, ChannelError> {
        let call: Call = serde_json::from_slice(body).map_err(|_| ChannelError::NotUnderstood)?;
        if call.object != "whatsapp_business_account" {
            return Err(ChannelError::NotUnderstood);
        }
        let changes = call.entry.into_iter().flat_map(|it| it.changes);
        let ours = changes.filter(|it| {
            let number = it.value.metadata.as_ref().map(|it| it.phone_number_id.as_str());
            it.field == "messages" && number == Some(self.account.as_str())
        });
        let messages = ours.flat_map(|it| it.value.messages);
        let messages = messages.filter_map(|it| serde_json::from_value::<Message>(it).ok());
        Ok(messages.filter_map(|it| it.read()).take(MESSAGES_MAX).collect())
    }
}

#[derive(Deserialize)]
struct Call {
    object: String,
    #[serde(default)]
    entry: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(default)]
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    field: String,
    value: Changed,
}

#[derive(Deserialize)]
struct Changed {
    metadata: Option<Metadata>,
    #[serde(default)]
    messages: Vec<Value>,
}

#[derive(Deserialize)]
struct Metadata {
    phone_number_id: String,
}

#[derive(Deserialize)]
struct Message {
    from: String,
    id: String,
    timestamp: String,
    #[serde(rename = "type")]
    kind: String,
    text: Option<Body>,
    context: Option<Context>,
    group_id: Option<IgnoredAny>,
    image: Option<Media>,
    document: Option<Media>,
    audio: Option<Media>,
    video: Option<Media>,
}

#[derive(Deserialize)]
struct Body {
    body: String,
}

#[derive(Deserialize)]
struct Context {
    #[serde(default)]
    forwarded: bool,
    #[serde(default)]
    frequently_forwarded: bool,
}

#[derive(Deserialize)]
struct Media {
    mime_type: Option<String>,
    caption: Option<String>,
}

impl Message {
    fn read(self) -> Option<Inbound> {
        let at: i64 = self.timestamp.parse().ok()?;
        if !is_number(&self.from) || !is_id(&self.id) || self.group_id.is_some() {
            return None;
        }
        let media = [&self.image, &self.document, &self.audio, &self.video];
        let media: Vec<&Media> = media.into_iter().flatten().collect();
        let caption = media.first().and_then(|it| it.caption.as_deref());
        let text = match self.kind.as_str() {
            "text" => self.text.as_ref()?.body.as_str(),
            _ if media.is_empty() => return None,
            _ => caption.unwrap_or_default(),
        };
        let passed_on =
            self.context.as_ref().is_some_and(|it| it.forwarded || it.frequently_forwarded);
        let attachments = media.iter().map(|it| Attachment::of(it.mime_type.as_deref(), None));
        Some(Inbound {
            at: Some(at),
            address: Address::dm(NAME, &self.from).ok()?,
            place: Place::Direct,
            words: if passed_on { Words::Others } else { Words::Own },
            mentions_us: true,
            text: cut(text),
            attachments: attachments.collect(),
            id: self.id,
            sender: self.from,
        })
    }
}

/// The longest name of a message, in bytes.
const ID_BYTES_MAX: usize = 256;

fn is_id(text: &str) -> bool {
    (1..=ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_graphic())
}

fn is_number(text: &str) -> bool {
    (5..=20).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn called(number: &str, more: Value) -> Vec<Inbound> {
        let mut message = json!({
            "from": "15550001234", "id": "wamid.A==", "timestamp": NOW.to_string(), "type": "text",
            "text": { "body": "hello" },
        });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let value = json!({
            "metadata": { "phone_number_id": number }, "messages": [{ "from": 1 }, message],
        });
        let call = json!({
            "object": "whatsapp_business_account",
            "entry": [{ "id": "1", "changes": [{ "field": "messages", "value": value }] }],
        });
        WhatsApp::of("777".to_owned()).called(call.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn only_fresh_words_of_one_person_to_our_number_are_heard() {
        let heard = called("777", json!({}));
        assert_eq!(heard.len(), 1);
        assert_eq!(heard[0].address.to_string(), "whatsapp:dm:15550001234");
        assert_eq!(heard[0].words, Words::Own);
        let forwarded = called("777", json!({ "context": { "forwarded": true } }));
        assert_eq!(forwarded[0].words, Words::Others);
        assert!(called("778", json!({})).is_empty());
        for bad in [
            json!({ "timestamp": "soon" }),
            json!({ "from": "+15550001234" }),
            json!({ "from": "１５５５０００１２３４" }),
            json!({ "group_id": "g" }),
            json!({ "type": "reaction" }),
        ] {
            assert!(called("777", bad.clone()).is_empty(), "{bad}");
        }
        assert!(WhatsApp::of(String::new()).called(b"{\"object\":\"page\"}").is_err());
        for old in [NOW - 601, NOW + 601, i64::MIN] {
            let said = called("777", json!({ "timestamp": old.to_string() }));
            assert!(heard[0].is_of_late(NOW) && !said[0].is_of_late(NOW), "{old}");
        }
    }
}
