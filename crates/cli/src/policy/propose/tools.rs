//! The catalogue of the tools that were used: by the definitions that their servers gave, by those of the agent's own, or
//! by how they were called.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use host::doors::mcp::servers::Servers;
use model::ToolDef;
use monitor::provenance::Catalogue;
use serde_json::{Map, Value, json};

use super::super::recorded::Found;
use crate::catalogue;
use crate::failure::Failure;

/// Parameters of one tool that are learned from its calls.
const LEARNED_MAX: usize = 64;

/// The text of the catalogue.
pub(super) fn catalogue(home: &Path, found: &Found) -> Result<String, Failure> {
    let mut defs = called(found);
    defs.extend(own(found));
    defs.extend(served(home)?);
    // The host's own actions are called what they do, and need no catalogue.
    let used = found.decisions.iter().filter(|it| it.tool != it.effect.as_str());
    let used: BTreeSet<&str> = used.map(|it| it.tool.as_str()).collect();
    let defs =
        defs.into_iter().filter(|(name, _)| used.contains(name.as_str())).map(|(_, def)| def);
    let tools = catalogue::flows(&Catalogue::default(), defs);
    Ok(format!("{}\n", aegx::Sorted(&catalogue::text(&tools))))
}

/// Tools as their calls show them.
fn called(found: &Found) -> BTreeMap<String, ToolDef> {
    let mut calls: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for it in &found.decisions {
        let properties = calls.entry(&it.tool).or_default();
        for name in it.args.iter().flat_map(Map::keys) {
            if properties.len() < LEARNED_MAX {
                properties.insert(name.clone(), json!({}));
            }
        }
    }
    let defs = calls.into_iter().filter_map(|(name, properties)| {
        let schema = json!({ "type": "object", "properties": properties });
        let def = ToolDef::from_value(&json!({ "name": name, "inputSchema": schema })).ok()?;
        Some((name.to_owned(), def))
    });
    defs.collect()
}

/// The own tools of agents whose dialect is known.
fn own(found: &Found) -> BTreeMap<String, ToolDef> {
    let agents = found.decisions.iter().filter_map(|it| hooks::Host::parse(&it.agent));
    let mut hosts: Vec<hooks::Host> = agents.collect();
    hosts.dedup();
    let defs = hosts.into_iter().flat_map(hooks::tools);
    let defs = defs.filter_map(|it| ToolDef::from_value(it).ok());
    defs.map(|it| (it.name.as_str().to_owned(), it)).collect()
}

/// Tools as their servers define them, under the names that they have in sessions.
fn served(home: &Path) -> Result<BTreeMap<String, ToolDef>, Failure> {
    let servers = Servers::of(home).map_err(Failure::unable)?;
    let mut defs = BTreeMap::new();
    for (server, tools) in &servers.pins.servers {
        for (tool, pin) in tools {
            let name = format!("mcp__{server}__{tool}");
            let mut definition = pin.definition.clone();
            if let Some(fields) = definition.as_object_mut() {
                fields.insert("name".to_owned(), name.as_str().into());
            }
            // What is no definition now was none then: it is known by its calls.
            if let Ok(def) = ToolDef::from_value(&definition) {
                defs.insert(name, def);
            }
        }
    }
    Ok(defs)
}
