//! Weighing: a grant and no objections is the only way to `Allow`.

use std::cmp::Reverse;

use model::{Decision, Objection, Taint};
use policy::Grant;

/// What was decided. A `Deny` holds no grant, so nothing downstream, an approver included, can turn
/// it into `Allow`.
#[derive(Debug)]
pub enum Ruling {
    /// It may happen.
    Allow(Grant),
    /// It may happen once a person has said yes, or once something is there.
    Hold(Grant, Vec<Objection>),
    /// It may not.
    Deny(Vec<Objection>),
}

impl Ruling {
    /// INVARIANT (GuardsOnlyObject): the more objections, the stricter the ruling; the order of guards
    /// does not matter, and none of them can stand in for a grant.
    ///
    /// Of equally strict objections those of guards come first: they know more of the case.
    pub(crate) fn weigh(judged: policy::Verdict, guards: Vec<Objection>) -> Self {
        let mut objections = sorted(guards);
        objections.extend(sorted(judged.objections));
        objections.sort_by_key(|it| Reverse(it.decision));
        let strictest = objections.first().map(|it| it.decision);
        match (judged.grant, strictest) {
            (Some(grant), None) => Self::Allow(grant),
            (Some(_), Some(Decision::Deny)) => Self::Deny(objections),
            (
                Some(grant),
                Some(Decision::Allow | Decision::Modify | Decision::StepUp | Decision::Defer),
            ) => Self::Hold(grant, objections),
            (None, Some(_)) => Self::Deny(objections),
            (None, None) => Self::Deny(vec![not_granted()]),
        }
    }

    /// What becomes of it when a person has said yes to exactly this call: a question is answered, a
    /// denial is not, nor what waits for something else.
    pub(crate) fn confirmed(self) -> Self {
        match self {
            Self::Hold(grant, objections)
                if objections.iter().all(|it| it.decision <= Decision::StepUp) =>
            {
                Self::Allow(grant)
            }
            answered @ (Self::Allow(_) | Self::Hold(..) | Self::Deny(_)) => answered,
        }
    }

    /// What becomes of it when a person has said no to exactly this call.
    pub(crate) fn denied(self, by_person: Objection) -> Self {
        let mut objections = vec![by_person];
        match self {
            Self::Allow(_) => {}
            Self::Hold(_, others) | Self::Deny(others) => objections.extend(others),
        }
        Self::Deny(objections)
    }

    /// The decision.
    #[must_use]
    pub fn decision(&self) -> Decision {
        match self {
            Self::Allow(_) => Decision::Allow,
            // An objection is never milder than a question.
            Self::Hold(_, objections) => objections
                .iter()
                .map(|it| it.decision)
                .max()
                .unwrap_or(Decision::StepUp)
                .max(Decision::StepUp),
            Self::Deny(_) => Decision::Deny,
        }
    }

    /// The rule that decided: the grant's, or the strictest objection's.
    #[must_use]
    pub fn rule(&self) -> &str {
        match self {
            Self::Allow(grant) => grant.rule(),
            Self::Hold(_, objections) | Self::Deny(objections) => {
                objections.first().map_or(policy::DEFAULT_DENY, |it| it.rule.as_ref())
            }
        }
    }

    /// The flags that what comes back will carry.
    pub(crate) fn taint(&self) -> Taint {
        match self {
            Self::Allow(grant) | Self::Hold(grant, _) => grant.taint(),
            Self::Deny(_) => Taint::NONE,
        }
    }

    /// Everything that speaks against it, the strictest first.
    #[must_use]
    pub fn objections(&self) -> &[Objection] {
        match self {
            Self::Allow(_) => &[],
            Self::Hold(_, objections) | Self::Deny(objections) => objections,
        }
    }
}

fn sorted(mut objections: Vec<Objection>) -> Vec<Objection> {
    objections.sort_by(|one, other| {
        one.rule.cmp(&other.rule).then_with(|| one.for_person.cmp(&other.for_person))
    });
    objections
}

fn not_granted() -> Objection {
    Objection::new(policy::DEFAULT_DENY, Decision::Deny, "no_rule_permits", "no rule permits this")
}

#[cfg(test)]
mod tests;
