//! Domains of tools: `config.yaml`, the part under `tools`.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::scalar::{Flag, Label};
use super::server::web_address;
use crate::access::Domain;

/// Settings of one domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalTool {
    /// Is it on?
    pub enabled: bool,
    /// The model that extracts answers from pages; for `web` alone.
    pub extraction_model: Option<String>,
    /// Agents elsewhere, by name; for `a2a` alone.
    pub agents: BTreeMap<String, Peer>,
}

/// An agent elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Its address.
    pub url: String,
    /// What it does.
    pub description: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(try_from = "BTreeMap<Domain, RawTool>")]
pub(super) struct Tools(pub(super) BTreeMap<Domain, GlobalTool>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTool {
    enabled: Flag,
    extraction_model: Option<Label>,
    agents: Option<BTreeMap<String, RawPeer>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPeer {
    #[serde(deserialize_with = "web_address")]
    url: String,
    description: Option<Label>,
}

impl TryFrom<BTreeMap<Domain, RawTool>> for Tools {
    type Error = String;

    fn try_from(raw: BTreeMap<Domain, RawTool>) -> Result<Self, String> {
        let mut tools = BTreeMap::new();
        for (domain, tool) in raw {
            if tool.extraction_model.is_some() && domain != Domain::Web {
                return Err("`extraction_model` belongs under `web`".to_owned());
            }
            if tool.agents.is_some() && domain != Domain::A2a {
                return Err("`agents` belongs under `a2a`".to_owned());
            }
            let peers = tool.agents.unwrap_or_default().into_iter().map(|(name, it)| {
                (name, Peer { url: it.url, description: it.description.map(|it| it.0) })
            });
            let extraction_model = tool.extraction_model.map(|it| it.0);
            let tool =
                GlobalTool { enabled: tool.enabled.0, extraction_model, agents: peers.collect() };
            tools.insert(domain, tool);
        }
        Ok(Self(tools))
    }
}
