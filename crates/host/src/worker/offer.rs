//! What an agent is offered: tools, a model, instructions, as settings, manifest and user leave it.

use std::path::Path;
use std::sync::Arc;

use llm::ToolDefinition;
use model::ipc::ActionName;
use model::{Caller, Domain, ToolDef};
use monitor::{Admission, Monitor};
use policy::access::{Effort, Manifest, Origin, Scopes, ToolFilter};
use serde_json::Value;

use crate::admission::{self, AdmissionError};
use crate::ipc::Door;

/// What an agent is offered. It decides nothing: a call is judged, offered or not.
#[derive(Clone, Debug)]
pub struct Offer {
    /// Its manifest; one that says nothing where there is none.
    pub manifest: Arc<Manifest>,
    /// Domains of tools that are on.
    pub domains: Vec<Domain>,
    /// Tools that are denied to the user.
    pub denied: Vec<String>,
    /// The tools.
    pub tools: Vec<ToolDefinition>,
    /// The sub-agents to whom it is offered, from the first one down; none if it is to the agent itself.
    pub sub_agents: Vec<String>,
}

impl Offer {
    /// What `who` is offered, as far as `carried` says that somebody would carry it out.
    ///
    /// # Errors
    /// If the files are not understood, or do not admit `who`.
    pub fn of(
        home: &Path,
        who: &Caller,
        origin: Origin,
        sub_agents: &[String],
        carried: impl Fn(ActionName) -> bool,
    ) -> Result<Self, AdmissionError> {
        let (manifest, denied, on, scopes): (_, _, Vec<Domain>, Scopes) =
            match admission::admission_from(home, who, &[], origin)? {
                Admission::OnePerson => {
                    let manifest = Arc::new(Manifest::silent(&who.agent));
                    (manifest, Vec::new(), Domain::ALL.to_vec(), Scopes::default())
                }
                Admission::Layered { global, manifest, user, .. } => {
                    let on = Domain::ALL.iter().copied().filter(|it| global.is_enabled(*it));
                    (manifest, user.tools_deny.clone(), on.collect(), global.scopes().clone())
                }
            };
        let listed = |it: &Domain| match &manifest.tools {
            ToolFilter::All => true,
            ToolFilter::Allow(allowed) => allowed.contains(it),
            ToolFilter::Deny(denied) => !denied.contains(it),
        };
        let of_subs = |it: &Domain| {
            let mut lists = sub_agents.iter().filter_map(|name| manifest.agents.get(name));
            lists.all(|sub| sub.tools.as_ref().is_none_or(|tools| tools.contains(it)))
        };
        let domains: Vec<Domain> = on.into_iter().filter(listed).filter(of_subs).collect();
        let mut tools = agent::tools::offered(&domains, &denied);
        tools.retain(|it| ActionName::parse(&it.name).is_some_and(&carried));
        tools.retain(|it| scopes.admit(&manifest, &it.name));
        Ok(Self { manifest, domains, denied, tools, sub_agents: sub_agents.to_vec() })
    }

    /// Adds the tools of plugins, but for those of which every call would be denied.
    pub(super) fn add_plugins(&mut self, monitor: &Monitor, who: &Caller, door: &Door) {
        let Some(offers) = door.plugin_offers() else { return };
        let may_pass =
            |it: &&ToolDef| matches!(monitor.denied_outright(who, it.name.as_str()), Ok(None));
        self.tools.extend(offers.definitions().filter(may_pass).map(|it| ToolDefinition {
            name: it.name.as_str().to_owned(),
            description: it.description.clone(),
            parameters: Value::Object(it.input_schema.clone()),
        }));
    }

    /// How hard the model thinks, as a word.
    pub(super) fn effort(&self) -> Option<String> {
        let word = self.manifest.effort.map(|it| match it {
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Max => "max",
        });
        word.map(str::to_owned)
    }
}
