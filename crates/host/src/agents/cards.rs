//! The agents that exist.

use std::path::Path;

use agent::{AgentCard, TurnError, TurnErrorCode};
use model::AgentId;
use policy::access::Manifest;

use super::error;

/// The agent of a machine on which nobody has made one.
pub const DEFAULT_AGENT: &str = "main";

/// What is shown of an agent.
#[must_use]
pub fn card(manifest: &Manifest) -> AgentCard {
    AgentCard {
        id: manifest.agent.as_str().to_owned(),
        name: manifest.display_name(),
        description: manifest
            .about()
            .unwrap_or("An assistant with the tools of this host.")
            .to_owned(),
        icon: manifest.icon.clone(),
        tags: manifest.tags.clone(),
        starters: manifest.starters.clone(),
    }
}

/// All agents whose manifest is understood; the default one where there are no manifests.
#[must_use]
pub fn all(home: &Path) -> Vec<AgentCard> {
    let found = crate::agents(home).unwrap_or_default();
    if found.is_empty() {
        let default = AgentId::parse(DEFAULT_AGENT).ok();
        return default.iter().map(|it| card(&Manifest::silent(it))).collect();
    }
    let manifests = found.iter().filter_map(|it| crate::manifest(home, it).ok());
    manifests.map(|(_, manifest)| card(&manifest)).collect()
}

/// Is there such an agent?
pub(super) fn exists(home: &Path, agent: &AgentId) -> Result<(), TurnError> {
    let there =
        crate::agents(home).map_err(|it| error(TurnErrorCode::InitFailed, it.to_string()))?;
    let is_there = match there.as_slice() {
        [] => agent.as_str() == DEFAULT_AGENT,
        some => some.contains(agent),
    };
    if is_there {
        return Ok(());
    }
    let next =
        "`lazaret agents list` shows those that there are, `lazaret agents create` makes one";
    Err(error(TurnErrorCode::AgentNotFound, format!("there is no agent `{agent}`; {next}")))
}
