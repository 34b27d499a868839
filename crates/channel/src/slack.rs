//! Slack: it calls us with events, and `chat.postMessage` says something.
//!
//! A call is known by its signature before it comes here. Threats: a bot that speaks as a person, a message that was
//! changed afterwards, a channel that poses as a direct conversation, a conversation of two people which somebody lets us
//! listen to, another workspace that has installed the same app.

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::Channel;
use crate::address::{Address, Ids, Scope};
use crate::chunk::{CHUNK_CHARS_MAX, chunks_of};
use crate::error::{ChannelError, Health, Noted};
use crate::inbound::{ATTACHMENTS_MAX, Attachment, Inbound, Place, Words, cut};
use crate::wire::{Request, TokenPlace, Verb, Wire};

/// The name in addresses.
const NAME: &str = "slack";
/// How long an answer may take.
const WAIT: Duration = Duration::from_secs(20);

/// Slack.
#[derive(Default)]
pub struct Slack {
    /// The workspace, if only one is heard.
    account: Option<String>,
    noted: Noted,
}

/// What Slack calls us for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlackCall {
    /// It wants this word back, to see that we are there.
    Challenge(String),
    /// These were said.
    Said(Vec<Inbound>),
}

impl Channel for Slack {
    /// It calls us: there is nothing to ask for.
    fn receive(&self, _: &dyn Wire) -> Result<Vec<Inbound>, ChannelError> {
        Ok(Vec::new())
    }

    fn send(&self, wire: &dyn Wire, to: &Address, text: &str) -> Result<(), ChannelError> {
        let (place, thread) = match to.scope() {
            Scope::Dm => (to.person(), None),
            Scope::Channel | Scope::Group => (to.ids().channel.as_deref(), None),
            Scope::Thread => (to.ids().channel.as_deref(), to.ids().thread.as_deref()),
        };
        let place = place.filter(|it| is_id(it)).ok_or(ChannelError::NoSuchPlace)?;
        for text in chunks_of(text, CHUNK_CHARS_MAX) {
            // `&`, `<` and `>` would be markup: a mention of everybody, or a link that says one thing and is another.
            let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let mut body = json!({
                "channel": place, "text": text, "mrkdwn": false, "parse": "none", "link_names": false,
                "unfurl_links": false, "unfurl_media": false,
            });
            if let (Some(thread), Some(fields)) = (thread, body.as_object_mut()) {
                fields.insert("thread_ts".to_owned(), thread.into());
            }
            self.noted.note(post(wire, body))?;
        }
        Ok(())
    }

    fn health(&self) -> Health {
        self.noted.health()
    }
}

impl Slack {
    /// At the workspace of this id, or at any.
    #[must_use]
    pub fn of(account: Option<String>) -> Self {
        Self { account, noted: Noted::default() }
    }

    /// Reads what Slack calls us with. An event of a form that is not known says nothing to us: Slack would call again, and
    /// stop calling in the end, were it refused.
    ///
    /// # Errors
    /// If it is no JSON, or not the word that it wants back.
    pub fn called(&self, body: &[u8]) -> Result<SlackCall, ChannelError> {
        let call: Value = serde_json::from_slice(body).map_err(|_| ChannelError::NotUnderstood)?;
        let Ok(call) = serde_json::from_value::<Call>(call) else {
            return Ok(SlackCall::Said(Vec::new()));
        };
        match call.kind.as_str() {
            "url_verification" => {
                let challenge = call.challenge.ok_or(ChannelError::NotUnderstood)?;
                let plain = challenge.bytes().all(|it| it.is_ascii_alphanumeric());
                let good = plain && challenge.len() <= CHALLENGE_BYTES_MAX;
                good.then_some(SlackCall::Challenge(challenge)).ok_or(ChannelError::NotUnderstood)
            }
            "event_callback" => {
                if self.account.is_some() && call.team_id != self.account {
                    return Ok(SlackCall::Said(Vec::new()));
                }
                // What we hear in the place of a person may be said between them and somebody else.
                let ours = call.authorizations.first().filter(|it| it.is_bot);
                let us = ours.map(|it| it.user_id.as_deref().unwrap_or_default());
                let event = call.event.and_then(|it| serde_json::from_value::<Event>(it).ok());
                let said = event.and_then(|it| it.read(us));
                Ok(SlackCall::Said(said.into_iter().collect()))
            }
            _ => Ok(SlackCall::Said(Vec::new())),
        }
    }
}

/// The longest word that Slack wants back, in bytes.
const CHALLENGE_BYTES_MAX: usize = 256;

