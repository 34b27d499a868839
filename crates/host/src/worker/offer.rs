//! What an agent is offered: tools, a model, instructions, as settings, manifest and user leave it.

use std::path::Path;
use std::sync::Arc;

use llm::ToolDefinition;
use model::ipc::{
    ActionName, TOOL_DESCRIPTION_UNITS_MAX, TOOL_NAME_UNITS_MAX, TOOL_SCHEMA_UNITS_MAX, TOOLS_MAX,
    VALUES_MAX,
};
use model::{Caller, Domain, ToolDef};
use monitor::{Admission, Monitor};
use policy::access::{Effort, Manifest, Origin, Scopes, ToolFilter};
use serde_json::Value;

use crate::admission::{self, AdmissionError};
use crate::ipc::Door;

/// Values of JSON in the schemas of tools that are not the host's own; the rest of a question is for the conversation.
const OTHERS_VALUES_MAX: usize = VALUES_MAX / 4;

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
        // What is of no domain passes no list of domains.
        let is_listed = matches!(manifest.tools, ToolFilter::Allow(_));
        let mut subs = sub_agents.iter().filter_map(|name| manifest.agents.get(name));
        if !is_listed && subs.all(|it| it.tools.is_none()) {
            tools.extend(agent::tools::services(&denied));
        }
        tools.retain(|it| ActionName::parse(&it.name).is_some_and(&carried));
        tools.retain(|it| scopes.admit(&manifest, &it.name));
        Ok(Self { manifest, domains, denied, tools, sub_agents: sub_agents.to_vec() })
    }

    /// Does the manifest ask for nothing that is not done for an agent of our own?
    ///
    /// # Errors
    /// INVARIANT (FailClosed): what was asked for and is not there is said, and not passed over.
    pub(super) fn is_carried_out(&self) -> Result<(), String> {
        let agent = &self.manifest.agent;
        if !self.manifest.sandbox.mounts.is_empty() {
            return Err(format!(
                "the manifest of `{agent}` has `sandbox: {{mounts: …}}`, and commands of an agent that runs here see its workspace alone. Take the key out, or begin the session with `--workspace DIR`"
            ));
        }
        Ok(())
    }

    /// Says which services there are, where the tool for them is offered.
    pub(super) fn name_services(&mut self, names: &[&str]) {
        let name = ActionName::OauthCall.as_str();
        if let Some(tool) = self.tools.iter_mut().find(|it| it.name == name) {
            let begins = tool.description.clone();
            tool.description = format!("{begins}: {}", names.join(", "));
            // A model that asks for another one is told which there are.
            if units(&tool.description) > TOOL_DESCRIPTION_UNITS_MAX {
                tool.description = begins;
            }
        }
    }

    /// Adds the tool by which the loop shows more of a result that was cut, if there can be results.
    pub(super) fn add_own(&mut self) {
        if !self.tools.is_empty() {
            self.tools.push(agent::result_read());
        }
    }

    /// Adds the tools of plugins and servers, but for those of which every call would be denied. Gives the names of those that a question
    /// to a model has no room for: one that keeps no limit would be no question at all.
    pub(super) fn add_others(
        &mut self,
        monitor: &Monitor,
        who: &Caller,
        door: &Door,
    ) -> Vec<String> {
        let may_pass =
            |it: &&ToolDef| matches!(monitor.denied_outright(who, it.name.as_str()), Ok(None));
        let tools = door.tools_of_others().filter(may_pass).map(|it| ToolDefinition {
            name: it.name.as_str().to_owned(),
            description: it.description.clone(),
            parameters: Value::Object(it.input_schema.clone()),
        });
        self.add(tools)
    }

    /// Adds tools as far as there is room; gives the names of the others.
    fn add(&mut self, tools: impl Iterator<Item = ToolDefinition>) -> Vec<String> {
        let (mut left_out, mut values_left) = (Vec::new(), OTHERS_VALUES_MAX);
        for it in tools {
            let needed = agent::values_of(&it.parameters);
            let fits = self.tools.len() < TOOLS_MAX
                && needed <= values_left
                && units(&it.name) <= TOOL_NAME_UNITS_MAX
                && units(&it.description) <= TOOL_DESCRIPTION_UNITS_MAX
                && units(&it.parameters.to_string()) <= TOOL_SCHEMA_UNITS_MAX;
            match fits {
                true => {
                    values_left = values_left.saturating_sub(needed);
                    self.tools.push(it);
                }
                false => left_out.push(it.name),
            }
        }
        left_out
    }

    /// How hard the model thinks.
    pub(super) fn effort(&self) -> Option<llm::Effort> {
        self.manifest.effort.map(|it| match it {
            Effort::Low => llm::Effort::Low,
            Effort::Medium => llm::Effort::Medium,
            Effort::High => llm::Effort::High,
            Effort::Max => llm::Effort::Max,
        })
    }
}

fn units(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use llm::{Block, Message, Request, Role};
    use model::AgentId;
    use serde_json::json;

    use super::*;

    fn tool(name: String, parameters: Value) -> ToolDefinition {
        ToolDefinition { name, description: "does something".to_owned(), parameters }
    }

    #[test]
    fn what_a_question_has_no_room_for_is_left_out_and_named() {
        let agent = AgentId::parse("main").unwrap();
        let (manifest, domains) = (Arc::new(Manifest::silent(&agent)), Domain::ALL.to_vec());
        let tools = agent::tools::offered(&domains, &[]);
        let (denied, sub_agents) = (Vec::new(), Vec::new());
        let mut offer = Offer { manifest, domains, denied, tools, sub_agents };
        offer.tools.extend(agent::tools::services(&[]));
        offer.name_services(&["calendar", "mail"]);
        offer.add_own();
        assert!(offer.tools.iter().any(|it| it.description.ends_with("calendar, mail")));
        let own = offer.tools.len();
        let many = json!({"enum": vec![0; 3000]});
        let long = json!({"description": "x".repeat(TOOL_SCHEMA_UNITS_MAX)});
        let others = [("many", many), ("long", long)].map(|(name, it)| tool(name.to_owned(), it));
        let small = |it: u32| tool(format!("mcp__weather-plugin__tool_{it}"), json!({}));
        let left_out = offer.add(others.into_iter().chain((0..40).map(small)));
        assert_eq!(offer.tools.len(), TOOLS_MAX);
        assert_eq!(left_out.len(), own + 42 - TOOLS_MAX);
        assert_eq!(left_out[..2], ["many", "long"]);
        let said = vec![Block::Text { text: "hello".to_owned() }];
        let request = Request {
            model: "default".to_owned(),
            system: String::new(),
            messages: vec![Message { role: Role::User, content: said }],
            tools: offer.tools,
            max_tokens: None,
            temperature: None,
            effort: None,
        };
        assert!(crate::models::is_question(&request));
    }

    #[test]
    fn a_key_of_the_manifest_that_does_nothing_here_is_refused() {
        let agent = AgentId::parse("main").unwrap();
        let asks = |yaml: &str| {
            let manifest = Manifest::parse(&agent, &format!("---\n{yaml}\n---\n")).unwrap();
            let (manifest, domains, denied) = (Arc::new(manifest), Vec::new(), Vec::new());
            let offer =
                Offer { manifest, domains, denied, tools: Vec::new(), sub_agents: Vec::new() };
            offer.is_carried_out().err()
        };
        assert_eq!(asks("sandbox: {mounts: []}"), None);
        let mounts = asks("sandbox: {mounts: [{path: /data}]}").unwrap();
        assert!(mounts.contains("--workspace"), "{mounts}");
    }
}
