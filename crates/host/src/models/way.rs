//! The ways to providers: where each is, how it speaks, and by which secret it knows us.
//!
//! INVARIANT (BoundToHosts): a key is asked of the vault for each question, for the host that it goes to, and is written
//! into no error and no record.

use std::sync::Arc;
use std::time::Duration;

use egress::{Client, Limits, ModelAnswer, ModelServers, Rules, Trust, Waits};
use evidence::Journal;
use llm::Dialect;
use llm::wire::{Chunks, Post, Reply, Wire, WireError};
use model::ipc::LlmCall;
use model::provider::{Llm, Provider};
use monitor::Permit;
use policy::access::{Api, Endpoint, Global, Models as Settings};
use scan::net::{Domains, Host, Inner, InnerHost, Target};
use vault::{Keeper, Name};
use zeroize::Zeroizing;

use super::error::ModelsError;
use crate::secret_for::{SecretFor, not_sent};
use crate::web::dialer_of;

/// What a stream may carry as it travels, in bytes: who reads it counts what it reads.
const STREAM_BYTES_MAX: usize = usize::MAX >> 1;
/// Connections at one time.
const CONNECTIONS_MAX: usize = 64;

/// The ways to all providers that the settings describe.
pub(super) struct Ways {
    servers: ModelServers,
    keeper: Option<Arc<Keeper>>,
    anthropic: Way,
    openai: Way,
    local: Option<Way>,
}

/// The way to one provider.
pub(super) struct Way {
    pub(super) dialect: Dialect,
    target: Target,
    key: Option<Name>,
}

impl Ways {
    /// The ways that `settings` describe, with the keys of `keeper`.
    pub(super) fn new(
        settings: Option<&Global>,
        keeper: Option<Arc<Keeper>>,
        journal: Arc<Journal>,
    ) -> Result<Self, ModelsError> {
        let models = settings.map(Global::models).cloned().unwrap_or_default();
        let egress = settings.map(Global::egress);
        let blocked = egress.and_then(|it| it.blocked_domains.as_deref()).unwrap_or_default();
        let inner = opened(egress.map(|it| it.inner.clone()).unwrap_or_default(), &models)?;
        let limits = Limits {
            head: Duration::MAX,
            idle: egress::MODEL_IDLE_MAX,
            wire_bytes: STREAM_BYTES_MAX,
            per_session: CONNECTIONS_MAX,
            per_host: CONNECTIONS_MAX,
            ..Limits::default()
        };
        let dialer = dialer_of(settings, &limits)?.dangerously_opening(inner.clone());
        let client = Client::new(Arc::new(dialer), &Trust::System, limits)?;
        let rules =
            Rules { block: Domains::parse(blocked)?, inner: inner.clone(), ..Rules::default() };
        let servers = ModelServers::new(client, rules, journal, Waits::default())?;
        let of_api = |api: Api, chat: Dialect| match api {
            Api::Chat => chat,
            Api::Responses => Dialect::Responses,
        };
        let way = |provider: Llm, endpoint: &Endpoint, dialect: Dialect| {
            Way::new(provider, endpoint, dialect, &inner)
        };
        let local = models.local.as_ref();
        let local =
            local.map(|it| way(Llm::Local, it, of_api(it.api, Dialect::LocalChat))).transpose()?;
        Ok(Self {
            servers,
            keeper,
            anthropic: way(Llm::Anthropic, &models.anthropic, Dialect::Messages)?,
            openai: way(Llm::OpenAi, &models.openai, of_api(models.openai.api, Dialect::Chat))?,
            local,
        })
    }

    /// The way to a provider; none if there is no wire to it.
    pub(super) fn to(&self, provider: Llm) -> Option<&Way> {
        match provider {
            Llm::Anthropic => Some(&self.anthropic),
            Llm::OpenAi => Some(&self.openai),
            Llm::Local => self.local.as_ref(),
            Llm::OpenRouter
            | Llm::Groq
            | Llm::DeepInfra
            | Llm::Gemini
            | Llm::Multi
            | Llm::Router
            | Llm::Mock => None,
        }
    }