fn post(wire: &dyn Wire, body: Value) -> Result<(), ChannelError> {
    let request = Request {
        verb: Verb::Post,
        path: "/api/chat.postMessage".to_owned(),
        token: TokenPlace::Header("Bearer "),
        body: Some(body),
        wait: WAIT,
    };
    let answer = wire.ask(&request)?;
    if let Some(error) = ChannelError::of_status(&answer) {
        return Err(error);
    }
    let said: Posted =
        serde_json::from_slice(&answer.body).map_err(|_| ChannelError::NotUnderstood)?;
    let why =
        || ChannelError::refused(answer.status, said.error.as_deref().unwrap_or_default(), None);
    if said.ok { Ok(()) } else { Err(why()) }
}

#[derive(Deserialize)]
struct Posted {
    ok: bool,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Call {
    #[serde(rename = "type")]
    kind: String,
    challenge: Option<String>,
    team_id: Option<String>,
    event: Option<Value>,
    #[serde(default)]
    authorizations: Vec<Authorization>,
}

#[derive(Deserialize)]
struct Authorization {
    user_id: Option<String>,
    #[serde(default)]
    is_bot: bool,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    subtype: Option<String>,
    user: Option<String>,
    channel: Option<String>,
    channel_type: Option<String>,
    text: Option<String>,
    ts: Option<String>,
    thread_ts: Option<String>,
    bot_id: Option<IgnoredAny>,
    edited: Option<IgnoredAny>,
    #[serde(default)]
    files: Vec<SharedFile>,
}

#[derive(Deserialize)]
struct SharedFile {
    mimetype: Option<String>,
    size: Option<u64>,
}

impl Event {
    /// None if no person said something new. `us` is our name there, if it is as ourselves that we hear it.
    fn read(self, us: Option<&str>) -> Option<Inbound> {
        let is_new =
            matches!(self.subtype.as_deref(), None | Some("file_share" | "thread_broadcast"));
        let by_program = self.bot_id.is_some() || self.edited.is_some();
        if !matches!(self.kind.as_str(), "message" | "app_mention") || !is_new || by_program {
            return None;
        }
        let (user, channel, ts) = (self.user?, self.channel?, self.ts?);
        if !is_id(&user) || !user.starts_with(['U', 'W']) || !is_id(&channel) || !is_time(&ts) {
            return None;
        }
        let (place, address) = match self.channel_type.as_deref() {
            Some("im") if channel.starts_with('D') && us.is_some() => {
                (Place::Direct, Address::dm(NAME, &user))
            }
            Some("channel" | "group" | "mpim") | None if !channel.starts_with('D') => {
                let thread = self.thread_ts.filter(|it| is_time(it));
                let scope = if thread.is_some() { Scope::Thread } else { Scope::Channel };
                let ids = Ids { channel: Some(channel.clone()), thread, ..Ids::default() };
                (Place::Shared, Address::new(NAME, scope, ids))
            }
            Some(_) | None => return None,
        };
        let text = self.text.unwrap_or_default();
        let named = us.filter(|it| is_id(it)).is_some_and(|it| text.contains(&format!("<@{it}>")));
        let attachments = self.files.into_iter().take(ATTACHMENTS_MAX);
        let attachments = attachments.map(|it| Attachment::of(it.mimetype.as_deref(), it.size));
        let at = ts.split_once('.').and_then(|it| it.0.parse().ok())?;
        Some(Inbound {
            id: format!("{channel}-{ts}"),
            at: Some(at),
            address: address.ok()?,
            sender: user,
            place,
            words: Words::Own,
            mentions_us: named || self.kind == "app_mention",
            text: cut(&text),
            attachments: attachments.collect(),
        })
    }
}

/// The longest id of Slack's, in bytes.
const ID_BYTES_MAX: usize = 32;

fn is_id(text: &str) -> bool {
    (2..=ID_BYTES_MAX).contains(&text.len())
        && text.bytes().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
}

/// `1355517523.000005`, which is also the name of a message.
fn is_time(text: &str) -> bool {
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    text.len() <= ID_BYTES_MAX
        && text.split_once('.').is_some_and(|(seconds, rest)| digits(seconds) && digits(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Response, WireError};

    fn said(more: Value) -> Option<Inbound> {
        let mut event = json!({
            "type": "message", "user": "U1A", "channel": "D9", "channel_type": "im", "text": "hello",
            "ts": "1355517523.000005",
        });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let call = json!({
            "type": "event_callback", "event": event, "team_id": "T1",
            "authorizations": [{ "user_id": "UBOT", "is_bot": true }],
        });
        match Slack::of(Some("T1".to_owned())).called(call.to_string().as_bytes()).unwrap() {
            SlackCall::Said(mut said) => said.pop(),
            SlackCall::Challenge(it) => panic!("{it}"),
        }
    }

    #[test]
    fn people_are_heard_and_programs_and_changes_are_not() {
        let direct = said(json!({})).unwrap();
        assert_eq!(
            (direct.place, direct.address.to_string().as_str()),
            (Place::Direct, "slack:dm:U1A")
        );
        let mention = json!({ "channel": "C7", "channel_type": "channel", "text": "<@UBOT> hi" });
        let shared = said(mention).unwrap();
        assert!(shared.place == Place::Shared && shared.mentions_us);
        assert_eq!(shared.address.to_string(), "slack:channel:C7");
        let thread = json!({ "channel": "C7", "channel_type": "channel", "thread_ts": "1.2", "text": "<@U1A>" });
        let thread = said(thread).unwrap();
        assert_eq!(thread.address.to_string(), "slack:thread:C7:1.2");
        assert!(!thread.mentions_us);
        for bad in [
            json!({ "bot_id": "B1" }),
            json!({ "subtype": "message_changed" }),
            json!({ "subtype": "bot_message" }),
            json!({ "edited": { "user": "U1A" } }),
            json!({ "user": null }),
            json!({ "user": "B1A" }),
            json!({ "user": "U１A" }),
            json!({ "channel": "C7" }),
            json!({ "channel_type": "channel" }),
            json!({ "channel_type": null }),
            json!({ "ts": "../x" }),
            json!({ "type": "reaction_added" }),
        ] {
            assert_eq!(said(bad.clone()), None, "{bad}");
        }
    }

    #[test]
    fn slack_gets_its_word_back_and_no_page() {
        let challenge = |word: &str| {
            let call = json!({ "type": "url_verification", "challenge": word }).to_string();
            Slack::default().called(call.as_bytes())
        };
        assert_eq!(challenge("3eZbrw1aB"), Ok(SlackCall::Challenge("3eZbrw1aB".to_owned())));
        assert!(challenge("<script>").is_err() && challenge(&"x".repeat(999)).is_err());
        assert!(Slack::default().called(b"{\"type\":").is_err());
        // What is signed and of no known form is no reason to be called again.
        for odd in
            [json!({ "type": 1 }), json!({ "type": "event_callback", "event": { "text": 1 } })]
        {
            let said = Slack::default().called(odd.to_string().as_bytes());
            assert_eq!(said, Ok(SlackCall::Said(Vec::new())), "{odd}");
        }
    }

    #[test]
    fn what_we_hear_for_somebody_else_or_elsewhere_is_not_said_to_us() {
        let event = json!({
            "type": "message", "user": "U1A", "channel": "D9", "channel_type": "im", "text": "hello",
            "ts": "1355517523.000005",
        });
        let said = |team: &str, authorizations: Value| {
            let call = json!({
                "type": "event_callback", "event": event, "team_id": team,
                "authorizations": authorizations,
            });
            Slack::of(Some("T1".to_owned())).called(call.to_string().as_bytes()).unwrap()
        };
        let nothing = SlackCall::Said(Vec::new());
        let bot = json!([{ "user_id": "UBOT", "is_bot": true }]);
        assert_ne!(said("T1", bot.clone()), nothing);
        assert_eq!(said("T2", bot), nothing);
        assert_eq!(said("T1", json!([{ "user_id": "U2B", "is_bot": false }])), nothing);
        assert_eq!(said("T1", json!([])), nothing);
    }

    #[test]
    fn what_is_said_is_no_markup() {
        struct Kept(std::sync::Mutex<Vec<Value>>);
        impl Wire for Kept {
            fn ask(&self, request: &Request) -> Result<Response, WireError> {
                self.0.lock().unwrap().push(request.body.clone().unwrap());
                let body = json!({ "ok": true }).to_string().into_bytes();
                Ok(Response { status: 200, retry_after: None, body })
            }
        }
        let kept = Kept(std::sync::Mutex::default());
        let to = Address::parse("slack:thread:C7:1.2").unwrap();
        Slack::default().send(&kept, &to, "<!channel> <https://evil.example|bank>").unwrap();
        let body = kept.0.lock().unwrap().remove(0);
        assert_eq!(body["text"], "&lt;!channel&gt; &lt;https://evil.example|bank&gt;");
        assert_eq!((&body["thread_ts"], &body["unfurl_links"]), (&json!("1.2"), &json!(false)));
        let nowhere = Address::parse("slack:channel:general").unwrap();
        assert_eq!(Slack::default().send(&kept, &nowhere, "x"), Err(ChannelError::NoSuchPlace));
    }
}
