//! Language models: `config.yaml`, the part under `models`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use model::provider::{Llm, Provider, resolve};
use scan::net::{Scheme, Target};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::parts::KeyName;
use super::scalar::{Label, Number, Set, text};

/// The longest name of a model, in bytes.
const NAME_BYTES_MAX: usize = 128;
/// The most links of one chain.
const CHAIN_MAX: usize = 8;
/// The highest price of a million tokens, in dollars.
const DOLLARS_MAX: f64 = 100_000.0;
/// Where keys of providers are if nothing is said.
const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";
const OPENAI_KEY: &str = "OPENAI_API_KEY";
const ANTHROPIC_URL: &str = "https://api.anthropic.com";
const OPENAI_URL: &str = "https://api.openai.com";

/// Which models there are for which work, where they are and what they cost.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawModels")]
pub struct Models {
    /// Models to be tried in turn, by task.
    pub chains: BTreeMap<Task, Vec<ModelRef>>,
    /// Models that may be asked for by name beside those of the chains.
    pub also: Vec<ModelRef>,
    /// Anthropic's API, or one that speaks like it.
    pub anthropic: Endpoint,
    /// OpenAI's API, or one that speaks like it.
    pub openai: Endpoint,
    /// A server of the operator's own that speaks like OpenAI's.
    pub local: Option<Endpoint>,
    /// The model that judges texts, if one does.
    pub guardrail: Option<ModelRef>,
    /// The file of the mock provider's turns, in the state directory.
    pub script: Option<String>,
    /// What models cost.
    pub prices: BTreeMap<ModelRef, Price>,
}

impl Default for Models {
    fn default() -> Self {
        Self {
            chains: BTreeMap::new(),
            also: Vec::new(),
            anthropic: RawEndpoint::finish(None, ANTHROPIC_URL, ANTHROPIC_KEY),
            openai: RawEndpoint::finish(None, OPENAI_URL, OPENAI_KEY),
            local: None,
            guardrail: None,
            script: None,
            prices: BTreeMap::new(),
        }
    }
}

/// What a model is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    /// Whatever is not one of the others.
    Default,
    /// Small work: summaries, names.
    Fast,
    /// Work that takes thought.
    Thinking,
    /// Programs.
    Coding,
}

impl Task {
    /// All tasks.
    pub const ALL: [Self; 4] = [Self::Default, Self::Fast, Self::Thinking, Self::Coding];

    /// The word in configurations and requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Fast => "fast",
            Self::Thinking => "thinking",
            Self::Coding => "coding",
        }
    }

    /// The task of exactly this word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
}

/// A model and who runs it: `provider/model`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelRef {
    /// Who runs it: `anthropic`, `openai`, `local` or `mock`.
    pub provider: Llm,
    /// What that provider calls it.
    pub model: String,
}

impl ModelRef {
    /// Reads `provider/model`.
    ///
    /// # Errors
    /// If it is not of that form, or there is no such provider.
    pub fn parse(text: &str) -> Result<Self, String> {
        let shown = text.escape_debug();
        let Some((provider, model)) = text.split_once('/') else {
            return Err(format!("`{shown}` is no model: write `provider/model`"));
        };
        let provider = match resolve("llm", provider) {
            Ok(Provider::Llm(it)) if runs_models(it) => it,
            Ok(_) | Err(_) => {
                return Err(format!(
                    "`{shown}`: models are run by `anthropic`, `openai`, `local` or `mock`"
                ));
            }
        };
        let legal = |it: u8| it.is_ascii_alphanumeric() || b"-_.:/@+".contains(&it);
        if model.is_empty() || model.len() > NAME_BYTES_MAX || !model.bytes().all(legal) {
            return Err(format!("`{shown}` is no name of a model"));
        }
        Ok(Self { provider, model: model.to_owned() })
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Provider::Llm(self.provider).name(), self.model)
    }
}

/// Does it run models itself, in this version?
#[must_use]
pub fn runs_models(provider: Llm) -> bool {
    match provider {
        Llm::Anthropic | Llm::OpenAi | Llm::Local | Llm::Mock => true,
        Llm::OpenRouter | Llm::Groq | Llm::DeepInfra | Llm::Gemini | Llm::Multi | Llm::Router => {
            false
        }
    }
}

impl<'de> Deserialize<'de> for ModelRef {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        text(input, Self::parse)
    }
}

/// Where an API is, and by which secret it knows us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address, without the path of the API.
    pub url: String,
    /// The secret that is its key, if it wants one.
    pub key: Option<String>,
    /// Which of OpenAI's two APIs it has.
    pub api: Api,
}

/// OpenAI's two APIs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// Chat Completions, which most servers have.
    #[default]
    Chat,
    /// Responses.
    Responses,
}

