//! All sections of the settings at once, for whoever has to look at each of them.

use std::collections::BTreeMap;

use model::provider::{Provider, ProviderKind};

use super::super::answers::AnswerSettings;
use super::super::browser::Browser;
use super::super::channels::Channels;
use super::super::delegation::DelegationSettings;
use super::super::egress::Egress;
use super::super::history::HistorySettings;
use super::super::hooks::HookSettings;
use super::super::host::HostSettings;
use super::super::intent::Readers;
use super::super::models::Models;
use super::super::sandbox::SandboxProfile;
use super::super::sanitize::SanitizeSettings;
use super::super::scheduler::SchedulerSettings;
use super::super::security::Security;
use super::super::serve::ServeSettings;
use super::super::services::Service;
use super::super::shell::Shell;
use super::super::tools::GlobalTool;
use super::{Global, Notifications};
use crate::access::{Domain, Scopes};

/// The sections of `config.yaml`. Whoever takes this apart names each of them, without `..`: then a section that is new has
/// to be thought of before that compiles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    missing_docs,
    reason = "each is the section of this name, and is told of where it is read"
)]
pub struct Sections<'a> {
    pub tools: &'a BTreeMap<Domain, GlobalTool>,
    pub providers: &'a BTreeMap<ProviderKind, Provider>,
    pub egress: &'a Egress,
    pub services: &'a BTreeMap<String, Service>,
    pub browser: &'a Browser,
    pub sandbox: &'a SandboxProfile,
    pub shell: &'a Shell,
    pub scheduler: &'a SchedulerSettings,
    pub readers: Readers,
    pub notifications: Notifications,
    pub sanitize: &'a SanitizeSettings,
    pub answers: &'a AnswerSettings,
    pub serve: &'a ServeSettings,
    pub models: &'a Models,
    pub delegation: &'a DelegationSettings,
    pub channels: &'a Channels,
    pub history: &'a HistorySettings,
    pub security: &'a Security,
    pub scopes: &'a Scopes,
    pub hooks: &'a HookSettings,
    pub host: &'a HostSettings,
}

impl Global {
    /// All sections.
    #[must_use]
    pub fn sections(&self) -> Sections<'_> {
        let Self {
            tools,
            providers,
            egress,
            services,
            browser,
            sandbox,
            shell,
            scheduler,
            readers,
            notifications,
            sanitize,
            answers,
            serve,
            models,
            delegation,
            channels,
            history,
            security,
            scopes,
            hooks,
            host,
        } = self;
        Sections {
            tools,
            providers,
            egress,
            services: &services.0,
            browser,
            sandbox,
            shell,
            scheduler,
            readers: *readers,
            notifications: *notifications,
            sanitize,
            answers,
            serve,
            models,
            delegation,
            channels,
            history,
            security,
            scopes,
            hooks,
            host,
        }
    }
}
