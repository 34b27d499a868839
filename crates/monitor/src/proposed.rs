//! A call and everything that is known when it is judged.

use std::borrow::Cow;

use aegx::{Digest, Principal};
use model::{Caller, Effect, EffectKind, Profile, Taint, TaintTag, UserId};
use policy::{Confirmed, Facts, Named, Sinks, Targets};

use crate::admission::Admission;
use crate::command::{self, Command};
use crate::conversation::Spoken;
use crate::named;
use crate::provenance::Traced;
use crate::record::{JudgedBy, JudgedSinks};
use crate::risk::{Observation, Risk};
use crate::scrubber::HeldSecret;
use crate::session::Session;
use crate::settle::Person;
use crate::target;
use crate::understood::Understood;

/// What guards and policy look at.
#[derive(Debug)]
pub struct Proposed {
    who: Caller,
    principal: Principal,
    profile: Profile,
    understood: Understood,
    args: String,
    digest: Digest,
    taint: Taint,
    tag: Option<TaintTag>,
    taint_permille: u16,
    over_budget: Option<String>,
    targets: Targets,
    named: Named,
    traced: Traced,
    observation: Observation,
    /// The session's, before this call.
    risk: Risk,
    /// The session's.
    admission: Admission,
    /// Secrets whose values stand in the arguments.
    held: Vec<HeldSecret>,
    /// The arguments without them, if there are some.
    concealed: Option<String>,
    confirmed: Confirmed,
    person: Person,
    /// Who had approved it, although it is stopped.
    overruled: Option<UserId>,
    newest: Option<Digest>,
    /// What was seen in it, if it is a message.
    spoken: Option<Spoken>,
}

impl Proposed {
    pub(crate) fn new(session: &Session, understood: Understood, now: i64) -> Self {
        let args = understood.args_text();
        let digest = understood.digest(session.who(), &args);
        let action = understood.kind().as_str();
        let budget = session.taint.check(session.budget_rules(), action);
        let traced = session.trace(&understood);
        let mut observation = understood.observation();
        observation.from_flagged = traced.sinks.iter().any(|it| it.label.is_flagged());
        Self {
            who: session.who().clone(),
            principal: session.principal(),
            profile: session.profile(),
            taint: session.flags(),
            tag: session.taint.tag(),
            taint_permille: session.taint.budget().ratio_permille(),
            over_budget: budget.err().map(|it| it.to_string()),
            targets: target::of(&understood, session.reach())
                .union(command::targets(&understood.commands)),
            named: named::of(&understood, &understood.commands, &session.reach().inner),
            traced,
            risk: session.risk.clone(),
            admission: session.admission().clone(),
            held: Vec::new(),
            concealed: None,
            confirmed: session.confirmed(action, digest, now),
            person: Person::default(),
            overruled: None,
            newest: session.newest(),
            spoken: None,
            observation,
            understood,
            args,
            digest,
        }
    }

