//! What the agent is shown of an output: as it came, marked, cleaned, or not at all.
//!
//! The trust level follows from the label that the host gave the output, never from what the output says; what is done at
//! each level is the operator's word ([`Plans`]). It happens in one place, for every door.
//!
//! INVARIANT (HostDecidesTaint): what is taken out of an output has joined the session's labels before.

use std::sync::Arc;

use model::{Decision, Objection, Source, TaintTag};
use scan::boundary::{Boundary, Nonce};
use scan::sanitize::{Facts, Frame, Plans, Sanitized, Treatment, TrustLevel, sanitize};
use scan::text::{Classifier, Verdict};

use crate::inspected::{Inspected, origin};
use crate::monitor::Monitor;
use crate::output::{Output, Words};
use crate::rule::Rule;
use crate::taint;
use crate::understood::Understood;

/// What the session knows of an output once it is absorbed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    /// Several outputs of this turn give orders: suspicion is certainty until it ends.
    pub(crate) is_confirmed: bool,
    /// The user has handed on what this very output asks for.
    pub(crate) is_asked_for: bool,
}

/// What the agent is shown, and why.
pub(crate) struct Shown {
    /// What stands in the place of the output, if anything.
    pub(crate) body: Option<String>,
    /// What speaks against showing it.
    pub(crate) withheld: Option<Objection>,
    /// What was found, where something was.
    pub(crate) facts: Option<Facts>,
    pub(crate) level: TrustLevel,
    /// Whether secrets were taken out.
    pub(crate) without_secrets: bool,
}

impl Monitor {
    /// With what the operator wants done with outputs. Without, it is what protects without settings.
    #[must_use]
    pub fn with_sanitizing(mut self, plans: Plans) -> Self {
        self.sought = plans.widest();
        self.plans = plans;
        self
    }

    /// With somebody who is asked, besides the rules, whether an output gives orders. The worse of both opinions counts.
    #[must_use]
    pub fn with_classifier(mut self, classifier: Arc<dyn Classifier>) -> Self {
        self.classifier = Some(classifier);
        self
    }

    /// Looks at an output before anybody acts on it. What is looked for is the same at every trust level.
    pub(crate) fn inspected(&self, asked: &Understood, output: Output) -> Inspected {
        Inspected::new(asked, output, &self.sought, self.classifier.as_deref())
    }

    /// Decides what the agent is shown of an output that is absorbed.
    pub(crate) fn shown(
        &self,
        asked: &Understood,
        inspected: &Inspected,
        tag: Option<&TaintTag>,
        standing: Standing,
    ) -> Shown {
        let found = inspected.found();
        let level = level(asked, inspected, tag);
        let facts = (!found.is_empty()).then(|| found.facts());
        let mut shown = Shown { body: None, withheld: None, facts, level, without_secrets: false };
        if found.is_empty() || inspected.output.words() == Words::Ours {
            return shown;
        }
        let mut plan = self.plans.at(level).clone();
        if standing.is_confirmed {
            plan = plan.confirmed();
        }
        // Verify before commit: what the user asked for in this turn is no order of somebody else.
        if standing.is_asked_for {
            plan = plan.asked_for();
        }
        let mut random = [0; 16];
        if getrandom::fill(&mut random).is_err() {
            // INVARIANT (FailClosed): without a number nobody can know there are no marks.
            shown.withheld = Some(objection("there is no randomness for the marks around it"));
            return shown;
        }
        let (nonce, source) = (Nonce::new(random), origin(asked));
        let kind = boundary(tag.map_or(Source::Tool, |it| it.source));
        let frame = Frame { kind, source: &source, nonce: &nonce };
        match sanitize(inspected.seen(), found, &plan, frame) {
            Sanitized::AsItCame => {}
            Sanitized::Changed(body) => {
                shown.body = Some(body);
                shown.without_secrets = plan.secrets == Treatment::Clean;
            }
            Sanitized::Withheld(category) => {
                let why = format!("the output holds what is not passed on ({})", category.as_str());
                shown.withheld = Some(objection(&why));
            }
        }
        shown
    }

    /// Tells whether an output that is absorbed gives orders, by what the turn has shown.
    pub(crate) fn gives_orders(inspected: &Inspected, standing: Standing) -> bool {
        match inspected.found().verdict() {
            Verdict::Clean => false,
            Verdict::Suspicious => standing.is_confirmed,
            Verdict::Injection => true,
        }
    }
}

fn objection(why: &str) -> Objection {
    Objection::new(Rule::Sanitizer, Decision::Deny, "content_withheld", why.to_owned())
        .with_remedy("take another source, or let the person look at this one")
}

/// How far an output is believed.
fn level(asked: &Understood, inspected: &Inspected, tag: Option<&TaintTag>) -> TrustLevel {
    let Some(tag) = tag.filter(|it| taint::is_outside(it.taint)) else {
        return TrustLevel::Trusted;
    };
    match tag.source {
        Source::File => TrustLevel::Local,
        // What a command printed where the agent works.
        Source::Tool if asked.deeds.are_known() => TrustLevel::Local,
        // The host's own words about what is labelled.
        Source::User | Source::System | Source::Agent
            if inspected.output.words() == Words::Ours =>
        {
            TrustLevel::Trusted
        }
        Source::User
        | Source::System
        | Source::Agent
        | Source::Web
        | Source::Tool
        | Source::Email
        | Source::Memory
        | Source::Channel
        | Source::Skill => TrustLevel::External,
    }
}

fn boundary(source: Source) -> Boundary {
    match source {
        Source::Web => Boundary::Fetched,
        Source::Memory => Boundary::Memory,
        Source::File => Boundary::File,
        Source::Channel | Source::Agent => Boundary::Peer,
        Source::User | Source::System | Source::Tool | Source::Email | Source::Skill => {
            Boundary::Tool
        }
    }
}
