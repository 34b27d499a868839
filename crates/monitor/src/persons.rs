//! What a person does by their own hand outside of every session: it installs or changes something that guards, so the policy
//! has its word, too. They were asked by doing it; what the policy denies stays denied.

use aegx::Principal;
use model::{AgentId, Decision, HostKind, Profile, Taint, UserId};
use policy::{Confirmed, Facts, Named, Policy, Sinks, Targets};
use serde_json::{Map, Value, json};

use crate::monitor::Monitor;

/// The agent of what no agent does, in rules and records.
const AGENT: &str = "person";
/// The door, in rules and records.
const DOOR: &str = "control";

/// What a person does.
#[derive(Clone, Copy, Debug)]
pub struct ByHand<'a> {
    /// What it is.
    pub kind: HostKind,
    /// Its name in records.
    pub name: &'a str,
    /// Who.
    pub by: &'a UserId,
    /// What it carries.
    pub taint: Taint,
}

/// What was decided of it.
#[derive(Clone, Debug)]
pub struct Decided {
    /// May it be done?
    pub happens: bool,
    /// Why not, if it may not.
    pub why: String,
    /// For the record: the effect, the decision and the rule.
    pub record: Map<String, Value>,
}

impl ByHand<'_> {
    /// Judges it by a policy.
    #[must_use]
    pub fn judge(&self, policy: &Policy) -> Decided {
        let Ok(agent) = AgentId::parse(AGENT) else {
            // INVARIANT (FailClosed).
            return Decided::told(self, Decision::Deny, "", "nobody does it".to_owned());
        };
        let verdict = policy.decide(&Facts {
            user: self.by,
            agent: &agent,
            door: DOOR,
            principal: Principal::User,
            effect: self.kind.effect(),
            tool: self.name,
            profile: Profile::Standard,
            taint: self.taint,
            taint_permille: 0,
            taint_permille_max: Profile::Standard.taint_permille_max(),
            over_budget: false,
            asked_for: true,
            risk: 0,
            sinks: Sinks::default(),
            targets: Targets::NONE,
            named: Named::nothing(),
            confirmed: Confirmed::Exactly,
        });
        let why = verdict.objections.first().map(|it| it.for_person.clone()).unwrap_or_default();
        Decided::told(self, verdict.decision(), verdict.rule(), why)
    }
}

impl Decided {
    fn told(asked: &ByHand<'_>, decision: Decision, rule: &str, why: String) -> Self {
        let record = json!({
            "decision": decision.as_str(),
            "effect": asked.kind.effect().as_str(),
            "rule": rule,
        });
        let record = record.as_object().cloned().unwrap_or_default();
        Self { happens: decision.happens(), why, record }
    }
}

impl Monitor {
    /// Judges what a person does by their own hand, by the policy of this gate.
    #[must_use]
    pub fn judge_by_hand(&self, asked: &ByHand<'_>) -> Decided {
        asked.judge(&self.policy())
    }
}
