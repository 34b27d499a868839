//! What becomes of a yes: one that holds for calls like this one is found, and whoever approved a call that is
//! stopped all the same is told.

use model::Objection;

use crate::approvals::Hindrance;
use crate::kind;
use crate::monitor::Monitor;
use crate::output::{Output, Status};
use crate::preview::{PREVIEW_CHARS_MAX, preview};
use crate::proposed::Proposed;
use crate::question;
use crate::refusal::Refusal;
use crate::rule::Rule;
use crate::ruling::Ruling;
use crate::standing::{Standing, Wanted};
use crate::verdict::Verdict;

impl Monitor {
    /// A yes of a person that holds for this call among others. What waits about it is withdrawn.
    pub(crate) fn granted(
        &self,
        proposed: &Proposed,
        ruling: &Ruling,
        now: i64,
    ) -> Result<Option<Standing>, Refusal> {
        let (who, objections) = (proposed.who(), ruling.objections());
        let wanted = Wanted {
            call: question::exact(proposed),
            user: who.user.clone(),
            agent: who.agent.clone(),
            grounds: question::grounds(proposed, objections),
            kind: kind::of(proposed, objections).map(|it| (it.digest, it.grounds)),
        };
        let found = self.state().standing(&wanted, now)?;
        if found.is_some() {
            self.state().withdraw(&wanted.call, now)?;
        }
        Ok(found)
    }

    /// A call is stopped although a person had approved exactly it: they are told, and so is the agent.
    pub(crate) fn overruled(
        &self,
        proposed: &mut Proposed,
        ruling: Ruling,
        now: i64,
    ) -> Result<Ruling, Refusal> {
        let Some(found) = self.state().approved(&question::exact(proposed), now)? else {
            return Ok(ruling);
        };
        let why = ruling.objections().first().map_or("", |it| it.for_person.as_str());
        let hindrance = hindrance(ruling.rule(), why, now);
        self.state().hinder(found.id, &hindrance)?;
        if let Some((answer, _)) = found.answered {
            proposed.overrule(answer.by);
        }
        Ok(ruling)
    }

    /// A call that a person approved was let through, and came to nothing after all.
    pub(crate) fn tell_who_approved(
        &self,
        verdict: &Verdict,
        output: &Output,
        withheld: &[Objection],
    ) -> Result<(), Refusal> {
        let Some(id) = verdict.approval else { return Ok(()) };
        let told = match (withheld.first(), output.status) {
            (Some(objection), _) => (&*objection.rule, objection.for_person.as_str()),
            (None, Status::NotBegun) => (Rule::NotBegun.as_str(), output.body.as_str()),
            (None, Status::Done | Status::Failed) => return Ok(()),
        };
        Ok(self.state().hinder(id, &hindrance(told.0, told.1, self.now()))?)
    }
}

fn hindrance(rule: &str, why: &str, at: i64) -> Hindrance {
    let why = preview(why, PREVIEW_CHARS_MAX).into_owned();
    Hindrance { rule: rule.to_owned(), why, at }
}
