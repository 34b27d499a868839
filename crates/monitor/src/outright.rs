//! Tools that no call of a session can use, whatever it says: nobody needs to be shown them.

use model::{Caller, EffectKind, Taint, ToolName};
use policy::access::{self, Layer, Layers, Request, Tool as Named};
use policy::{Confirmed, Facts, Sinks, Targets};
use serde_json::Map;

use crate::admission::Admission;
use crate::deed::Job;
use crate::monitor::Monitor;
use crate::refusal::Refusal;
use crate::session::Session;

/// The effects that a call of a tool can have.
const OF_TOOLS: &[EffectKind] =
    &[EffectKind::ToolRead, EffectKind::ToolWrite, EffectKind::ToolSend, EffectKind::ToolDestroy];

impl Monitor {
    /// The rule by which every call of a tool is denied, whatever its arguments; none if a call could pass, be it after a
    /// question.
    ///
    /// # Errors
    /// If there is no such session, or no such tool in it.
    pub fn denied_outright(&self, who: &Caller, tool: &str) -> Result<Option<String>, Refusal> {
        let handle = self.sessions().get(who)?;
        let session = handle.lock()?;
        let unknown = || Refusal::UnknownTool(tool.to_owned());
        let name = ToolName::parse(tool).map_err(|_| unknown())?;
        let tools = &session.tools;
        let found = tools.get(&name).ok_or_else(unknown)?;
        let own = [EffectKind::of_tool(&found.flow)];
        // Where the arguments say what a call does, it can be of any kind.
        let kinds = if tools.job(found) == Job::Other { &own[..] } else { OF_TOOLS };
        let mut first = None;
        for kind in kinds {
            match self.denies(&session, tool, *kind) {
                Some(rule) => first = first.or(Some(rule)),
                None => return Ok(None),
            }
        }
        Ok(first)
    }

    fn denies(&self, session: &Session, tool: &str, effect: EffectKind) -> Option<String> {
        let who = session.who();
        if let Admission::Layered { global, manifest, user, origin, .. } = session.admission() {
            let (args, named) = (Map::new(), Named::new(who.agent.as_str(), tool, effect));
            let layers = Layers { global, manifest, user };
            // The last layer looks at what is to be done with a tool, which is in its arguments.
            let fixed = [Layer::Global, Layer::Agent, Layer::Sandbox, Layer::User];
            for sub_agent in session.admission().callers() {
                let request = Request { tool: &named, args: &args, origin: *origin, sub_agent };
                if let Some(layer) = fixed.iter().find(|it| it.check(&layers, &request).is_err()) {
                    return Some(layer.rule().to_owned());
                }
                if let Err(objection) = access::in_scope(&layers, &request) {
                    return Some(objection.rule.to_string());
                }
            }
        }
        let named = policy::Named::default();
        let facts = Facts {
            user: &who.user,
            agent: &who.agent,
            door: who.door.as_str(),
            principal: session.principal(),
            effect,
            tool,
            profile: session.profile(),
            taint: Taint::NONE,
            taint_permille: 0,
            taint_permille_max: session.posture().rules.threshold().permille(),
            over_budget: false,
            asked_for: true,
            risk: 0,
            sinks: Sinks::default(),
            targets: Targets::NONE,
            named: &named,
            confirmed: Confirmed::Exactly,
        };
        self.policy().denies_outright(&facts).map(str::to_owned)
    }
}
