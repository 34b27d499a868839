//! Runs that the host carries out itself: they begin, and end.
//!
//! INVARIANT (RecordThenAct): that a run begins is in the journal and in the book before anybody is told anything.

use std::collections::HashMap;

use aegx::Digest;
use evidence::Receipt;
use model::UserId;
use model::ipc::Uuid;
use monitor::taint::worse;
use serde_json::json;

use super::book::{Came, Scheduler};
use super::delivery::Handed;
use super::error::SchedulerError;
use super::job::{Given, Job, Run, RunEnd, RunStatus};

/// Characters of an answer that a record shows.
const RECORDED_CHARS_MAX: usize = 400;
/// Characters of an answer that are kept.
pub(crate) const ANSWER_CHARS_MAX: usize = 20_000;

impl Scheduler {
    /// Begins a run, in a session of this name; none if none waits, or it is no time for work. It is one of the user of
    /// whom the fewest are under way, and of theirs the one that waits longest: nobody's jobs keep those of others waiting.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then it has not begun.
    pub fn begin(
        &self,
        session: &str,
        now: i64,
    ) -> Result<Option<(Came, Receipt)>, SchedulerError> {
        if !self.settings().is_active(now) {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let mut book = self.read()?;
        let mut under_way: HashMap<UserId, usize> = HashMap::new();
        let all = book.waiting(None);
        for came in all.iter().filter(|it| it.run.given.is_some() && it.run.ended.is_none()) {
            *under_way.entry(came.job.user.clone()).or_default() += 1;
        }
        let waiting = all.iter().filter(|it| it.run.given.is_none() && it.run.ended.is_none());
        let turn = |it: &&Came| (under_way.get(&it.job.user).copied(), it.run.due);
        let Some(id) = waiting.min_by_key(turn).map(|it| it.run.id) else { return Ok(None) };
        for run in book.runs.iter_mut().filter(|it| it.id == id) {
            run.given = Some(Given { session: session.to_owned(), at: now });
        }
        let came = book.waiting(None).into_iter().find(|it| it.run.id == id);
        let Some(came) = came else { return Ok(None) };
        let receipt = self.append("job_started", &came.job, started(&came, session))?;
        self.write(&book)?;
        Ok(Some((came, receipt)))
    }

    /// Ends a run. What is kept of its answer can be looked at until the next one comes, or for a day.
    ///
    /// # Errors
    /// If that cannot be recorded or kept.
    pub fn end(&self, came: &Came, mut ended: RunEnd) -> Result<Receipt, SchedulerError> {
        ended.text = ended.text.chars().take(ANSWER_CHARS_MAX).collect();
        let shown: String = ended.text.chars().take(RECORDED_CHARS_MAX).collect();
        let content = json!({
            "job": came.job.id.to_string(),
            "run": came.run.id.to_string(),
            "session": came.run.given.as_ref().map(|it| it.session.as_str()),
            "user": came.job.user.as_str(),
            "status": ended.status.as_str(),
            "tokens": ended.tokens,
            "answer": shown,
            "answer_sha256": Digest::of(ended.text.as_bytes()).to_hex().as_str(),
        });
        let tag = worse(ended.tag.as_ref(), came.job.tag.as_ref());
        let carried = Job { tag, ..came.job.clone() };
        let receipt = self.append("job_ended", &carried, content)?;
        let _lock = self.lock()?;
        let mut book = self.read()?;
        for run in book.runs.iter_mut().filter(|it| it.id == came.run.id) {
            run.ended = Some(ended.clone());
        }
        self.write(&book)?;
        Ok(receipt)
    }

    /// Runs that were begun, or whose answers were to be delivered, and whose end nobody has kept: nobody knows what
    /// became of them, and while they are open their jobs do not come again. Those that are `under_way` are not meant.
    ///
    /// # Errors
    /// If that cannot be recorded or kept.
    pub fn give_up_lost(&self, under_way: &[Uuid], now: i64) -> Result<(), SchedulerError> {
        let is_lost =
            |run: &Run| run.given.is_some() && run.ended.is_none() && !under_way.contains(&run.id);
        for came in self.waiting(None)?.into_iter().filter(|it| is_lost(&it.run)) {
            let text = "what ran it has gone, or could not keep how it ended".to_owned();
            let tag = came.job.tag.clone();
            let ended = RunEnd { at: now, status: RunStatus::Lost, text, tokens: 0, tag };
            self.end(&came, ended)?;
        }
        let is_undelivered = |it: &Came| {
            let is_open = it.run.ended.is_some() && it.run.handed.is_none();
            it.job.delivery.is_some() && is_open && !under_way.contains(&it.run.id)
        };
        for came in self.waiting(None)?.into_iter().filter(is_undelivered) {
            let why = "what was to deliver it has gone, perhaps after it was said".to_owned();
            self.handed(&came, Handed { at: now, outcome: Err(why) })?;
        }
        Ok(())
    }

    /// Does a run wait that nobody has begun?
    ///
    /// # Errors
    /// If the book cannot be read.
    pub fn is_anything_waiting(&self) -> Result<bool, SchedulerError> {
        Ok(self.waiting(None)?.iter().any(|it| it.run.given.is_none()))
    }

    /// Has somebody removed the job of a run since it began?
    ///
    /// # Errors
    /// If the book cannot be read. INVARIANT (FailClosed): then nobody knows that it was not.
    pub(crate) fn is_removed(&self, run: Uuid) -> Result<bool, SchedulerError> {
        Ok(!self.waiting(None)?.iter().any(|it| it.run.id == run))
    }
}

fn started(came: &Came, session: &str) -> serde_json::Value {
    let Job { id, user, token_budget, made_in, .. } = &came.job;
    json!({
        "job": id.to_string(),
        "run": came.run.id.to_string(),
        "session": session,
        "user": user.as_str(),
        "kind": came.job.when.kind(),
        "due": came.run.due,
        "due_record": came.run.record,
        "made_by": came.job.session,
        "made_by_record": came.job.record,
        "remote": made_in.remote,
        "sub_agents": made_in.sub_agents,
        "tokens_max": token_budget,
    })
}
