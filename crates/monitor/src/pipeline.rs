//! The path of one call, top to bottom. Read this file first.
//!
//! - INVARIANT (OneGate): an effect runs only by spending a [`Permit`], and [`Permit::mint`] is called
//!   here and nowhere else.
//! - INVARIANT (RecordThenAct): a permit needs a receipt, so the decision is durable before the effect
//!   starts.
//! - INVARIANT (AbsorbBeforeDeliver): what came back is kept as a label of the session, durably, before
//!   a byte of it goes on.
//!
//! The path has two halves, because some effects happen elsewhere: a hook judges before a tool runs
//! and hears of its output afterwards. [`Monitor::run`] is both.

use std::sync::Arc;

use aegx::Digest;
use evidence::{AppendError, Journal, OpenEntry};
use model::{Caller, Effect, Source, Taint, TaintTag};

use crate::asked::Asked;
use crate::carriers::{self, TooMany};
use crate::deed;
use crate::guards::{self, AFTER, BEFORE};
use crate::inspected::Came;
use crate::monitor::Monitor;
use crate::output::Output;
use crate::permit::Permit;
use crate::proposed::Proposed;
use crate::record;
use crate::refusal::Refusal;
use crate::risk::Observation;
use crate::ruling::Ruling;
use crate::sessions::Handle;
use crate::state::{self, State, StateError};
use crate::taint;
use crate::understood::Understood;
use crate::verdict::Verdict;

/// Runs effects. It is given the permit and nothing else, and always has something to show.
pub trait Executor {
    /// Does what the permit permits.
    fn execute(&self, permit: Permit<Effect>) -> Output;
}

/// A call that was let through and has not come back yet.
///
/// Dropped without [`Monitor::finish`], it leaves a closing record, and because nobody knows what the
/// agent saw of its output, the session counts as tainted from then on, also after a restart.
#[must_use]
pub struct Begun {
    verdict: Verdict,
    who: Caller,
    understood: Understood,
    observation: Observation,
    /// The flags that the grant gives to what comes back.
    granted: Taint,
    session: Handle,
    state: Arc<dyn State>,
    /// Is it kept that this call is under way?
    was_marked: bool,
    at: i64,
    /// Taken by `finish`.
    entry: Option<OpenEntry<Arc<Journal>>>,
}

impl Begun {
    /// Can what comes back only be what there was to be read where the agent works?
    #[must_use]
    pub fn reads_here(&self) -> bool {
        let asked = &self.understood;
        let is_own = matches!(asked.effect, Effect::Action(_)) && asked.deeds.are_known();
        is_own && !deed::print_others(&asked.commands)
    }

    /// Is it known what the call does, whatever its tool is called: look, write, run where the agent works?
    #[must_use]
    pub fn is_known_deed(&self) -> bool {
        self.understood.deeds.are_known()
    }

    /// Is what it gives back nobody's from outside, as far as the call itself says: no page, no message of another machine?
    #[must_use]
    pub fn stays_here(&self) -> bool {
        self.is_known_deed() && self.understood.call.flow.output != model::Trust::Untrusted
    }

    /// Is it a command that may bring something from another machine?
    #[must_use]
    pub fn fetches(&self) -> bool {
        self.is_known_deed() && !self.stays_here() && !self.understood.commands.is_empty()
    }

    /// The paths that its commands read, as they are written there.
    #[must_use]
    pub fn paths_read(&self) -> Vec<&str> {
        self.paths(shell::Access::Read)
    }

    /// The paths that its commands write, as they are written there.
    #[must_use]
    pub fn paths_written(&self) -> Vec<&str> {
        self.paths(shell::Access::Write)
    }

    fn paths(&self, access: shell::Access) -> Vec<&str> {
        let places = self.understood.commands.iter().flat_map(|it| &it.reading.places);
        places.filter(|it| it.access == access).map(|it| it.path.as_str()).collect()
    }
}

/// What the agent may see of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// The output.
    pub output: Output,
    /// Was it seen to give orders?
    pub flagged: bool,
    /// Where it came from, if it is not clean.
    pub tag: Option<TaintTag>,
    /// The record of the outcome.
    pub record: Digest,
}

impl Monitor {
    /// The whole path.
    ///
    /// # Errors
    /// If the call is not understood, not let through, or its output is withheld.
    pub fn run(
        &self,
        who: &Caller,
        asked: &Asked<'_>,
        executor: &impl Executor,
    ) -> Result<Delivered, Refusal> {
        let (permit, begun) = self.judge(who, asked)?;
        let output = executor.execute(permit);
        self.finish(begun, output)
    }

