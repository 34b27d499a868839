//! Judging a recorded decision again by another policy: exactly, or not at all.
//!
//! The rules are asked anew with the facts that were judged. What guards said stays as it is recorded, because no policy
//! changes it. Where the record does not hold what would be needed, that is the answer.

use std::collections::BTreeSet;

use model::Decision;
use monitor::{Rule, TAINT_BLOCKED};
use policy::access::{Layer, Origin};
use policy::{Confirmed, DEFAULT_DENY, FactSheet};

use super::folder::Loaded;
use super::judge::{Asked, Call, Judged, judge};
use super::recorded::{Objected, Recorded};

/// What another policy says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Anew {
    pub(crate) decision: Decision,
    pub(crate) rule: String,
}

/// Why a decision cannot be judged again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unjudged {
    /// The list of a record has an end.
    Objections,
    /// A rule that was taken away, and not only from the folder.
    UnknownRule,
    /// The folder has one layer, and another follows.
    Layers,
    /// Cut, or with something in the place of a secret.
    Arguments,
    /// Local or remote.
    Origin,
    /// A yes to the kind of action, before that to the call.
    Person,
}

impl Unjudged {
    /// One sentence for people.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Objections => "the record lists only some of what spoke against it",
            Self::UnknownRule => {
                "a rule spoke against it that is in no policy any more, and is no guard's"
            }
            Self::Layers => {
                "a layer spoke against it, and the folder says only something of layers"
            }
            Self::Arguments => {
                "the folder's manifests look at arguments that the record does not hold whole"
            }
            Self::Origin => {
                "it depends on whether the session came over the network, which the record does not say"
            }
            Self::Person => {
                "it depends on what a person had said yes to before, which the record does not say"
            }
        }
    }
}

/// Names of rules, to tell what is the policy's from what is a guard's.
pub(crate) struct Names(BTreeSet<String>);

impl Names {
    /// Those of policies: the one that is asked, and the one in force.
    pub(crate) fn of<'a>(policies: impl IntoIterator<Item = &'a policy::Policy>) -> Self {
        let rules = policies.into_iter().flat_map(policy::Policy::rules);
        let own = [DEFAULT_DENY.to_owned()];
        Self(rules.map(|it| it.id().to_owned()).chain(own).collect())
    }

    /// Is it a guard's?
    fn is_guards(&self, it: &Objected) -> Result<bool, Unjudged> {
        let guards = Rule::ALL.iter().map(|it| it.as_str());
        let guards = guards.chain(shell::Rule::ALL.iter().map(|it| it.as_str()));
        let mut guards = guards.chain(Layer::ALL.iter().map(|it| it.rule()));
        // The budget is asked by a guard and by a rule of the same name.
        let is_policy = self.0.contains(&it.rule) && it.code != TAINT_BLOCKED;
        match (is_policy, guards.any(|name| name == it.rule)) {
            (true, _) => Ok(false),
            (false, true) => Ok(true),
            (false, false) => Err(Unjudged::UnknownRule),
        }
    }
}

/// Judges `it` by `loaded`.
pub(crate) fn again(loaded: &Loaded, names: &Names, it: &Recorded) -> Result<Anew, Unjudged> {
    let mut guards = Vec::new();
    for objected in &it.objections {
        if names.is_guards(objected)? && is_kept(loaded, objected)? {
            guards.push(objected);
        }
    }
    let denied = guards.iter().map(|it| it.decision).max() == Some(Decision::Deny);
    if it.is_cut() && !denied {
        return Err(Unjudged::Objections);
    }
    let said_no = |it: &&Objected| it.rule == Rule::DeniedByPerson.as_str();
    // Nobody is asked about what nobody objects to.
    let (person, guards): (Vec<_>, Vec<_>) = guards.into_iter().partition(said_no);
    if it.is_lifted() {
        return lifted(loaded, it, &guards);
    }
    let anew = weighed(&judged(loaded, it, it.sheet.confirmed)?, &guards);
    match person.first() {
        Some(no) if anew.decision == Decision::StepUp => {
            Ok(Anew { decision: no.decision, rule: no.rule.clone() })
        }
        Some(_) | None => Ok(anew),
    }
}

/// Does what a guard said stand, whatever the folder says? Layers are the folder's, where it speaks of them.
fn is_kept(loaded: &Loaded, it: &Objected) -> Result<bool, Unjudged> {
    let is_layers = Layer::ALL.iter().any(|layer| layer.rule() == it.rule);
    let there = [loaded.global.is_some(), loaded.manifests.is_some(), loaded.users.is_some()];
    match there.iter().filter(|it| **it).count() {
        _ if !is_layers => Ok(true),
        0 => Ok(true),
        3 => Ok(false),
        // One that passes now leads to the next, of which nobody says anything.
        _ => Err(Unjudged::Layers),
    }
}

