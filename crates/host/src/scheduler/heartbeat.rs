//! The heartbeat: a job of the host's own.

use model::ipc::Uuid;

use super::book::Scheduler;
use super::error::SchedulerError;
use super::job::{Job, MadeIn, When};
use super::kept::Book;

impl Scheduler {
    /// The heartbeat is a job like any other, made from the settings.
    pub(super) fn keep_heartbeat(&self, book: &mut Book, now: i64) -> Result<(), SchedulerError> {
        let wanted = self.settings().heartbeat.as_ref();
        let fits = |job: &Job| {
            wanted.is_some_and(|it| {
                let seconds = i64::from(it.every_minutes) * 60;
                job.when == When::Heartbeat { seconds }
                    && job.user == it.user
                    && job.agent == it.agent
                    && job.prompt == it.prompt
            })
        };
        let is_heartbeat = |job: &Job| matches!(job.when, When::Heartbeat { .. });
        let gone: Vec<Uuid> =
            book.jobs.iter().filter(|it| is_heartbeat(it) && !fits(it)).map(|it| it.id).collect();
        book.jobs.retain(|it| !gone.contains(&it.id));
        book.runs.retain(|it| !gone.contains(&it.job));
        let Some(wanted) = wanted.filter(|_| !book.jobs.iter().any(is_heartbeat)) else {
            return if gone.is_empty() { Ok(()) } else { self.write(book) };
        };
        let when = When::Heartbeat { seconds: i64::from(wanted.every_minutes) * 60 };
        book.jobs.push(Job {
            id: self.new_id()?,
            user: wanted.user.clone(),
            agent: wanted.agent.clone(),
            session: String::new(),
            record: String::new(),
            created: now,
            next: when.next_after(now),
            when,
            prompt: wanted.prompt.clone(),
            delivery: None,
            token_budget: None,
            tag: None,
            made_in: MadeIn::default(),
            skipped: 0,
            missed: 0,
        });
        self.write(book)
    }
}
