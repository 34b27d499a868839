//! Objects to a call that holds the value of a secret and is not a fetch from a host that the secret is for.
//!
//! Threat: an agent that has got hold of a key replays it to somebody else, or writes it where others read.

use model::ipc::Action;
use model::{Decision, Effect, Objection};
use scan::net::{Inner, Target};

use crate::guards::Guard;
use crate::proposed::Proposed;
use crate::rule::Rule;
use crate::scrubber::HeldSecret;

pub(crate) struct SecretElsewhere;

impl Guard<Proposed> for SecretElsewhere {
    fn id(&self) -> Rule {
        Rule::SecretElsewhere
    }

    fn check(&self, proposed: &Proposed) -> Vec<Objection> {
        // Who says it to the agent has it, and a message reaches nobody else.
        if matches!(proposed.understood().effect, Effect::Message(_)) {
            return Vec::new();
        }
        let held = proposed.held().iter();
        let inner = proposed.admission().inner();
        let target = destination(&proposed.understood().effect, &inner);
        held.filter(|it| !is_for(it, target.as_ref())).map(|it| self.objection(it)).collect()
    }
}

impl SecretElsewhere {
    fn objection(&self, held: &HeldSecret) -> Objection {
        let why = format!("the call holds the secret `{}`, which is for other hosts", held.name);
        Objection::new(self.id(), Decision::Deny, "secret_elsewhere", why)
    }
}

fn is_for(held: &HeldSecret, target: Option<&Target>) -> bool {
    target.is_some_and(|it| held.hosts.permits(it).is_ok())
}

/// The one host to which everything in the call goes, if there is just one.
fn destination(effect: &Effect, inner: &Inner) -> Option<Target> {
    let Effect::Action(action) = effect else { return None };
    // Whatever is not here is held: a new action must be put here to get through.
    let url = if let Action::WebFetch(fetch) = &**action {
        fetch.url.as_str()
    } else if let Action::BrowserNavigate(navigate) = &**action {
        navigate.url.as_str()
    } else {
        return None;
    };
    Target::within(url, inner).ok()
}
