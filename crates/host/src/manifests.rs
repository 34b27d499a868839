//! The manifests of all agents of a state directory.

use std::fs;
use std::path::{Path, PathBuf};

use model::AgentId;
use policy::access::Manifest;

use crate::admission::{AGENTS, AdmissionError, MANIFEST, io, text, wrong};

/// Where the manifest of an agent lies.
#[must_use]
pub fn manifest_path(home: &Path, agent: &AgentId) -> PathBuf {
    home.join(AGENTS).join(agent.as_str()).join(MANIFEST)
}

/// The text and the meaning of an agent's manifest.
///
/// # Errors
/// If it is not there, or not understood.
pub fn manifest(home: &Path, agent: &AgentId) -> Result<(String, Manifest), AdmissionError> {
    let path = manifest_path(home, agent);
    let found = text(&path, home)?;
    let manifest = Manifest::parse(agent, &found).map_err(|it| wrong(&path, it))?;
    Ok((found, manifest))
}

/// The agents that have a folder, by name.
///
/// # Errors
/// If the folder of agents cannot be read.
pub fn agents(home: &Path) -> Result<Vec<AgentId>, AdmissionError> {
    let folder = home.join(AGENTS);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|it| io(&folder, it))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry.map_err(|it| io(&folder, it))?.file_name();
        found.extend(name.to_str().and_then(|it| AgentId::parse(it).ok()));
    }
    found.sort();
    Ok(found)
}