/// A call that passed by a yes to exactly it: what was not shown then is asked now.
fn lifted(loaded: &Loaded, it: &Recorded, guards: &[&Objected]) -> Result<Anew, Unjudged> {
    let with_yes = judged(loaded, it, Confirmed::Exactly)?;
    let stricter: Vec<_> =
        guards.iter().copied().filter(|it| it.decision > Decision::StepUp).collect();
    let anew = weighed(&with_yes, &stricter);
    if anew.decision > Decision::StepUp {
        return Ok(anew);
    }
    let not_shown = |confirmed: Confirmed| -> Result<Option<Anew>, Unjudged> {
        let plain = judged(loaded, it, confirmed)?;
        let mut new = plain.objections().filter(|by| !it.lifted.iter().any(|was| *was == *by.rule));
        Ok(new.next().map(|by| Anew { decision: by.decision, rule: by.rule.to_string() }))
    };
    let budget = Rule::TaintBudget.as_str();
    let budget_was_lifted = it.lifted.iter().any(|it| it == budget);
    // What had been agreed to before this yes is not recorded; the budget tells it where it is exceeded.
    let asked = match (it.sheet.over_budget, budget_was_lifted) {
        (Some(true), true) => not_shown(Confirmed::Nothing)?,
        (Some(true), false) => not_shown(Confirmed::Kind)?,
        (Some(false) | None, _) => {
            let (nothing, kind) = (not_shown(Confirmed::Nothing)?, not_shown(Confirmed::Kind)?);
            if nothing != kind {
                return Err(Unjudged::Person);
            }
            nothing
        }
    };
    Ok(asked.unwrap_or(anew))
}

/// What rules and layers say, if the record holds what they look at.
fn judged<'a>(
    loaded: &'a Loaded,
    it: &Recorded,
    confirmed: Confirmed,
) -> Result<Judged<'a>, Unjudged> {
    let call = |origin: Origin, sub_agent: Option<&String>| Call {
        sheet: FactSheet { confirmed, ..it.sheet.clone() },
        args: it.args.clone().unwrap_or_default(),
        origin,
        sub_agent: sub_agent.cloned(),
    };
    // As each of those who asked; the first that may not decides.
    let of = |origin: Origin| {
        let mut subs = it.sub_agents.iter().map(|sub| judge(loaded, &call(origin, Some(sub))));
        let stopped = subs.find(|it| closed(it).is_some());
        stopped.unwrap_or_else(|| judge(loaded, &call(origin, None)))
    };
    let local = of(Origin::Local);
    if loaded.manifests.is_none() {
        return Ok(local);
    }
    let remote = of(Origin::Remote);
    match closed(&local) {
        by if by != closed(&remote) => Err(Unjudged::Origin),
        // Only the last layer looks at arguments.
        None | Some(Layer::Operation) if it.args.is_none() => Err(Unjudged::Arguments),
        None
        | Some(Layer::Global | Layer::Agent | Layer::Sandbox | Layer::User | Layer::Operation) => {
            Ok(local)
        }
    }
}

/// The first layer that does not let it pass: the gate asks no further.
fn closed(judged: &Judged<'_>) -> Option<Layer> {
    let objects = |asked: &Asked| match asked {
        Asked::Objects(_) => true,
        Asked::Passes | Asked::NotThere(_) => false,
    };
    judged.layers.iter().find(|(_, asked)| objects(asked)).map(|(layer, _)| *layer)
}

/// The strictest of all; of equally strict ones guards and layers come first, then the name decides, as in the gate.
fn weighed(judged: &Judged<'_>, guards: &[&Objected]) -> Anew {
    let guarded = guards.iter().map(|it| it.decision);
    let decision = guarded.fold(judged.decision(), Decision::max);
    let layer = closed(judged).filter(|_| decision == Decision::Deny).map(Layer::rule);
    let strictest = guards.iter().filter(|it| it.decision == decision).map(|it| it.rule.as_str());
    let verdict = &judged.explained.verdict;
    let rules = verdict.objections.iter().filter(|it| it.decision == decision);
    let rule = strictest.chain(layer).min().or_else(|| rules.map(|it| &*it.rule).min());
    Anew { decision, rule: rule.unwrap_or_else(|| verdict.rule()).to_owned() }
}
