//! Settle: what a person said of exactly this call, or the question that they are asked.
//!
//! Only a question comes here. A call that may happen looks nobody up, and a denial asks nobody: no
//! answer could lift it.

use std::borrow::Cow;

use model::ipc::Uuid;
use model::{Decision, Objection, UserId};
use policy::Confirmed;
use serde_json::{Value, json};

use crate::approvals::{self, Answer, Approval, ApprovalError, ApprovalState, Word};
use crate::monitor::{Approver, Monitor};
use crate::proposed::Proposed;
use crate::question;
use crate::refusal::Refusal;
use crate::rule::Rule;
use crate::ruling::Ruling;
use crate::session::Session;
use crate::standing::Span;

/// What a person has to do with a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Person {
    /// Nothing.
    #[default]
    Nobody,
    /// They are asked.
    Asked(Uuid),
    /// They should have been asked, and were not.
    NotAsked(String),
    /// They have said yes to exactly this call in the session itself, and that is used up.
    Confirmed { lifted: Vec<Cow<'static, str>> },
    /// They have approved exactly this call, and that is used up.
    Approved { id: Uuid, by: UserId, lifted: Vec<Cow<'static, str>> },
    /// They have said yes to calls like this one.
    Granted { id: Uuid, by: UserId, span: Span, lifted: Vec<Cow<'static, str>> },
    /// They have said no to exactly this call.
    Denied { id: Uuid, by: UserId },
}

impl Person {
    /// The approval that it is about.
    pub(crate) fn approval(&self) -> Option<Uuid> {
        match self {
            Self::Nobody | Self::NotAsked(_) | Self::Confirmed { .. } | Self::Granted { .. } => {
                None
            }
            Self::Asked(id) | Self::Approved { id, .. } | Self::Denied { id, .. } => Some(*id),
        }
    }

    /// Why nobody was asked.
    pub(crate) fn unasked(&self) -> Option<String> {
        match self {
            Self::NotAsked(why) => Some(why.clone()),
            Self::Nobody
            | Self::Asked(_)
            | Self::Confirmed { .. }
            | Self::Approved { .. }
            | Self::Granted { .. }
            | Self::Denied { .. } => None,
        }
    }

    /// The rules that would have stopped the call, had they not said yes.
    pub(crate) fn lifted(&self) -> &[Cow<'static, str>] {
        match self {
            Self::Approved { lifted, .. }
            | Self::Granted { lifted, .. }
            | Self::Confirmed { lifted } => lifted,
            Self::Nobody | Self::Asked(_) | Self::NotAsked(_) | Self::Denied { .. } => &[],
        }
    }

    /// For the record of the decision, if there is anything to say.
    pub(crate) fn to_json(&self) -> Option<Value> {
        let said = |id: &Uuid, by: &UserId, state: ApprovalState| json!({ "by": by.as_str(), "id": id.to_string(), "state": state.as_str() });
        match self {
            Self::Nobody | Self::Confirmed { .. } => None,
            Self::Asked(id) => {
                Some(json!({ "id": id.to_string(), "state": ApprovalState::Pending.as_str() }))
            }
            Self::NotAsked(why) => Some(json!({ "not_asked": why })),
            Self::Approved { id, by, .. } => Some(said(id, by, ApprovalState::Used)),
            Self::Granted { id, by, span, .. } => {
                Some(json!({ "by": by.as_str(), "grant": id.to_string(), "span": span.as_str() }))
            }
            Self::Denied { id, by } => Some(said(id, by, ApprovalState::Denied)),
        }
    }
}

impl Monitor {
    /// Uses up a person's yes to exactly this call, durably, before the call happens. Where there is
    /// none, and somebody can be asked, the question is put.
    pub(crate) fn settle(
        &self,
        session: &mut Session,
        proposed: &mut Proposed,
        ruling: Ruling,
        now: i64,
    ) -> Result<Ruling, Refusal> {
        let mut ruling = ruling;
        if proposed.confirmed() == Confirmed::Exactly {
            // INVARIANT (ShownThenLifted): judged as without the yes, to see what it would lift.
            proposed.count_as(session.confirmed_in_kind(proposed.kind().as_str(), now));
            let plain = self.weigh(proposed);
            let grounds = question::grounds(proposed, plain.objections());
            if session.is_lifted(proposed, &grounds, now) {
                proposed.count_as(Confirmed::Exactly);
                proposed.involve(Person::Confirmed { lifted: rules(&plain) });
                return self.settle_in_conversation(session, proposed, ruling, now);
            }
            ruling = plain;
        }
        if ruling.decision() == Decision::Allow || session.approver() == Approver::Absent {
            return Ok(ruling);
        }
        if ruling.decision() != Decision::StepUp {
            return self.overruled(proposed, ruling, now);
        }
        // Judged again as it would be with a yes: what that would not lift is asked of nobody, and
        // uses up nothing.
        let before = proposed.confirmed();
        proposed.count_as(Confirmed::Exactly);
        let lifted = self.weigh(proposed).confirmed();
        if !lifted.decision().happens() {
            proposed.count_as(before);
            return self.overruled(proposed, ruling, now);
        }
        // INVARIANT (ShownThenLifted): what has come up since the person was asked is asked anew.
        let grounds = question::grounds(proposed, ruling.objections());
        match self.state().take(&question::exact(proposed), &grounds, now)? {
            Some(Approval { id, answered: Some((answer, _)), .. }) => match answer.word {
                Word::Approve => {
                    session.answered_elsewhere(proposed);
                    let lifted_rules = rules(&ruling);
                    proposed.involve(Person::Approved { id, by: answer.by, lifted: lifted_rules });
                    Ok(lifted)
                }
                Word::Deny => {
                    proposed.count_as(before);
                    Ok(deny(session, proposed, ruling, id, answer))
                }
            },
            Some(Approval { answered: None, .. }) | None => {
                if let Some(found) = self.granted(proposed, &ruling, now)? {
                    session.answered_elsewhere(proposed);
                    let (id, by, span) = (found.id, found.by, found.span);
                    proposed.involve(Person::Granted { id, by, span, lifted: rules(&ruling) });
                    return Ok(lifted);
                }
                proposed.count_as(before);
                let ruling = self.overruled(proposed, ruling, now)?;
                let asked = question::of(proposed, ruling.objections(), now)
                    .and_then(|it| self.state().ask(&it).map_err(|error| error.to_string()));
                // The call is stopped all the same.
                proposed.involve(asked.map_or_else(Person::NotAsked, Person::Asked));
                Ok(ruling)
            }
        }
    }

    /// The same for a yes that the session knows of.
    fn settle_in_conversation(
        &self,
        session: &mut Session,
        proposed: &mut Proposed,
        ruling: Ruling,
        now: i64,
    ) -> Result<Ruling, Refusal> {
        let ruling = ruling.confirmed();
        if !ruling.decision().happens() {
            return Ok(ruling);
        }
        if session.approver() == Approver::Reachable {
            // A no outweighs a yes, and one yes is enough: nothing about this call waits or counts any
            // more beside the one that is used.
            let call = question::exact(proposed);
            let grounds = question::grounds(proposed, ruling.objections());
            if let Some(Approval { id, answered: Some((answer, _)), .. }) =
                self.state().take(&call, &grounds, now)?
                && answer.word == Word::Deny
            {
                return Ok(deny(session, proposed, ruling, id, answer));
            }
            self.state().withdraw(&call, now)?;
        }
        let change = session.use_confirmation(proposed, now);
        self.keep(session, &change)?;
        Ok(ruling)
    }

    /// A person answers a question, by a door that is theirs.
    ///
    /// # Errors
    /// If nothing waits under this id any more, or it cannot be recorded or kept; then it does not count.
    pub fn answer_approval(
        &self,
        id: Uuid,
        word: Word,
        by: UserId,
        reason: String,
    ) -> Result<Approval, ApprovalError> {
        let answer = Answer { word, by, reason, at: self.now() };
        approvals::answer(self.journal(), &**self.state(), id, &answer)
    }
}

/// A person has said no: nothing waits any more, in the conversation neither.
fn deny(
    session: &mut Session,
    proposed: &mut Proposed,
    ruling: Ruling,
    id: Uuid,
    answer: Answer,
) -> Ruling {
    session.answered_elsewhere(proposed);
    let objection = denied_by(&answer);
    proposed.involve(Person::Denied { id, by: answer.by });
    ruling.denied(objection)
}

/// The rules that object.
fn rules(ruling: &Ruling) -> Vec<Cow<'static, str>> {
    ruling.objections().iter().map(|it| it.rule.clone()).collect()
}

fn denied_by(answer: &Answer) -> Objection {
    let until = aegx::timestamp::from_unix(answer.expires());
    let mut objection =
        Objection::new(Rule::DeniedByPerson, Decision::Deny, "denied_by_person", String::new());
    objection.for_model =
        format!("a person has said no to exactly this call, until {until}; do not try it again");
    objection.for_person =
        format!("`{}` has said no to exactly this call, until {until}", answer.by);
    objection
}
