//! What is configured of models, and what is missing: for people who look.

use std::path::Path;

use model::provider::{Credentials, Llm, Provider, ProviderKind};
use policy::access::{Endpoint, Global, Models as Settings, Task};
use scan::net::Target;
use vault::{Contents, Name, Source, VaultFile};

use super::desk;
use super::error::ModelsError;
use super::wanted::Catalog;
use crate::admission;
use crate::secret_for::binding;

/// One model that may be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelStatus {
    /// `provider/model`.
    pub model: String,
    /// The tasks that it is for, and its place among them from 1.
    pub tasks: Vec<(&'static str, usize)>,
    /// Where it is; none if it is scripted.
    pub url: Option<String>,
    /// The secret that is its key, if it wants one.
    pub key: Option<String>,
    /// What is missing before it can be asked; none if nothing is.
    pub missing: Option<String>,
    /// Whether the settings name a price.
    pub is_priced: bool,
}

/// The models that the settings in `home` name; none if they choose no provider. Nothing is sent.
///
/// # Errors
/// If the settings are not understood.
pub fn status(home: &Path) -> Result<Option<Vec<ModelStatus>>, ModelsError> {
    let providers = admission::providers(home)?;
    let Some(Provider::Llm(chosen)) = providers.of(ProviderKind::Llm) else { return Ok(None) };
    let settings = admission::settings(home)?;
    let models = settings.as_ref().map(Global::models).cloned().unwrap_or_default();
    let catalog = Catalog::new(chosen, &models)?;
    let keys = Keys::of(home, providers.of(ProviderKind::Credentials));
    let script = models.script.as_ref().and_then(|it| desk::script(home, it).err());
    let script = script.map(|it| it.to_string());
    let rows = catalog.all().into_iter().map(|it| {
        let endpoint = endpoint(&models, it.provider);
        let place = |task: Task| {
            let at = catalog.chain(task).iter().position(|other| other == it)?;
            catalog.has(task).then_some((task.as_str(), at.saturating_add(1)))
        };
        ModelStatus {
            model: it.to_string(),
            tasks: Task::ALL.into_iter().filter_map(place).collect(),
            url: endpoint.map(|it| it.url.clone()),
            key: endpoint.and_then(|it| it.key.clone()),
            missing: if it.provider == Llm::Mock {
                script.clone()
            } else {
                endpoint.and_then(|it| keys.missing(it))
            },
            is_priced: catalog.price(it).is_some(),
        }
    });
    Ok(Some(rows.collect()))
}

fn endpoint(models: &Settings, provider: Llm) -> Option<&Endpoint> {
    match provider {
        Llm::Anthropic => Some(&models.anthropic),
        Llm::OpenAi => Some(&models.openai),
        Llm::Local => models.local.as_ref(),
        Llm::OpenRouter
        | Llm::Groq
        | Llm::DeepInfra
        | Llm::Gemini
        | Llm::Multi
        | Llm::Router
        | Llm::Mock => None,
    }
}

/// The keys that there are, or why nobody knows.
enum Keys {
    Known(Contents),
    Nobody,
    Closed(String),
}

impl Keys {
    fn of(home: &Path, chosen: Option<Provider>) -> Self {
        let file = VaultFile::in_home(home);
        if chosen == Some(Provider::Credentials(Credentials::Env)) {
            let Source::Env(all) = Source::env() else { return Self::Nobody };
            return Self::Known(vault::of_env(&all).0);
        }
        if !file.is_there() {
            return Self::Nobody;
        }
        match vault::unlock(&file, None).and_then(|key| file.open(&key)) {
            Ok(contents) => Self::Known(contents),
            Err(error) => Self::Closed(error.to_string()),
        }
    }

    /// What is missing for an endpoint.
    fn missing(&self, endpoint: &Endpoint) -> Option<String> {
        let key = endpoint.key.as_ref()?;
        let target = Target::parse(&endpoint.url)
            .or_else(|_| Target::dangerously_on_this_machine(&endpoint.url))
            .ok()?;
        let host = binding(&target);
        let set = format!("lazaret vault set {key} --host {host}");
        let contents = match self {
            Self::Known(contents) => contents,
            Self::Nobody => return Some(format!("no vault: lazaret vault init && {set}")),
            Self::Closed(why) => return Some(format!("the vault does not open: {why}")),
        };
        let entry = Name::parse(key).ok().and_then(|it| contents.get(&it));
        let Some(entry) = entry else { return Some(format!("no key: {set}")) };
        match entry.bound().permits(&target) {
            Ok(()) => None,
            Err(_) => Some(format!("the key is not for `{host}`: {set}")),
        }
    }
}
