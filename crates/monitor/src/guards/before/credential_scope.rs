//! Objects to a call with keys that the agent's manifest does not grant, or grants only when a person was
//! asked.
//!
//! Threat: an agent uses keys that were meant for another agent, or for a moment when somebody looks.

use model::ipc::Action;
use model::{Decision, Effect, Objection};
use policy::access::KeyGrant;

use crate::admission::Admission;
use crate::credentials::{COMMANDS, SERVICES};
use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;
use crate::understood::Understood;

pub(crate) struct CredentialScope;

impl Guard<Proposed> for CredentialScope {
    fn id(&self) -> Rule {
        Rule::CredentialScope
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        objection(proposed.admission(), proposed.understood()).into_iter().collect()
    }
}

/// The first of the service's keys that the agent's tools do not get, or get when a person was asked.
fn objection(admission: &Admission, asked: &Understood) -> Option<Objection> {
    let Admission::Layered { global, manifest, origin, .. } = admission else { return None };
    let Effect::Action(action) = &asked.effect else { return None };
    if let Action::ShellExec(it) = &**action {
        return of_command(manifest.granted_to(COMMANDS, *origin), it.command.as_str());
    }
    let Action::OauthCall(call) = &**action else { return None };
    let service = global.service(call.service.as_str())?;
    let (name, agent) = (call.service.as_str(), &manifest.agent);
    let mut asked_for = Vec::new();
    for key in service.secrets() {
        match manifest.key(key, SERVICES, *origin) {
            KeyGrant::Granted(_) | KeyGrant::Legacy => {}
            KeyGrant::NotGranted => {
                let why = format!(
                    "the agent `{agent}` has no grant for `{key}`, which the service `{name}` needs"
                );
                let found =
                    Objection::new(Rule::CredentialScope, Decision::Deny, "not_granted", why);
                let remedy = format!("a grant with `{key}` for `web` under `credentials`");
                return Some(found.with_remedy(remedy));
            }
            KeyGrant::NeedsApproval(grant) => asked_for.push(format!("`{key}` (`{grant}`)")),
        }
    }
    if asked_for.is_empty() {
        return None;
    }
    // All of them: who says yes says yes to each.
    let keys = asked_for.join(", ");
    let why = format!("calling `{name}` uses {keys}, for which a person is asked each time");
    let found = Objection::new(Rule::CredentialScope, Decision::StepUp, "approval_required", why);
    Some(found.with_remedy("a person says yes to this call"))
}

/// A command gets the keys that are granted to it without asking. One for which a person is asked each time is asked
/// for by naming it. All of them are told: who says yes says yes to each.
fn of_command(granted: Vec<(&str, KeyGrant<'_>)>, command: &str) -> Option<Objection> {
    let asked_for = granted.into_iter().filter_map(|(key, grant)| match grant {
        KeyGrant::NeedsApproval(grant) if command.contains(key) => {
            Some(format!("`{key}` (`{grant}`)"))
        }
        KeyGrant::NeedsApproval(_)
        | KeyGrant::Granted(_)
        | KeyGrant::Legacy
        | KeyGrant::NotGranted => None,
    });
    let keys = asked_for.collect::<Vec<_>>().join(", ");
    if keys.is_empty() {
        return None;
    }
    let why = format!("the command uses {keys}, for which a person is asked each time");
    let found = Objection::new(Rule::CredentialScope, Decision::StepUp, "approval_required", why);
    Some(found.with_remedy("a person says yes to this command"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_a_command_names_is_told() {
        let granted = || {
            let asks = |it| KeyGrant::NeedsApproval(it);
            vec![("STAGING", asks("a")), ("PROD", asks("b")), ("OTHER", asks("c"))]
        };
        let found = of_command(granted(), "deploy $STAGING; deploy $PROD").unwrap();
        assert!(found.for_person.contains("`STAGING` (`a`), `PROD` (`b`)"), "{found:?}");
        assert!(!found.for_person.contains("OTHER"), "{found:?}");
        assert_eq!(of_command(granted(), "deploy"), None);
    }
}
