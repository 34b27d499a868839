//! What an agent can ask about itself and about the moment: the files that admit it, as they are now.

use std::path::PathBuf;

use agent::prompt::DEFAULT_IDENTITY;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::ipc::{ActionName, CurrentTime, PromptRead, ToolsRead};
use model::{Caller, Domain};
use monitor::{Output, Permit};
use policy::access::Origin;
use serde_json::{Value, json};

use crate::admission::AdmissionError;
use crate::worker::Offer;

/// Where it stands what the agent of a session is.
#[derive(Clone, Debug)]
pub(crate) struct About {
    /// The state directory.
    pub(crate) home: PathBuf,
    /// Where whoever speaks to it is.
    pub(crate) origin: Origin,
    /// The sub-agents of the session, from the first one down.
    pub(crate) sub_agents: Vec<String>,
}

impl About {
    /// The agent's own instructions. What else a model is told stands before it already.
    pub(super) fn instructions(&self, permit: Permit<PromptRead>) -> Output {
        let who = permit.who().clone();
        let PromptRead { .. } = permit.spend();
        self.offer(&who, |_| true).map_or_else(failed, |offer| {
            let (manifest, body) = (&offer.manifest, offer.manifest.body.trim());
            let body = if body.is_empty() { DEFAULT_IDENTITY } else { body };
            let told = json!({
                "agent": who.agent.as_str(),
                "instructions": body,
                "model": manifest.model,
                "subAgents": manifest.agents.keys().collect::<Vec<_>>(),
            });
            Output::text(told.to_string())
        })
    }

    /// The tools that the session is offered, as far as somebody carries them out, and the domains that they are of.
    pub(super) fn tools(
        &self,
        permit: Permit<ToolsRead>,
        carried: impl Fn(ActionName) -> bool,
    ) -> Output {
        let who = permit.who().clone();
        let ToolsRead { .. } = permit.spend();
        self.offer(&who, carried).map_or_else(failed, |offer| {
            let tool = |it: &llm::ToolDefinition| {
                let domain = Domain::of_tool(&it.name).map(Domain::as_str);
                json!({ "name": it.name, "description": it.description, "domain": domain })
            };
            let tools: Vec<Value> = offer.tools.iter().map(tool).collect();
            Output::text(json!({ "tools": tools }).to_string())
        })
    }

    fn offer(
        &self,
        who: &Caller,
        carried: impl Fn(ActionName) -> bool,
    ) -> Result<Offer, AdmissionError> {
        Offer::of(&self.home, who, self.origin, &self.sub_agents, carried)
    }
}

/// The moment, in UTC and as people here say it.
pub(super) fn time(permit: Permit<CurrentTime>, now: i64) -> Output {
    let CurrentTime { .. } = permit.spend();
    let Ok(time) = Timestamp::from_second(now) else {
        return Output::not_begun("the clock of this machine is wrong");
    };
    let here = time.to_zoned(TimeZone::system());
    let told = json!({
        "time": time.to_string(),
        "local": here.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        "weekday": here.strftime("%A").to_string(),
        "zone": here.strftime("%Z").to_string(),
    });
    Output::text(told.to_string())
}

/// Says that nobody knows what the agent is.
pub(super) fn unknown() -> Output {
    Output::not_begun("this session was opened without the files that say what its agent is")
}

/// The files were changed since the session was opened. Where they lie is not the agent's to know.
fn failed(_: AdmissionError) -> Output {
    Output::not_begun("the files that say what this agent is do not admit it any more")
}
