//! A line to one messenger: where it is, how it speaks, by which secrets it knows us and we know it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use channel::{Channel, Discord, Health, Slack, Telegram, WhatsApp};
use egress::{Client, Limits, Messengers, Rules, Trust};
use model::AgentId;
use model::provider::{self, Provider};
use policy::access::{ChannelSettings, Global};
use scan::net::{Domains, Host, Inner, InnerHost, Target};
use vault::{Keeper, Name};

use super::error::ChannelsError;
use super::hook::Verifier;
use crate::gate::Gate;
use crate::web::dialer_of;

/// What a connection may carry, in bytes: who reads an answer counts what it reads.
const STREAM_BYTES_MAX: usize = usize::MAX >> 1;
/// Connections to one messenger at one time.
const CONNECTIONS_MAX: usize = 8;

/// A line to one messenger.
pub struct Line {
    channel: provider::Channel,
    pub(super) settings: ChannelSettings,
    /// The host's settings.
    pub(super) global: Global,
    pub(super) kind: Messenger,
    pub(super) servers: Messengers,
    pub(super) keeper: Option<Arc<Keeper>>,
    pub(super) gate: Arc<Gate>,
    /// Where it is, without the path of its API.
    pub(super) target: Target,
    /// What of the inner network it may reach.
    pub(super) inner: Inner,
    pub(super) token: Name,
    /// Held while something is said, so that things are said one after the other.
    pub(super) saying: Mutex<()>,
    /// By which calls of the messenger are known, while it is listened to.
    pub(super) verifier: Mutex<Option<Verifier>>,
}

/// A messenger that can be reached.
pub(super) enum Messenger {
    Telegram(Telegram),
    Discord(Discord),
    Slack(Slack),
    WhatsApp(WhatsApp),
}

impl Messenger {
    pub(super) fn channel(&self) -> &dyn Channel {
        match self {
            Self::Telegram(it) => it,
            Self::Discord(it) => it,
            Self::Slack(it) => it,
            Self::WhatsApp(it) => it,
        }
    }
}

impl Line {
    pub(super) fn new(
        name: provider::Channel,
        chosen: &ChannelSettings,
        settings: &Global,
        people: Vec<String>,
        gate: &Arc<Gate>,
    ) -> Result<Self, ChannelsError> {
        let wrong = |it: &dyn std::fmt::Display| ChannelsError::Chosen(it.to_string());
        let kind = match name {
            provider::Channel::Telegram => Messenger::Telegram(Telegram::default()),
            provider::Channel::Discord => {
                Messenger::Discord(Discord::listening_to(chosen.places.clone(), people))
            }
            provider::Channel::Slack => Messenger::Slack(Slack::of(chosen.account.clone())),
            provider::Channel::WhatsApp => {
                let account = chosen.account.clone();
                let account = account.ok_or_else(|| wrong(&"`whatsapp` needs `account`"))?;
                Messenger::WhatsApp(WhatsApp::of(account))
            }
            provider::Channel::Cli | provider::Channel::Web => {
                return Err(wrong(&"the terminal and the server are no messengers"));
            }
        };
        let inner = opened(settings.egress().inner.clone(), &chosen.url)?;
        let target = Target::within(&chosen.url, &inner)?;
        let limits = Limits {
            head: Duration::MAX,
            wire_bytes: STREAM_BYTES_MAX,
            per_session: CONNECTIONS_MAX,
            per_host: CONNECTIONS_MAX,
            ..Limits::default()
        };
        let dialer = dialer_of(Some(settings), &limits)?.dangerously_opening(inner.clone());
        let client = Client::new(Arc::new(dialer), &Trust::System, limits)?;
        let blocked = settings.egress().blocked_domains.as_deref().unwrap_or_default();
        let rules =
            Rules { block: Domains::parse(blocked)?, inner: inner.clone(), ..Rules::default() };
        Ok(Self {
            channel: name,
            settings: chosen.clone(),
            global: settings.clone(),
            kind,
            servers: Messengers::new(client, rules, Arc::clone(&gate.journal))?,
            keeper: gate.keeper.clone(),
            gate: Arc::clone(gate),
            target,
            inner,
            token: Name::parse(&chosen.token).map_err(|it| wrong(&it))?,
            saying: Mutex::default(),
            verifier: Mutex::default(),
        })
    }

    /// Which messenger it is.
    #[must_use]
    pub fn channel(&self) -> provider::Channel {
        self.channel
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        Provider::Channel(self.channel).name()
    }

    /// How it is listened to.
    #[must_use]
    pub fn settings(&self) -> &ChannelSettings {
        &self.settings
    }

    /// The agent that answers.
    #[must_use]
    pub fn agent(&self) -> &AgentId {
        &self.settings.agent
    }

    /// Does the messenger call us, rather than we it?
    #[must_use]
    pub fn calls_us(&self) -> bool {
        matches!(self.kind, Messenger::Slack(_) | Messenger::WhatsApp(_))
    }

    /// Returns how the last exchange went.
    #[must_use]
    pub fn health(&self) -> Health {
        self.kind.channel().health()
    }
}

/// What the settings open, and the address of this machine at which the messenger's API is, if it is at one. That is open
/// for this line alone.
fn opened(inner: Inner, url: &str) -> Result<Inner, ChannelsError> {
    let mut all: Vec<InnerHost> = inner.iter().cloned().collect();
    if let Ok(target) = Target::dangerously_on_this_machine(url)
        && let Host::Address(address) = target.host()
        && !inner.opens(target.host(), target.port())
    {
        all.push(InnerHost::new(&address.to_string(), target.port(), Vec::new())?);
    }
    Ok(Inner::new(all)?)
}