    /// The facts, for the policy.
    pub(crate) fn facts(&self) -> Facts<'_> {
        Facts {
            user: &self.who.user,
            agent: &self.who.agent,
            door: self.who.door.as_str(),
            principal: self.principal,
            effect: self.kind(),
            tool: self.understood.tool(),
            profile: self.profile,
            taint: self.taint,
            taint_permille: self.taint_permille,
            taint_permille_max: self.profile.taint_permille_max(),
            over_budget: self.over_budget.is_some(),
            asked_for: self.traced.asked_for,
            risk: self.risk_level(),
            sinks: self.sinks(),
            targets: self.targets,
            named: &self.named,
            confirmed: self.confirmed,
        }
    }

    /// The same facts, for the record.
    pub(crate) fn judged_by(&self) -> JudgedBy<'_> {
        let sinks = self.sinks();
        JudgedBy {
            asked_for: self.traced.asked_for,
            classes: &self.named.classes,
            commands: &self.named.commands,
            confirmed: self.confirmed.as_str(),
            cut: self.named.cut,
            door: self.who.door.as_str(),
            hosts: self.named.hosts.iter().map(ToString::to_string).collect(),
            over_budget: self.over_budget.is_some(),
            paths: self.named.paths.iter().map(ToString::to_string).collect(),
            principal: self.principal.as_str(),
            profile: self.profile.as_str(),
            programs: &self.named.programs,
            recipients: &self.named.recipients,
            risk: self.risk_level(),
            sinks: JudgedSinks {
                foreign_secret: sinks.foreign_secret,
                untrusted_content: sinks.untrusted_content,
                untrusted_destination: sinks.untrusted_destination,
                untrusted_target: sinks.untrusted_target,
            },
            taint: self.taint.iter_names().collect(),
            taint_permille: self.taint_permille,
            targets: self.targets.iter().map(policy::Target::as_str).collect(),
            unread: self.named.unread,
        }
    }

    /// What the tracing of values found, as the policy sees it.
    fn sinks(&self) -> Sinks {
        let found = |code: &str| self.traced.objections.iter().any(|it| it.code == code);
        Sinks {
            untrusted_destination: found("untrusted_destination"),
            untrusted_target: found("untrusted_target"),
            untrusted_content: found("untrusted_content"),
            foreign_secret: found("secret_not_users"),
        }
    }

    pub(crate) fn who(&self) -> &Caller {
        &self.who
    }

    pub(crate) fn principal(&self) -> Principal {
        self.principal
    }

    pub(crate) fn kind(&self) -> EffectKind {
        self.understood.kind()
    }

    pub(crate) fn understood(&self) -> &Understood {
        &self.understood
    }

    pub(crate) fn args_text(&self) -> &str {
        &self.args
    }

    /// The hash of exactly this action.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    pub(crate) fn taint(&self) -> Taint {
        self.taint
    }

    /// What everything carries that the call writes.
    pub(crate) fn tag(&self) -> Option<&TaintTag> {
        self.tag.as_ref()
    }

    pub(crate) fn taint_permille(&self) -> u16 {
        self.taint_permille
    }

    /// Why the taint budget is exceeded, if it is.
    pub(crate) fn over_budget(&self) -> Option<&str> {
        self.over_budget.as_deref()
    }

    pub(crate) fn traced(&self) -> &Traced {
        &self.traced
    }

    pub(crate) fn commands(&self) -> &[Command] {
        &self.understood.commands
    }

    /// What it names.
    pub(crate) fn named(&self) -> &Named {
        &self.named
    }

    pub(crate) fn observation(&self) -> &Observation {
        &self.observation
    }

    /// By which files the session was admitted.
    pub(crate) fn admission(&self) -> &Admission {
        &self.admission
    }

    /// Notes what was seen in it: of a message its own facts are judged, not those of the session.
    pub(crate) fn speak(&mut self, spoken: Spoken) {
        self.principal = spoken.principal.unwrap_or(self.principal);
        self.taint = spoken.taint.unwrap_or(self.taint);
        self.targets = self.targets.union(spoken.targets);
        self.spoken = Some(spoken);
    }

    /// What was seen in it, if it is a message.
    pub(crate) fn spoken(&self) -> Option<&Spoken> {
        self.spoken.as_ref()
    }

    fn risk_level(&self) -> u8 {
        self.spoken.as_ref().map_or(self.risk.level() as u8, |it| it.risk)
    }

    /// Notes what more it touches.
    pub(crate) fn touches(&mut self, more: Targets) {
        self.targets = self.targets.union(more);
    }

    /// The secrets whose values stand in its arguments.
    pub(crate) fn held(&self) -> &[HeldSecret] {
        &self.held
    }

    /// Its arguments without values of secrets, if there were some.
    pub(crate) fn concealed(&self) -> Option<&str> {
        self.concealed.as_deref()
    }

    /// Notes how its arguments are shown.
    pub(crate) fn show_as(&mut self, text: String) {
        self.concealed = Some(text);
    }

    /// Notes the secrets in it, and keeps their values out of what is shown of it.
    pub(crate) fn conceal(
        &mut self,
        held: Vec<HeldSecret>,
        scrub: impl Fn(&str) -> Option<String>,
    ) {
        self.concealed = scrub(&self.args);
        for sink in &mut self.traced.sinks {
            if let Some(clean) = scrub(&sink.atom) {
                sink.atom = clean;
            }
        }
        self.named.rewrite(|text| scrub(text));
        self.held = held;
    }

    /// What the session did before.
    pub(crate) fn risk(&self) -> &Risk {
        &self.risk
    }

    pub(crate) fn confirmed(&self) -> Confirmed {
        self.confirmed
    }

    /// Judge it as if this were confirmed.
    pub(crate) fn count_as(&mut self, confirmed: Confirmed) {
        self.confirmed = confirmed;
    }

    /// What a person has to do with it.
    pub(crate) fn person(&self) -> &Person {
        &self.person
    }

    /// Who had approved it, although it is stopped.
    pub(crate) fn overruled(&self) -> Option<&UserId> {
        self.overruled.as_ref()
    }

    pub(crate) fn overrule(&mut self, by: UserId) {
        self.overruled = Some(by);
    }

    pub(crate) fn involve(&mut self, person: Person) {
        self.person = person;
    }

    /// The records that it came from.
    pub(crate) fn parents(&self) -> Vec<Digest> {
        let tag = self.tag.as_ref().and_then(|it| Digest::from_hex(it.record.as_bytes()));
        let mut parents: Vec<Digest> =
            self.newest.into_iter().chain(tag).chain(self.understood.command).collect();
        parents.sort_unstable();
        parents.dedup();
        parents
    }

    /// Why it may happen, in one sentence.
    pub(crate) fn why_allowed(&self) -> String {
        if let Person::Approved { by, .. } = &self.person {
            return format!("`{by}` has approved exactly this call");
        }
        if let Person::Granted { by, span, .. } = &self.person {
            return format!("`{by}` has approved {}", span.about());
        }
        match (&self.traced.delegated, self.confirmed) {
            (_, Confirmed::Exactly) => "a person has confirmed exactly this call".to_owned(),
            (Some(source), _) => format!("you handed this on to `{source}`"),
            (None, Confirmed::Nothing | Confirmed::Kind) => "nothing speaks against it".to_owned(),
        }
    }

    pub(crate) fn into_parts(self) -> (Effect, Caller, Option<TaintTag>, Vec<Cow<'static, str>>) {
        let lifted = self.person.lifted().to_vec();
        (self.understood.effect, self.who, self.tag, lifted)
    }
}
