//! A call that would be asked about, while a person has chosen only to watch.
//!
//! INVARIANT (GuardsOnlyObject): it lifts what a yes would lift, for exactly this call and once; never a denial. It is on
//! record as what it is: nobody was asked, and nobody has said yes to this call.

use aegx::Principal;
use model::{Caller, Decision};
use policy::Target;
use serde_json::{Value, json};

use crate::asked::Asked;
use crate::change::Change;
use crate::confirm::{ConfirmDelta, Grant};
use crate::monitor::Monitor;
use crate::proposed::Proposed;
use crate::record;
use crate::refusal::Refusal;
use crate::verdict::Verdict;

/// Findings about commands that are put to a person even then: what gives an agent more than it was given, changes what
/// watches, or ends it. Else the agent that is watched could see to it that nobody watches any more.
const ALWAYS_ASKED: &[shell::Rule] = &[shell::Rule::Agent, shell::Rule::Kill];

impl Monitor {
    /// Lets a call pass when it comes again that was stopped by `verdict`, because a person has chosen to watch: `why` says
    /// who, and until when. Answers whether it may: only a question can be passed over, and not every one.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then it does not count.
    pub fn observe_call(
        &self,
        who: &Caller,
        (asked, verdict): (&Asked<'_>, &Verdict),
        why: Value,
    ) -> Result<bool, Refusal> {
        if verdict.decision != Decision::StepUp {
            return Ok(false);
        }
        let turned_away = |error| self.turned_away(who, asked.bytes(), error);
        let session = self.sessions().get(who).map_err(turned_away)?;
        let mut session = session.lock().map_err(turned_away)?;
        let understood = session.understand(asked).map_err(turned_away)?;
        let proposed = self.propose(&session, understood, self.now());
        if proposed.digest() != verdict.action || is_always_asked(&proposed) {
            return Ok(false);
        }
        let mut new = record::by_person(who, "observed", content(verdict, why));
        (new.principal, new.parents) = (Principal::Sys, vec![verdict.record]);
        self.journal().append(new)?;
        // For what spoke against it when it was stopped, and nothing else.
        let grounds = session.grounds_of(verdict.action);
        let grant = Grant::for_call(verdict.effect.as_str(), verdict.action, self.now());
        let granted = ConfirmDelta::Granted(grant.on(grounds));
        let change = Change { confirm: vec![granted], ..Change::default() };
        self.keep(&mut session, &change)?;
        session.count_answer(&change);
        Ok(true)
    }
}

/// Would it change what an agent is or may do, or what stands between it and the machine?
fn is_always_asked(proposed: &Proposed) -> bool {
    let findings = proposed.commands().iter().flat_map(|it| &it.reading.findings);
    let mut rules = findings.map(|it| it.rule);
    let touches_control = proposed.facts().targets.contains(Target::ControlPlane);
    touches_control || rules.any(|it| ALWAYS_ASKED.contains(&it))
}

fn content(verdict: &Verdict, why: Value) -> Value {
    json!({
        "action": verdict.effect.as_str(),
        "action_sha256": verdict.action.to_hex().as_str(),
        "decision": verdict.decision.as_str(),
        "observing": why,
        "rule": verdict.rule,
        "verdict": verdict.record.to_hex().as_str(),
    })
}
