//! The way out: `config.yaml`, the part under `egress`.

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::parts::hosts;
use super::scalar::Number;
use super::server::web_address;

/// What all agents of the host may reach, and how they search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Egress {
    /// These domains and no others; an agent's own list only narrows it.
    #[serde(default, deserialize_with = "hosts")]
    pub allowed_domains: Option<Vec<String>>,
    /// Never these.
    #[serde(default, deserialize_with = "hosts")]
    pub blocked_domains: Option<Vec<String>>,
    /// These ports and no others; those of the web if nothing is said.
    #[serde(default, deserialize_with = "ports")]
    pub ports: Option<Vec<u16>>,
    /// The search engine.
    #[serde(default)]
    pub search: Option<Search>,
}

/// A search engine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Search {
    /// How it speaks.
    pub engine: SearchEngine,
    /// Where it is.
    #[serde(deserialize_with = "web_address")]
    pub url: String,
}

/// How a search engine speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchEngine {
    /// As SearXNG does.
    Searxng,
    /// As Brave does, with a key.
    Brave,
}

fn ports<'de, D: Deserializer<'de>>(input: D) -> Result<Option<Vec<u16>>, D::Error> {
    let port = |Number(number): Number| {
        (1..=u16::MAX)
            .contains(&(number as u16))
            .then_some(number as u16)
            .filter(|it| f64::from(*it) == number)
            .ok_or_else(|| D::Error::custom(format!("`{number}` is no port")))
    };
    Vec::deserialize(input)?.into_iter().map(port).collect::<Result<_, _>>().map(Some)
}
