//! Messengers by which people write to agents: `config.yaml`, the part under `channel_config`, and the part of a users
//! file that says who is who there.

use std::collections::BTreeMap;

use model::AgentId;
use model::provider::Channel;
use scan::net::Target;
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{AgentName, Flag, Label, Set, text};
use super::serve::Count;

/// The largest attachment that can be allowed, in bytes; also what is allowed where nothing is said.
pub const ATTACHMENT_BYTES_MAX: u64 = 20 << 20;
/// The longest name of a person or a place at a messenger, in bytes.
pub const PEER_BYTES_MAX: usize = 64;
/// Places of one messenger that are listened to.
const PLACES_MAX: usize = 50;

/// How each messenger that is named is listened to. One that is not named is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Channels(BTreeMap<Channel, ChannelSettings>);

/// How one messenger is listened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSettings {
    /// The agent that answers.
    pub agent: AgentId,
    /// Where its API is.
    pub url: String,
    /// The secret by which it knows us.
    pub token: String,
    /// The secret by which we know it, where it calls us.
    pub signing_secret: Option<String>,
    /// The secret that it shows when it is set up, where it does.
    pub verify_token: Option<String>,
    /// Our own name there, where it is needed: the number of a phone, or the workspace that alone is heard.
    pub account: Option<String>,
    /// Shared places that are asked for messages, where they have to be asked.
    pub places: Vec<String>,
    /// Is a message in a shared place only for the agent if it names it?
    pub require_mention: bool,
    /// What may be attached to a message; nothing if nothing is said.
    pub allowed_mime_types: Vec<String>,
    /// The largest attachment, in bytes.
    pub max_attachment_bytes: u64,
}

impl Channels {
    /// All that are listened to.
    pub fn iter(&self) -> impl Iterator<Item = (Channel, &ChannelSettings)> {
        self.0.iter().map(|(name, it)| (*name, it))
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, channel: Channel) -> Option<&ChannelSettings> {
        self.0.get(&channel)
    }

    /// With one that is chosen as a provider and of which nothing else is said.
    pub(super) fn choose(&mut self, channel: Channel) {
        if let Some(settings) = Raw::default().finish(channel) {
            self.0.entry(channel).or_insert(settings);
        }
    }
}

impl<'de> Deserialize<'de> for Channels {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let mut all = BTreeMap::new();
        for (Messenger(channel), raw) in BTreeMap::<Messenger, Raw>::deserialize(input)? {
            raw.check(channel).map_err(D::Error::custom)?;
            // It is a messenger, so there is one.
            all.extend(raw.finish(channel).map(|it| (channel, it)));
        }
        Ok(Self(all))
    }
}

/// Who somebody is at each messenger. An empty list is nobody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peers(BTreeMap<Channel, Vec<String>>);

impl Peers {
    /// Is it them?
    #[must_use]
    pub fn has(&self, channel: Channel, peer: &str) -> bool {
        self.0.get(&channel).is_some_and(|it| it.iter().any(|it| it == peer))
    }

    /// Their names at one messenger.
    #[must_use]
    pub fn of(&self, channel: Channel) -> &[String] {
        self.0.get(&channel).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first name that two people have in common.
    pub(super) fn shared_with(&self, other: &Self) -> Option<String> {
        let mut all =
            self.0.iter().flat_map(|(channel, it)| it.iter().map(move |it| (*channel, it)));
        all.find(|(channel, peer)| other.has(*channel, peer)).map(|(_, peer)| peer.clone())
    }
}

impl<'de> Deserialize<'de> for Peers {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let mut all = BTreeMap::new();
        for (Messenger(channel), peers) in BTreeMap::<Messenger, Set<String>>::deserialize(input)? {
            if let Some(bad) = peers.0.iter().find(|it| !is_peer(channel, it)) {
                let (bad, form) = (bad.escape_debug(), form(channel));
                return Err(D::Error::custom(format!("`{bad}` is nobody there: {form}")));
            }
            all.insert(channel, peers.0);
        }
        Ok(Self(all))
    }
}

/// A messenger, by its name in the table of providers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Messenger(Channel);

