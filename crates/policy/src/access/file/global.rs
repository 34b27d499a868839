//! The host's settings: `config.yaml`, with `tools`, `providers`, `egress`, `services`, `browser`, `sandbox`,
//! `shell`, `scheduler`, `intent`, `notifications`, `sanitize`, `answers`, `models`, `serve`, `delegation`,
//! `channel_config`, `history`, `hooks`, `host`, `securityProfile`, `taintBudget`, `risk`, `files` and
//! `capabilityScopes`.

mod sections;

pub use sections::Sections;

use std::collections::BTreeMap;

use model::Profile;
use model::provider::{Provider, ProviderKind};
use scan::net::Inner;
use serde::{Deserialize, Deserializer};

use super::FileError;
use super::answers::AnswerSettings;
use super::browser::Browser;
use super::channels::Channels;
use super::delegation::DelegationSettings;
use super::egress::Egress;
use super::history::HistorySettings;
use super::hooks::HookSettings;
use super::host::HostSettings;
use super::intent::Readers;
use super::models::Models;
use super::providers::Providers;
use super::sandbox::SandboxProfile;
use super::sanitize::SanitizeSettings;
use super::scheduler::SchedulerSettings;
use super::scopes;
use super::security::{self, FileSettings, RiskSettings, Security, TaintBudget};
use super::serve::ServeSettings;
use super::services::{RawServices, Service, Services};
use super::shell::Shell;
use super::tools::{GlobalTool, Tools};
use super::yaml;
use crate::access::{Domain, Scopes};

/// The host's settings. A domain of tools that is not mentioned is on; a kind of provider that is not
/// mentioned is as the host has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Global {
    tools: BTreeMap<Domain, GlobalTool>,
    providers: BTreeMap<ProviderKind, Provider>,
    egress: Egress,
    services: Services,
    browser: Browser,
    sandbox: SandboxProfile,
    shell: Shell,
    scheduler: SchedulerSettings,
    readers: Readers,
    notifications: Notifications,
    sanitize: SanitizeSettings,
    answers: AnswerSettings,
    serve: ServeSettings,
    models: Models,
    delegation: DelegationSettings,
    channels: Channels,
    history: HistorySettings,
    security: Security,
    scopes: Scopes,
    hooks: HookSettings,
    host: HostSettings,
}

/// How a person is told of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notifications {
    /// By the desktop, where there is one.
    pub desktop: bool,
}

impl Default for Notifications {
    fn default() -> Self {
        Self { desktop: true }
    }
}