    /// A wire to a provider for one question.
    pub(super) fn wire<'a>(
        &'a self,
        way: &'a Way,
        permit: &'a Permit<LlmCall>,
        is_cancelled: Cancelled<'a>,
    ) -> PermittedWire<'a> {
        PermittedWire { ways: self, way, permit, is_cancelled }
    }
}

impl Way {
    fn new(
        provider: Llm,
        endpoint: &Endpoint,
        dialect: Dialect,
        inner: &Inner,
    ) -> Result<Self, ModelsError> {
        let provider = Provider::Llm(provider).name();
        let target = Target::within(&format!("{}{}", endpoint.url, dialect.path()), inner)
            .map_err(|error| ModelsError::Address { provider, error })?;
        let name = |it: &String| Name::parse(it).map_err(|it| ModelsError::Chosen(it.to_string()));
        Ok(Self { dialect, target, key: endpoint.key.as_ref().map(name).transpose()? })
    }
}

/// What the settings open, and the addresses of this machine at which a provider is. These are open for models alone.
fn opened(inner: Inner, models: &Settings) -> Result<Inner, ModelsError> {
    let mut all: Vec<InnerHost> = inner.iter().cloned().collect();
    let endpoints = [Some(&models.anthropic), Some(&models.openai), models.local.as_ref()];
    for endpoint in endpoints.into_iter().flatten() {
        let Ok(target) = Target::dangerously_on_this_machine(&endpoint.url) else { continue };
        let Host::Address(address) = target.host() else { continue };
        let is_open = |it: &InnerHost| it.host() == target.host() && it.port() == target.port();
        if !all.iter().any(is_open) {
            all.push(InnerHost::new(&address.to_string(), target.port(), Vec::new())?);
        }
    }
    Ok(Inner::new(all)?)
}

/// A wire that was permitted for one question.
pub(super) struct PermittedWire<'a> {
    ways: &'a Ways,
    way: &'a Way,
    permit: &'a Permit<LlmCall>,
    is_cancelled: Cancelled<'a>,
}

/// Says whether nobody waits for an answer any more.
pub(crate) type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

impl Wire for PermittedWire<'_> {
    fn post(&self, post: &Post<'_>) -> Result<Reply, WireError> {
        let mut headers: Vec<(String, Zeroizing<String>)> = post
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Zeroizing::new((*value).to_owned())))
            .collect();
        if let Some(name) = &self.way.key {
            let (keeper, target) = (self.ways.keeper.as_deref(), &self.way.target);
            let secret = SecretFor { name, target, purpose: "llm_call" };
            let value = secret.resolved(keeper, self.permit, post.key.prefix)?;
            headers.push((post.key.name.to_owned(), value));
        }
        let body = post.body.clone().into();
        let sent = (headers, body);
        let servers = &self.ways.servers;
        let sent = servers.post(self.permit, &self.way.target, sent, self.is_cancelled);
        let answer =
            sent.map_err(|it| not_sent(it, |it| self.permit.scrubs().clean(it).into_owned()))?;
        let of = |name: &str| answer.header(name).map(str::to_owned);
        Ok(Reply {
            status: answer.status(),
            content_type: of("content-type").unwrap_or_default(),
            retry_after: of("retry-after"),
            body: Box::new(Body(answer)),
        })
    }

    fn is_cancelled(&self) -> bool {
        (self.is_cancelled)()
    }
}

struct Body(ModelAnswer);

impl Chunks for Body {
    fn next(&mut self) -> Result<Option<Vec<u8>>, WireError> {
        let next = self.0.next_chunk().map_err(|it| WireError::Broken(it.to_string()))?;
        Ok(next.map(|it| it.to_vec()))
    }
}