impl<'de> Deserialize<'de> for Messenger {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, |it| match it {
            "telegram" => Ok(Self(Channel::Telegram)),
            "discord" => Ok(Self(Channel::Discord)),
            "slack" => Ok(Self(Channel::Slack)),
            "whatsapp" => Ok(Self(Channel::WhatsApp)),
            _ => Err(format!(
                "`{}` is no messenger; there are telegram, discord, slack, whatsapp",
                it.escape_debug()
            )),
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Raw {
    agent: Option<AgentName>,
    #[serde(deserialize_with = "address")]
    url: Option<String>,
    token: Option<Label>,
    signing_secret: Option<Label>,
    verify_token: Option<Label>,
    account: Option<Label>,
    places: Set<String>,
    require_mention: Option<Flag>,
    allowed_mime_types: Set<String>,
    max_attachment_bytes: Count<ATTACHMENT_BYTES_MAX, 0, ATTACHMENT_BYTES_MAX>,
}

impl Raw {
    fn check(&self, channel: Channel) -> Result<(), String> {
        let calls_us = matches!(channel, Channel::Slack | Channel::WhatsApp);
        if self.signing_secret.is_some() && !calls_us {
            return Err("`signing_secret` is for messengers that call us: slack, whatsapp".into());
        }
        if self.verify_token.is_some() && channel != Channel::WhatsApp {
            return Err("`verify_token` belongs under `whatsapp`".into());
        }
        self.check_account(channel)?;
        if !self.places.0.is_empty() && channel != Channel::Discord {
            return Err("`places` belongs under `discord`: others send us what is said".into());
        }
        if self.places.0.len() > PLACES_MAX {
            return Err(format!("at most {PLACES_MAX} places are listened to"));
        }
        if let Some(bad) = self.places.0.iter().find(|it| !is_number(it)) {
            return Err(format!("`{}` is no number of a place", bad.escape_debug()));
        }
        let is_type = |it: &String| {
            let plain = |it: u8| it.is_ascii_alphanumeric() || b"/.+-*_".contains(&it);
            it.len() <= PEER_BYTES_MAX * 2 && it.bytes().all(plain) && it.contains('/')
        };
        match self.allowed_mime_types.0.iter().find(|it| !is_type(it)) {
            Some(bad) => Err(format!("`{}` is no type such as text/plain", bad.escape_debug())),
            None => Ok(()),
        }
    }

    /// WhatsApp needs to know where it says something; of Slack's workspaces one may be named that alone is heard.
    fn check_account(&self, channel: Channel) -> Result<(), String> {
        let given = self.account.as_ref().map(|it| it.0.as_str());
        let wrong = |it: &str, what: &str| Err(format!("`{}` is no {what}", it.escape_debug()));
        match given {
            None if channel == Channel::WhatsApp => {
                Err("`whatsapp` needs `account`, the id of the phone number".into())
            }
            None => Ok(()),
            Some(it) if channel == Channel::WhatsApp && !is_number(it) => {
                wrong(it, "id of a phone number")
            }
            Some(it) if channel == Channel::Slack && !is_id(it, &['T', 'E']) => {
                wrong(it, "id of a workspace, such as T024BE7LH")
            }
            Some(_) if matches!(channel, Channel::WhatsApp | Channel::Slack) => Ok(()),
            Some(_) => Err("`account` belongs under `whatsapp` or `slack`".into()),
        }
    }

    /// None if the channel is no messenger.
    fn finish(self, channel: Channel) -> Option<ChannelSettings> {
        let (name, url) = match channel {
            Channel::Telegram => ("telegram", "https://api.telegram.org"),
            Channel::Discord => ("discord", "https://discord.com"),
            Channel::Slack => ("slack", "https://slack.com"),
            Channel::WhatsApp => ("whatsapp", "https://graph.facebook.com"),
            Channel::Cli | Channel::Web => return None,
        };
        let secret = |given: Option<Label>, what: &str| {
            given.map_or_else(|| format!("{name}_{what}").to_ascii_uppercase(), |it| it.0)
        };
        let calls_us = matches!(channel, Channel::Slack | Channel::WhatsApp);
        let verifies = channel == Channel::WhatsApp;
        Some(ChannelSettings {
            agent: self.agent.map(|it| it.0).or_else(|| AgentId::parse("main").ok())?,
            url: self.url.unwrap_or_else(|| url.to_owned()),
            token: secret(self.token, "token"),
            signing_secret: calls_us.then(|| secret(self.signing_secret, "signing_secret")),
            verify_token: verifies.then(|| secret(self.verify_token, "verify_token")),
            account: self.account.map(|it| it.0),
            places: self.places.0,
            require_mention: self.require_mention.is_none_or(|it| it.0),
            allowed_mime_types: self.allowed_mime_types.0,
            max_attachment_bytes: self.max_attachment_bytes.get(),
        })
    }
}

/// Where an API is: on the web, or at a loopback address of this machine, which the operator means exactly.
fn address<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    text(input, |url| {
        let read = Target::parse(url);
        let read = read.or_else(|it| Target::dangerously_on_this_machine(url).map_err(|_| it));
        let target = read.map_err(|it| it.to_string())?;
        if target.url().path() != "/" || target.url().query().is_some() {
            return Err(format!("`{}` has more than a host and a port", url.escape_debug()));
        }
        Ok(Some(url.trim_end_matches('/').to_owned()))
    })
}

/// A name of a person there: in its one form, so that two spellings are never one person.
fn is_peer(channel: Channel, name: &str) -> bool {
    match channel {
        Channel::Telegram | Channel::Discord | Channel::WhatsApp => is_number(name),
        Channel::Slack => is_id(name, &['U', 'W']),
        Channel::Cli | Channel::Web => false,
    }
}

/// An id of Slack's that begins with one of these.
fn is_id(name: &str, first: &[char]) -> bool {
    let plain = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit();
    (2..=PEER_BYTES_MAX).contains(&name.len()) && name.starts_with(first) && name.bytes().all(plain)
}

fn is_number(name: &str) -> bool {
    (1..=20).contains(&name.len())
        && !name.starts_with('0')
        && name.bytes().all(|it| it.is_ascii_digit())
}

const fn form(channel: Channel) -> &'static str {
    match channel {
        Channel::Slack => "people have ids such as \"U024BE7LH\", not names",
        Channel::Telegram | Channel::Discord => "people have numbers such as \"12345\", not names",
        Channel::WhatsApp => "people have phone numbers in digits alone, such as \"15550001234\"",
        Channel::Cli | Channel::Web => "it has no people of its own",
    }
}