impl Global {
    /// Reads the settings.
    ///
    /// # Errors
    /// If anything in them is not understood.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let file: File = yaml::read(text, 1)?;
        let sections = [
            file.tools.is_some(),
            file.providers.is_some(),
            file.egress.is_some(),
            file.services.is_some(),
            file.browser.is_some(),
            file.sandbox.is_some(),
            file.shell.is_some(),
            file.scheduler.is_some(),
            file.intent.is_some(),
            file.notifications.is_some(),
            file.sanitize.is_some(),
            file.answers.is_some(),
            file.models.is_some(),
            file.serve.is_some(),
            file.delegation.is_some(),
            file.channel_config.is_some(),
            file.history.is_some(),
            file.security_profile.is_some(),
            file.taint_budget.is_some(),
            file.risk.is_some(),
            file.files.is_some(),
            file.capability_scopes.is_some(),
            file.hooks.is_some(),
            file.host.is_some(),
        ];
        if !sections.contains(&true) {
            let there = "it says nothing; there are `tools`, `providers`, `egress`, `services`, `browser`, `sandbox`, `shell`, `scheduler`, `intent`, `notifications`, `sanitize`, `answers`, `models`, `serve`, `delegation`, `channel_config`, `history`, `hooks`, `host`, `securityProfile`, `taintBudget`, `risk`, `files` and `capabilityScopes`";
            return Err(FileError::at(1, there));
        }
        let egress = file.egress.unwrap_or_default();
        let services = file.services.unwrap_or_default().finish(&egress.inner)?;
        let providers = file.providers.unwrap_or_default().0;
        let mut channels = file.channel_config.unwrap_or_default();
        if let Some(Provider::Channel(chosen)) = providers.get(&ProviderKind::Channel) {
            channels.choose(*chosen);
        }
        Ok(Self {
            tools: file.tools.unwrap_or_default().0,
            providers,
            egress,
            services,
            browser: file.browser.unwrap_or_default(),
            sandbox: file.sandbox.unwrap_or_default(),
            shell: file.shell.unwrap_or_default(),
            scheduler: file.scheduler.unwrap_or_default(),
            readers: file.intent.unwrap_or_default(),
            notifications: file.notifications.unwrap_or_default(),
            sanitize: file.sanitize.unwrap_or_default(),
            answers: file.answers.unwrap_or_default(),
            serve: file.serve.unwrap_or_default(),
            models: file.models.unwrap_or_default(),
            delegation: file.delegation.unwrap_or_default(),
            channels,
            history: file.history.unwrap_or_default(),
            security: Security {
                profile: file.security_profile,
                taint_budget: file.taint_budget.unwrap_or_default(),
                risk: file.risk.unwrap_or_default(),
                files: file.files.unwrap_or_default(),
            },
            scopes: file.capability_scopes.unwrap_or_default(),
            hooks: file.hooks.unwrap_or_default(),
            host: file.host.unwrap_or_default(),
        })
    }

    /// The provider that is chosen for a kind, if one is.
    #[must_use]
    pub fn provider(&self, kind: ProviderKind) -> Option<Provider> {
        self.providers.get(&kind).copied()
    }

    /// All providers that are chosen.
    pub fn providers(&self) -> impl Iterator<Item = Provider> {
        self.providers.values().copied()
    }

    /// What agents may reach.
    #[must_use]
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// A service that agents may call, by its name.
    #[must_use]
    pub fn service(&self, name: &str) -> Option<&Service> {
        self.services.0.get(name)
    }

    /// All services by name.
    pub fn services(&self) -> impl Iterator<Item = (&str, &Service)> {
        self.services.0.iter().map(|(name, it)| (name.as_str(), it))
    }

    /// How browsers are started.
    #[must_use]
    pub fn browser(&self) -> &Browser {
        &self.browser
    }

    /// What must confine the host itself.
    #[must_use]
    pub fn sandbox(&self) -> &SandboxProfile {
        &self.sandbox
    }

    /// How commands of agents are confined.
    #[must_use]
    pub fn shell(&self) -> &Shell {
        &self.shell
    }

    /// Work at set times.
    #[must_use]
    pub fn scheduler(&self) -> &SchedulerSettings {
        &self.scheduler
    }

    /// Who reads the user's words.
    #[must_use]
    pub fn readers(&self) -> Readers {
        self.readers
    }

    /// How a person is told of questions.
    #[must_use]
    pub fn notifications(&self) -> Notifications {
        self.notifications
    }

    /// What is done with what tools give back.
    #[must_use]
    pub fn sanitize(&self) -> &SanitizeSettings {
        &self.sanitize
    }

    /// What answers must not give away.
    #[must_use]
    pub fn answers(&self) -> &AnswerSettings {
        &self.answers
    }

    /// How agents are served over the network.
    #[must_use]
    pub fn serve(&self) -> &ServeSettings {
        &self.serve
    }

    /// Which language models there are.
    #[must_use]
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// How far agents hand work on.
    #[must_use]
    pub fn delegation(&self) -> &DelegationSettings {
        &self.delegation
    }

    /// By which messengers people write to agents.
    #[must_use]
    pub fn channels(&self) -> &Channels {
        &self.channels
    }

    /// What agents are shown of earlier.
    #[must_use]
    pub fn history(&self) -> &HistorySettings {
        &self.history
    }

    /// How careful the host is.
    #[must_use]
    pub fn security(&self) -> &Security {
        &self.security
    }

    /// What agents can do at all.
    #[must_use]
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// How the loop of agents looks after itself.
    #[must_use]
    pub fn hooks(&self) -> &HookSettings {
        &self.hooks
    }

    /// How the workers of agents are confined.
    #[must_use]
    pub fn host(&self) -> &HostSettings {
        &self.host
    }

    /// The same settings with these hosts of the inner network open, for what the host itself asks of them.
    #[must_use]
    pub fn dangerously_opening(mut self, inner: Inner) -> Self {
        self.egress.inner = inner;
        self
    }

    /// The same settings without scopes, which are about agents, for what the host itself asks.
    #[must_use]
    pub fn without_scopes(mut self) -> Self {
        self.scopes = Scopes::default();
        self
    }

    /// Is the domain on?
    #[must_use]
    pub fn is_enabled(&self, domain: Domain) -> bool {
        self.tools.get(&domain).is_none_or(|it| it.enabled)
    }

    /// The settings of a domain, if there are some.
    #[must_use]
    pub fn tool(&self, domain: Domain) -> Option<&GlobalTool> {
        self.tools.get(&domain)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, deserialize_with = "there")]
    tools: Option<Tools>,
    #[serde(default, deserialize_with = "there")]
    providers: Option<Providers>,
    #[serde(default, deserialize_with = "there")]
    egress: Option<Egress>,
    #[serde(default, deserialize_with = "there")]
    services: Option<RawServices>,
    #[serde(default, deserialize_with = "there")]
    browser: Option<Browser>,
    #[serde(default, deserialize_with = "there")]
    sandbox: Option<SandboxProfile>,
    #[serde(default, deserialize_with = "there")]
    shell: Option<Shell>,
    #[serde(default, deserialize_with = "there")]
    scheduler: Option<SchedulerSettings>,
    #[serde(default, deserialize_with = "there")]
    intent: Option<Readers>,
    #[serde(default, deserialize_with = "there")]
    notifications: Option<Notifications>,
    #[serde(default, deserialize_with = "there")]
    sanitize: Option<SanitizeSettings>,
    #[serde(default, deserialize_with = "there")]
    answers: Option<AnswerSettings>,
    #[serde(default, deserialize_with = "there")]
    serve: Option<ServeSettings>,
    #[serde(default, deserialize_with = "there")]
    models: Option<Models>,
    #[serde(default, deserialize_with = "there")]
    delegation: Option<DelegationSettings>,
    channel_config: Option<Channels>,
    #[serde(default, deserialize_with = "there")]
    history: Option<HistorySettings>,
    #[serde(default, rename = "securityProfile", deserialize_with = "security::profile")]
    security_profile: Option<Profile>,
    #[serde(default, rename = "taintBudget", deserialize_with = "there")]
    taint_budget: Option<TaintBudget>,
    #[serde(default, deserialize_with = "there")]
    risk: Option<RiskSettings>,
    #[serde(default, deserialize_with = "there")]
    files: Option<FileSettings>,
    #[serde(default, rename = "capabilityScopes", deserialize_with = "scopes::scopes")]
    capability_scopes: Option<Scopes>,
    #[serde(default, deserialize_with = "there")]
    hooks: Option<HookSettings>,
    #[serde(default, deserialize_with = "there")]
    host: Option<HostSettings>,
}

/// A section that is there counts as there, whatever is in it.
fn there<'de, D: Deserializer<'de>, T: Deserialize<'de>>(input: D) -> Result<Option<T>, D::Error> {
    T::deserialize(input).map(Some)
}
