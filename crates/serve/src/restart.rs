//! Parts of the settings that count from the start of the process until its end. Where they are others now, that is told:
//! nobody is to believe that they count.

use model::provider::{Channel, Provider, ProviderKind, Web};
use policy::access::{Sections, ServeSettings, Users};

use crate::directory::Directory;

/// What of the files counts after a restart alone, and is other now than at the start.
pub(crate) fn needed(begun: &Directory, now: &Directory) -> Vec<String> {
    let is = now.global.sections();
    // Without `..`: a section that is new has to be put on one side before this compiles.
    let Sections {
        // Sessions are opened by these, and a turn after a reload has another session's worker.
        tools: _,
        services: _,
        browser: _,
        shell: _,
        delegation: _,
        history: _,
        security: _,
        scopes: _,
        hooks: _,
        host: _,
        // They are looked up whenever they are needed.
        notifications: _,
        // They are read again, see `Runtime::reloaded`.
        models: _,
        // The gate, the messengers and the jobs have these from the start.
        providers,
        egress,
        sandbox,
        scheduler,
        readers,
        sanitize,
        answers,
        serve,
        channels,
    } = begun.global.sections();
    let mut needed = Vec::new();
    let mut part = |name: &str, is_other: bool| {
        if is_other {
            needed.push(name.to_owned());
        }
    };
    for kind in ProviderKind::ALL {
        let is_other = providers.get(kind) != is.providers.get(kind);
        part(&format!("providers.{}", kind.as_str()), counts_from_start(*kind) && is_other);
    }
    // The gate has the key of the search engine.
    let web = is.providers.get(&ProviderKind::Web);
    let searches = web == Some(&Provider::Web(Web::Search));
    let is_other = web != providers.get(&ProviderKind::Web) || egress.search != is.egress.search;
    part("egress.search", searches && is_other);
    let has_messengers = channels.iter().next().is_some();
    part("egress (for messengers)", has_messengers && egress != is.egress);
    part("sandbox", sandbox != is.sandbox);
    part("scheduler", scheduler != is.scheduler);
    part("intent", readers != is.readers);
    part("sanitize", sanitize != is.sanitize);
    part("answers", answers != is.answers);
    part("channel_config", channels != is.channels);
    let on_discord = channels.get(Channel::Discord).is_some();
    let is_other = people(&begun.users) != people(&now.users);
    part("users.yaml: channels", on_discord && is_other);
    part("serve.tls", speaks_tls(serve) != speaks_tls(is.serve));
    needed
}

/// What of `serve` counts from the start: other files of a certificate are read, but whoever connects has to know whether
/// there is one.
fn speaks_tls(serve: &ServeSettings) -> bool {
    let ServeSettings {
        tls,
        behind_proxy: _,
        allowed_hosts: _,
        allowed_origins: _,
        allow_query_token: _,
        max_workers: _,
        rate_limits: _,
        privacy: _,
        prices: _,
        logging: _,
    } = serve;
    tls.is_some()
}

/// Has somebody had it from the start?
fn counts_from_start(kind: ProviderKind) -> bool {
    match kind {
        // Sessions are opened with these.
        ProviderKind::Llm
        | ProviderKind::Image
        | ProviderKind::Memory
        | ProviderKind::Web
        | ProviderKind::Browser
        | ProviderKind::Skills
        | ProviderKind::Shell => false,
        ProviderKind::Scanner
        | ProviderKind::Screener
        | ProviderKind::Channel
        | ProviderKind::Credentials
        | ProviderKind::Audit
        | ProviderKind::Container
        | ProviderKind::Sandbox
        | ProviderKind::Scheduler
        | ProviderKind::Database
        | ProviderKind::Storage
        | ProviderKind::EventBus => true,
    }
}

/// Who is listened to where places have no people of their own.
fn people(users: &Users) -> Vec<String> {
    let mut all: Vec<String> =
        users.iter().flat_map(|it| it.channels.of(Channel::Discord).to_vec()).collect();
    all.sort();
    all
}