/// What a million tokens cost, in micro-dollars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Read afresh.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Found in the cache; as `input` if nothing is said.
    pub cache_read: u64,
    /// Put into the cache; as `input` if nothing is said.
    pub cache_write: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawModels {
    default: Option<Chain>,
    fast: Option<Chain>,
    thinking: Option<Chain>,
    coding: Option<Chain>,
    #[serde(default)]
    also: Set<ModelRef>,
    anthropic: Option<RawEndpoint>,
    openai: Option<RawEndpoint>,
    local: Option<RawEndpoint>,
    guardrail: Option<ModelRef>,
    mock: Option<RawMock>,
    #[serde(default)]
    prices: BTreeMap<ModelRef, Price>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMock {
    script: Label,
}

/// Models that are tried in turn: one, or a list.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`provider/model`, or a list of them")]
enum Chain {
    One(ModelRef),
    Many(Vec<ModelRef>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEndpoint {
    #[serde(default, deserialize_with = "address")]
    url: Option<String>,
    key: Option<KeyName>,
    api: Option<Api>,
}

impl RawEndpoint {
    fn finish(raw: Option<Self>, url: &str, key: &str) -> Endpoint {
        let raw = raw.unwrap_or(Self { url: None, key: None, api: None });
        Endpoint {
            url: raw.url.unwrap_or_else(|| url.to_owned()),
            key: Some(raw.key.map_or_else(|| key.to_owned(), |it| it.0)),
            api: raw.api.unwrap_or_default(),
        }
    }
}

impl TryFrom<RawModels> for Models {
    type Error = String;

    fn try_from(raw: RawModels) -> Result<Self, String> {
        let chains = [
            (Task::Default, raw.default),
            (Task::Fast, raw.fast),
            (Task::Thinking, raw.thinking),
            (Task::Coding, raw.coding),
        ];
        let chains = chains.into_iter().filter_map(|(task, chain)| Some((task, chain?)));
        let chains = chains
            .map(|(task, chain)| Ok((task, chain.finish(task)?)))
            .collect::<Result<BTreeMap<_, _>, String>>()?;
        let local = match raw.local {
            Some(RawEndpoint { url: Some(url), key, api }) => {
                let key = key.map(|it| it.0);
                Some(Endpoint { url, key, api: api.unwrap_or_default() })
            }
            Some(_) => return Err("`local` needs a `url`".to_owned()),
            None => None,
        };
        if raw.anthropic.as_ref().is_some_and(|it| it.api.is_some()) {
            return Err("`api` belongs under `openai` or `local`".to_owned());
        }
        Ok(Self {
            chains,
            also: raw.also.0,
            anthropic: RawEndpoint::finish(raw.anthropic, ANTHROPIC_URL, ANTHROPIC_KEY),
            openai: RawEndpoint::finish(raw.openai, OPENAI_URL, OPENAI_KEY),
            local,
            guardrail: raw.guardrail,
            script: raw.mock.map(|it| it.script.0),
            prices: raw.prices,
        })
    }
}

impl Chain {
    fn finish(self, task: Task) -> Result<Vec<ModelRef>, String> {
        let all = match self {
            Self::One(it) => vec![it],
            Self::Many(all) => all,
        };
        let task = task.as_str();
        if all.is_empty() || all.len() > CHAIN_MAX {
            return Err(format!("`{task}` names from 1 to {CHAIN_MAX} models"));
        }
        match all.iter().collect::<BTreeSet<_>>().len() == all.len() {
            true => Ok(all),
            false => Err(format!("`{task}` names a model twice")),
        }
    }
}

/// An address of the web over TLS, or one that only this machine or the inner network has. Whether the latter is
/// open is said by who dials.
fn address<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    text(input, |url| {
        if url.contains(['?', '#']) {
            return Err("the address of an API has no `?` and no `#`".to_owned());
        }
        match Target::parse(url) {
            Ok(target) if target.scheme() == Scheme::Http => {
                Err(format!("`{}`: a key goes out over `https` only", url.escape_debug()))
            }
            Ok(_) | Err(_) if url.starts_with("https://") || url.starts_with("http://") => {
                // Many write the first step of the path as well.
                let base = url.trim_end_matches('/');
                Ok(Some(base.strip_suffix("/v1").unwrap_or(base).to_owned()))
            }
            Ok(_) | Err(_) => Err(format!("`{}` is no address of an API", url.escape_debug())),
        }
    })
}

impl<'de> Deserialize<'de> for Price {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, rename_all = "camelCase")]
        struct Raw {
            input: Dollars,
            output: Dollars,
            cache_read: Option<Dollars>,
            cache_write: Option<Dollars>,
        }
        let raw = Raw::deserialize(input)?;
        let Dollars(input) = raw.input;
        Ok(Self {
            input,
            output: raw.output.0,
            cache_read: raw.cache_read.map_or(input, |it| it.0),
            cache_write: raw.cache_write.map_or(input, |it| it.0),
        })
    }
}

/// Dollars with at most six digits behind the point, in micro-dollars.
struct Dollars(u64);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let Number(dollars) = Number::deserialize(input)?;
        if !(0.0..=DOLLARS_MAX).contains(&dollars) {
            return Err(D::Error::custom(format!("`{dollars}` is no price in dollars")));
        }
        Ok(Self((dollars * 1e6).round() as u64))
    }
}

#[cfg(test)]
mod tests;