#[cfg(test)]
mod tests {
    use crate::access::{Global, KnownTools, Users};

    use super::*;

    #[test]
    fn what_is_named_is_listened_to_and_nothing_else() {
        let global = Global::parse("channel_config: {telegram: {}}\n").unwrap();
        let telegram = global.channels().get(Channel::Telegram).unwrap();
        assert_eq!((telegram.agent.as_str(), telegram.token.as_str()), ("main", "TELEGRAM_TOKEN"));
        assert!(telegram.require_mention && telegram.allowed_mime_types.is_empty());
        assert_eq!(telegram.max_attachment_bytes, 20 << 20);
        assert_eq!(global.channels().iter().count(), 1);
        let chosen = Global::parse("providers: {channel: slack}\n").unwrap();
        assert!(chosen.channels().get(Channel::Slack).unwrap().signing_secret.is_some());
        let one = Global::parse("channel_config: {slack: {account: T024BE7LH}}\n").unwrap();
        let account = one.channels().get(Channel::Slack).unwrap().account.as_deref();
        assert_eq!(account, Some("T024BE7LH"));
        assert_eq!(
            Global::parse("providers: {channel: cli}\n").unwrap().channels().iter().count(),
            0
        );
        for bad in [
            "channel_config: {cli: {}}",
            "channel_config: {telegram: {url: \"http://169.254.169.254\"}}",
            "channel_config: {telegram: {url: \"https://api.telegram.org/bot1\"}}",
            "channel_config: {telegram: {signing_secret: x}}",
            "channel_config: {telegram: {max_attachment_bytes: 20971521}}",
            "channel_config: {telegram: {dm_policy: open}}",
            "channel_config: {whatsapp: {}}",
            "channel_config: {whatsapp: {account: T024BE7LH}}",
            "channel_config: {slack: {account: \"777\"}}",
            "channel_config: {telegram: {account: \"777\"}}",
            "channel_config: {discord: {places: [\"../x\"]}}",
        ] {
            assert!(Global::parse(&format!("{bad}\n")).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_person_at_a_messenger_is_one_user_in_one_spelling_and_an_empty_list_is_nobody() {
        let users = |ann: &str, bob: &str| {
            let user = |name: &str, digit: &str, more: &str| {
                let hash = digit.repeat(64);
                format!(
                    "  - {{name: {name}, token_hash: \"{hash}\", agents: [main], budget: unlimited{more}}}\n"
                )
            };
            let text = format!("users:\n{}{}", user("ann", "a", ann), user("bob", "b", bob));
            Users::parse(&text, &KnownTools::default())
        };
        let both = users(", channels: {telegram: [\"12345\"]}", ", channels: {telegram: []}");
        let both = both.unwrap();
        assert_eq!(both.at(Channel::Telegram, "12345").unwrap().name.as_str(), "ann");
        for nobody in ["", "1", "012345", " 12345", "１２３４５", "12345\0"] {
            assert_eq!(both.at(Channel::Telegram, nobody), None, "{nobody}");
        }
        assert_eq!(both.at(Channel::Discord, "12345"), None);
        let twice = ", channels: {telegram: [\"7\"]}";
        assert!(users(twice, twice).is_err());
        for bad in ["*", "@ann", "-5", "0", "12 3", "１２３", "", "U1"] {
            let peers = format!(", channels: {{telegram: [\"{bad}\"]}}");
            assert!(users(&peers, "").is_err(), "{bad}");
        }
        assert!(users(", channels: {slack: [\"U024BE7LH\"]}", "").is_ok());
        assert!(users(", channels: {slack: [\"u024be7lh\"]}", "").is_err());
        assert!(users(", channels: {irc: [\"ann\"]}", "").is_err());
    }
}
