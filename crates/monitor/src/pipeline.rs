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
use std::sync::atomic::{AtomicBool, Ordering};

use aegx::Digest;
use evidence::{Journal, OpenEntry};
use model::{Caller, Effect, TaintTag};
use policy::Confirmed;

use crate::asked::Asked;
use crate::carriers;
use crate::guards::{self, AFTER, BEFORE};
use crate::inspected::Inspected;
use crate::monitor::Monitor;
use crate::output::Output;
use crate::permit::Permit;
use crate::proposed::Proposed;
use crate::record;
use crate::refusal::Refusal;
use crate::ruling::Ruling;
use crate::session::Session;
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
/// agent saw of its output, the session counts as tainted from then on.
#[must_use]
pub struct Begun {
    verdict: Verdict,
    who: Caller,
    understood: Understood,
    /// Taken by `finish`.
    entry: Option<OpenEntry<Arc<Journal>>>,
    lost: Arc<AtomicBool>,
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
        let (permit, begun) = self.begin(who, asked)?;
        let output = executor.execute(permit);
        self.finish(begun, output)
    }

    /// The first half: from bytes to a permit.
    ///
    /// # Errors
    /// If the call is not understood or not let through.
    pub fn begin(
        &self,
        who: &Caller,
        asked: &Asked<'_>,
    ) -> Result<(Permit<Effect>, Begun), Refusal> {
        let now = self.now();
        let session = self.sessions().get(who);
        let session = session.map_err(|error| self.not_understood(who, asked, error))?;
        // Held until the decision is recorded: no label joins the session between the judging and the
        // permit, and a call beside this one is judged after it.
        let mut session = session.lock();

        // Understand: bytes become a bounded, canonical call, and the call becomes an effect.
        let understood = session.understand(asked);
        let understood = understood.map_err(|error| self.not_understood(who, asked, error))?;

        // Place: who asks, in which session, with which labels, and where each argument comes from.
        let proposed = Proposed::new(&session, understood, now);

        // Judge: the policy grants, guards object, the strictest wins. Every guard runs, so that the
        // record shows every reason.
        let judged = self.policy().decide(&proposed.facts());
        let objections = guards::review(BEFORE, &proposed);
        let ruling = Ruling::weigh(judged, objections);

        // Settle: a person may have said yes to exactly this. Nobody waits here: whoever asks a person
        // comes back with the same call, and it is judged again.
        let ruling = self.settle(&mut session, &proposed, ruling, now)?;

        // Record, then act. The permit carries the very effect that was judged.
        let new = record::decision(&proposed, &ruling);
        if !ruling.decision().happens() {
            let verdict = verdict(&proposed, &ruling, self.journal().append(new)?.id());
            session.stopped(&proposed, &verdict, now);
            return Err(Refusal::Stopped(Box::new(verdict)));
        }
        let entry = self.journal().open_entry_owned(new)?;
        self.label_what_is_written(&proposed)?;
        let verdict = verdict(&proposed, &ruling, entry.id());
        let lost = session.let_through();
        let understood = proposed.understood().clone();
        let Some(permit) = Permit::mint(proposed, &ruling, entry.opening()) else {
            return Err(Refusal::Stopped(Box::new(verdict)));
        };
        Ok((permit, Begun { verdict, who: who.clone(), understood, entry: Some(entry), lost }))
    }

    /// The second half: from what came back to what the agent may see.
    ///
    /// # Errors
    /// If the output is withheld, or its label could not be kept or its outcome not recorded.
    pub fn finish(&self, mut begun: Begun, output: Output) -> Result<Delivered, Refusal> {
        let who = begun.who.clone();
        let session = self.sessions().get(&who)?;
        let mut session = session.lock();
        let Some(entry) = begun.entry.take() else { return Err(Refusal::NoSession(who.session)) };

        // Inspect: look at what came back. An error text is output too.
        let output = self.with_carried_tags(&who, &begun.understood, output)?;
        let inspected = Inspected::new(output);
        let withheld = guards::review(AFTER, &inspected);

        // Absorb, also what is withheld: its length and its moment may say something already.
        let (change, tag) =
            session.absorb_output(&begun.understood, &inspected, entry.id(), self.now());
        self.keep(&mut session, &change)?;
        self.tell_parents(&mut session, &change)?;

        // Close, then deliver.
        let kind = begun.understood.kind();
        let outcome = record::outcome(&who, kind, &inspected.output, tag.as_ref(), &withheld);
        let record = entry.close(outcome)?.id();
        session.came_in_by(record);
        if !withheld.is_empty() {
            return Err(Refusal::Withheld(withheld));
        }
        let flagged = inspected.is_flagged();
        Ok(Delivered { output: inspected.output, flagged, tag, record })
    }

    /// Uses up a person's yes to exactly this call, durably, before the call happens.
    fn settle(
        &self,
        session: &mut Session,
        proposed: &Proposed,
        ruling: Ruling,
        now: i64,
    ) -> Result<Ruling, Refusal> {
        if proposed.confirmed() != Confirmed::Exactly {
            return Ok(ruling);
        }
        let ruling = ruling.confirmed();
        if ruling.decision().happens() {
            let change = session.use_confirmation(proposed, now);
            self.keep(session, &change)?;
        }
        Ok(ruling)
    }

    /// What a tainted session writes is tainted before it is written.
    fn label_what_is_written(&self, proposed: &Proposed) -> Result<(), Refusal> {
        let Some(tag) = proposed.tag() else { return Ok(()) };
        let written = carriers::written(proposed.who(), proposed.understood());
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
        let read = carriers::read(who, understood, &output.body);
        if !read.is_empty() {
            output.tags.extend(self.state().label_of(&read)?);
        }
        Ok(output)
    }

    /// INVARIANT (NothingSilent): what was not understood leaves a record too.
    fn not_understood(&self, who: &Caller, asked: &Asked<'_>, error: Refusal) -> Refusal {
        let new = record::malformed(who, asked.bytes(), &error);
        match self.journal().append(new) {
            Ok(_) => error,
            Err(lost) => lost.into(),
        }
    }
}

fn verdict(proposed: &Proposed, ruling: &Ruling, record: Digest) -> Verdict {
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
        record,
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        if self.entry.is_some() {
            self.lost.store(true, Ordering::Relaxed);
        }
    }
}

impl Begun {
    /// What was decided of it.
    #[must_use]
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }
}