    /// The first half, for an effect that happens elsewhere: from bytes to a permit.
    ///
    /// The effect may happen even if this process dies, and the agent may see what came of it. So it is
    /// kept that the call is under way, before the permit is given out.
    ///
    /// # Errors
    /// If the call is not understood, not let through, or could not be kept.
    pub fn begin(
        &self,
        who: &Caller,
        asked: &Asked<'_>,
    ) -> Result<(Permit<Effect>, Begun), Refusal> {
        let (permit, mut begun) = self.judge(who, asked)?;
        begun.was_marked = self.mark(&begun.session)?;
        Ok((permit, begun))
    }

    fn judge(&self, who: &Caller, asked: &Asked<'_>) -> Result<(Permit<Effect>, Begun), Refusal> {
        let now = self.now();
        let turned_away = |error| self.turned_away(who, asked.bytes(), error);
        let handle = self.sessions().get(who).map_err(turned_away)?;
        // Held until the decision is recorded: no label joins the session between the judging and the
        // permit, and a call beside this one is judged after it.
        let mut session = handle.lock().map_err(turned_away)?;

        // The operator's word of tools may be another since the last call.
        self.know_again(&mut session);

        // Understand: bytes become a bounded, canonical call, and the call becomes an effect.
        let understood = session.understand(asked).map_err(turned_away)?;

        // Place: who asks, in which session, with which labels, and where each argument comes from.
        let mut proposed = self.propose(&session, understood, now);
        self.look_at_answer(&session, &mut proposed)?;
        Self::look_at_deed(&mut proposed);

        // Judge: the policy grants, guards object, the strictest wins. Every guard runs, so that the
        // record shows every reason.
        let ruling = self.weigh(&proposed);

        // Settle: a person may have said yes to exactly this, or is asked now. Nobody waits here: whoever
        // asks comes back with the same call, and it is judged again.
        let ruling = self.settle(&mut session, &mut proposed, ruling, now)?;

        // Record, then act. The permit carries the very effect that was judged.
        let new = record::decision(&proposed, &ruling).map_err(AppendError::from)?;
        if !ruling.decision().happens() {
            let verdict = verdict(&proposed, &ruling, self.journal().append(new)?.id());
            if let Some(incident) = record::incident(&proposed, &verdict) {
                self.journal().append(incident)?;
            }
            let change = session.stopped(&proposed, &verdict, now);
            self.keep(&mut session, &change)?;
            return Err(Refusal::Stopped(Box::new(verdict)));
        }
        self.keep_said(&session, &proposed)?;
        let entry = self.journal().open_entry_owned(new)?;
        self.label_what_is_written(&proposed)?;
        let verdict = verdict(&proposed, &ruling, entry.id());
        session.let_through();
        drop(session);
        // What is remembered of it names no secret; what is done is in the permit.
        let understood = self.remembered(&proposed);
        let observation = proposed.observation().clone();
        let Some(permit) = Permit::mint(proposed, &ruling, entry.opening()) else {
            return Err(Refusal::Stopped(Box::new(verdict)));
        };
        let permit = permit.scrubbing(self.scrubs());
        let begun = Begun {
            verdict,
            who: who.clone(),
            understood,
            observation,
            granted: ruling.taint(),
            session: handle,
            state: Arc::clone(self.state()),
            was_marked: false,
            at: now,
            entry: Some(entry),
        };
        Ok((permit, begun))
    }

    /// The second half: from what came back to what the agent may see.
    ///
    /// # Errors
    /// If the output is withheld, or its label could not be kept or its outcome not recorded.
    pub fn finish(&self, mut begun: Begun, output: Output) -> Result<Delivered, Refusal> {
        let session = begun.session.clone();
        let mut session = session.lock()?;
        // Before anybody looks: what holds a secret is kept nowhere.
        let output = self.scrubbed(output);
        // While the entry is open: if this fails, the call is lost like any that never came back.
        let output = self.with_carried_tags(&begun.who, &begun.understood, output)?;
        let Some(entry) = begun.entry.take() else {
            return Err(Refusal::NoSession(begun.who.session.clone()));
        };

        // Inspect: look at what came back. An error text is output too.
        let mut inspected = self.inspected(&begun.understood, output);
        let mut withheld = guards::review(AFTER, &inspected);

        // Absorb, also what is withheld: its length and its moment may say something already.
        let (record, granted) = (entry.id(), begun.granted);
        let came = Came { record, granted, was_marked: begun.was_marked, at: self.now() };
        let of = (&begun.understood, &begun.observation);
        let (change, tag, standing) = session.absorb_output(of, &inspected, came);
        self.keep(&mut session, &change)?;
        self.tell_parents(&mut session, &change)?;

        // Sanitize: by the label that it has now, the same for every door.
        let shown = self.shown(&begun.understood, &inspected, tag.as_ref(), standing);
        withheld.extend(shown.withheld.clone());
        let came = Digest::of(inspected.output.body.as_bytes());
        let flagged = Self::gives_orders(&inspected, standing);
        if let Some(body) = &shown.body {
            inspected.output.body.clone_from(body);
        }

        // Close, then deliver.
        let kind = begun.understood.kind();
        let ended = record::Outcome { came, shown: &shown, withheld: &withheld, tag: tag.as_ref() };
        let outcome = record::outcome(&begun.who, kind, &inspected.output, &ended)
            .map_err(AppendError::from)?;
        let record = entry.close(outcome)?.id();
        session.came_in_by(record);
        self.tell_who_approved(&begun.verdict, &inspected.output, &withheld)?;
        if !withheld.is_empty() {
            return Err(Refusal::Withheld(withheld));
        }
        Ok(Delivered { output: inspected.output, flagged, tag, record })
    }

    /// Keeps that a call is under way, if it matters; answers whether it did.
    fn mark(&self, session: &Handle) -> Result<bool, Refusal> {
        let mut session = session.lock()?;
        match session.mark_begun() {
            Some(change) => self.keep(&mut session, &change).map(|()| true),
            None => Ok(false),
        }
    }

    /// The policy grants, guards object, the strictest wins.
    pub(crate) fn weigh(&self, proposed: &Proposed) -> Ruling {
        let judged = self.policy().decide(&proposed.facts());
        Ruling::weigh(judged, guards::review(BEFORE, proposed))
    }

    /// What a tainted session writes is tainted before it is written.
    fn label_what_is_written(&self, proposed: &Proposed) -> Result<(), Refusal> {
        let Some(tag) = proposed.tag() else { return Ok(()) };
        let written = carriers::written(proposed.who(), proposed.understood())
            .map_err(|TooMany| StateError::Broken { reason: TooMany::WHY.to_owned() })?;
        if written.is_empty() {
            return Ok(());
        }
        Ok(self.state().remember_label(&written, tag)?)
    }

    /// What another session wrote while it was tainted brings its tag back.
    fn with_carried_tags(
        &self,
        who: &Caller,
        understood: &Understood,
        mut output: Output,
    ) -> Result<Output, Refusal> {
        match carriers::read(who, understood, &output.body) {
            Ok(read) if read.is_empty() => {}
            Ok(read) => output.tags.extend(self.state().label_of(&read)?),
            // What cannot be looked up is not taken for clean.
            Err(TooMany) => output.tags.push(taint::label(Source::Tool, TooMany::WHY, self.now())),
        }
        Ok(output)
    }
}

pub(crate) fn verdict(proposed: &Proposed, ruling: &Ruling, record: Digest) -> Verdict {
    Verdict {
        effect: proposed.kind(),
        decision: ruling.decision(),
        rule: ruling.rule().to_owned(),
        reason: ruling
            .objections()
            .first()
            .map_or_else(|| proposed.why_allowed(), |it| it.for_person.clone()),
        objections: ruling.objections().to_vec(),
        taint_permille: proposed.taint_permille(),
        sinks: proposed.traced().sinks.clone(),
        action: proposed.digest(),
        approval: proposed.person().approval(),
        unasked: proposed.person().unasked(),
        approved_by: proposed.overruled().map(|it| it.to_string()),
        record,
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if self.entry.is_none() {
            return;
        }
        let mut session = self.session.lock_even_if_ended();
        let change = session.lose(Some(&self.understood), self.was_marked, self.at);
        // Nobody is left to tell. Here it counts already, and a call that is kept as under way counts as
        // lost when the session is found again.
        let _ = state::keep(&*self.state, &mut session, &change);
    }
}

impl Begun {
    /// What was decided of it.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}
