//! What becomes of jobs: they are made, come, wait, and are removed.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aegx::{Principal, RecordType};
use evidence::{Journal, NewRecord, Receipt};
use files::private;
use model::ipc::Uuid;
use model::{Kind, Taint};
use serde_json::{Value, json};

use super::error::SchedulerError;
use super::job::{Given, Job, MadeIn, Run, When};
use super::kept::{Book, read, wrong};
use super::new_job::{Added, NewJob, Owner};
use super::settings::Settings;

/// How many jobs there may be in all.
pub const JOBS_MAX: usize = 1000;
/// A job that comes again and again and is late by more than this is missed, in seconds.
const LATE_SECONDS_MAX: i64 = 60 * 60;
/// A job that comes once and is late by more than this is missed, in seconds.
const ONCE_LATE_SECONDS_MAX: i64 = 24 * 60 * 60;
/// How far ahead a job that comes once may lie, in seconds: five years.
const AHEAD_SECONDS_MAX: i64 = 5 * 366 * 24 * 60 * 60;
/// How long a run is kept for the session to which it was given, in seconds.
const GIVEN_SECONDS_MAX: i64 = 24 * 60 * 60;
/// The longest prompt, in bytes.
pub(super) const PROMPT_BYTES_MAX: usize = 40_000;

/// The scheduler of a state directory.
pub struct Scheduler {
    pub(super) home: PathBuf,
    settings: Settings,
    /// None where a person changes jobs and has recorded it: then nothing comes due.
    journal: Option<Arc<Journal>>,
    /// In which session jobs are made.
    made_in: MadeIn,
    runner: Runner,
}

/// Who has runs carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// The first session of the owner that asks.
    Agent,
    /// The host itself.
    Host,
}

/// A run that waits, with its job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Came {
    /// The run.
    pub run: Run,
    /// Its job.
    pub job: Job,
}

/// What became of a job that was due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A run waits now.
    Came(Box<Came>),
    /// Nobody has asked for its last run yet, or it is no time for work.
    Skipped(Job),
    /// Nobody was there when it was due, for too long.
    Missed(Job),
}

impl Scheduler {
    /// The one of the state directory `home`.
    #[must_use]
    pub fn new(home: &Path, settings: Settings, journal: Arc<Journal>) -> Self {
        Self { journal: Some(journal), ..Self::of_person(home, settings) }
    }

    /// The same for a person whose word was recorded: jobs are made and removed, and nothing comes due.
    #[must_use]
    pub fn of_person(home: &Path, settings: Settings) -> Self {
        let (made_in, runner) = (MadeIn::default(), Runner::Agent);
        Self { home: home.to_owned(), settings, journal: None, made_in, runner }
    }

    /// The same where the host or agents have runs carried out.
    #[must_use]
    pub fn run_by(self, runner: Runner) -> Self {
        Self { runner, ..self }
    }

    /// The same for a session in which jobs are made.
    #[must_use]
    pub fn for_jobs_of(self, made_in: MadeIn) -> Self {
        Self { made_in, ..self }
    }

    /// Who has runs carried out.
    #[must_use]
    pub fn runner(&self) -> Runner {
        self.runner
    }

    /// What the operator said.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Makes a job.
    ///
    /// # Errors
    /// If it would never come, its answers could not go where it says, there are too many, or it cannot be kept.
    pub fn add(&self, new: NewJob, now: i64) -> Result<Added, SchedulerError> {
        if new.prompt.trim().is_empty() || new.prompt.len() > PROMPT_BYTES_MAX {
            return Err(SchedulerError::Prompt);
        }
        let next =
            new.when.next_after(now).filter(|it| it.saturating_sub(now) <= AHEAD_SECONDS_MAX * 2);
        let next =
            next.filter(|it| !matches!(new.when, When::Once(_)) || it - now <= AHEAD_SECONDS_MAX);
        let next = next.ok_or(SchedulerError::Never)?;
        self.may_deliver(new.delivery.as_ref(), &new.owner)?;
        let _lock = self.lock()?;
        let mut book = self.read()?;
        let own = book.jobs.iter().filter(|it| it.user == new.owner.user).count();
        if own >= self.settings.jobs_per_user || book.jobs.len() >= JOBS_MAX {
            return Err(SchedulerError::Full(own.min(book.jobs.len())));
        }
        let id = self.new_id()?;
        book.jobs.push(Job {
            id,
            user: new.owner.user,
            agent: new.owner.agent,
            session: new.session,
            record: new.record,
            created: now,
            when: new.when,
            prompt: new.prompt,
            delivery: new.delivery,
            token_budget: self.made_in.budget(new.token_budget),
            tag: new.tag,
            next: Some(next),
            made_in: self.made_in.clone(),
            skipped: 0,
            missed: 0,
        });
        self.write(&book)?;
        Ok(Added { id, next })
    }

    /// The jobs of an owner; all if none is named.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn jobs(&self, of: Option<&Owner>) -> Result<Vec<Job>, SchedulerError> {
        let mut jobs = self.read()?.jobs;
        jobs.retain(|it| of.is_none_or(|of| is_of(it, of)));
        Ok(jobs)
    }

    /// The runs of an owner that wait; all if none is named.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn waiting(&self, of: Option<&Owner>) -> Result<Vec<Came>, SchedulerError> {
        Ok(self.read()?.waiting(of))
    }

    /// Gives the runs of an owner that wait to a session, with those that it was given before.
    ///
    /// # Errors
    /// If that cannot be kept; then none is given.
    pub fn take(&self, of: &Owner, session: &str, now: i64) -> Result<Vec<Came>, SchedulerError> {
        if self.runner == Runner::Host {
            // They are carried out in sessions of their own.
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        let mut book = self.read()?;
        let before = book.clone();
        let own: Vec<Uuid> = book.jobs.iter().filter(|it| is_of(it, of)).map(|it| it.id).collect();
        for run in book.runs.iter_mut().filter(|it| it.given.is_none() && own.contains(&it.job)) {
            run.given = Some(Given { session: session.to_owned(), at: now });
        }
        if book != before {
            self.write(&book)?;
        }
        let mut runs = book.waiting(Some(of));
        runs.retain(|it| it.run.given.as_ref().is_some_and(|it| it.session == session));
        Ok(runs)
    }

    /// Removes a job with its runs, or takes a run off the list.
    ///
    /// # Errors
    /// If there is none of that name that belongs to the owner.
    pub fn remove(&self, id: &str, of: Option<&Owner>) -> Result<(), SchedulerError> {
        let not_found = || {
            SchedulerError::NotFound(id.chars().take(48).flat_map(char::escape_default).collect())
        };
        let wanted = Uuid::parse(id).ok_or_else(not_found)?;
        let _lock = self.lock()?;
        let mut book = self.read()?;
        let own = |job: &Job| of.is_none_or(|of| is_of(job, of));
        let run = book.runs.iter().find(|it| it.id == wanted).map(|it| it.job);
        let job = book.jobs.iter().find(|it| it.id == run.unwrap_or(wanted)).filter(|it| own(it));
        let job = job.ok_or_else(not_found)?;
        // The last run of a job that comes no more takes the job along.
        let (job, is_over) = (job.id, job.next.is_none());
        book.runs.retain(|it| it.id != wanted && (run.is_some() || it.job != job));
        if run.is_none() || is_over {
            book.jobs.retain(|it| it.id != job);
        }
        self.write(&book)
    }

    /// Looks which jobs are due. It is recorded what became of each, and then kept.
    ///
    /// # Errors
    /// If it cannot be recorded or kept; then nothing came.
    pub fn tick(&self, now: i64) -> Result<Vec<Outcome>, SchedulerError> {
        let _lock = self.lock()?;
        let mut book = self.read()?;
        self.keep_heartbeat(&mut book, now)?;
        let before = book.clone();
        let is_old = |run: &Run| {
            run.given.as_ref().is_some_and(|it| now.saturating_sub(it.at) > GIVEN_SECONDS_MAX)
        };
        let is_at_work = |run: &Run| self.runner == Runner::Host && self.is_open(run);
        book.runs.retain(|it| !is_old(it) || is_at_work(it));
        let mut outcomes = Vec::new();
        let mut jobs = std::mem::take(&mut book.jobs);
        for job in &mut jobs {
            let kept = self.waits_too_long(job, &book, now);
            let Some(run) = kept else { continue };
            job.missed = job.missed.saturating_add(1);
            self.record("job_missed", job, run.due)?;
            book.runs.retain(|it| it.id != run.id);
            outcomes.push(Outcome::Missed(job.clone()));
        }
        for job in &mut jobs {
            let Some(due) = job.next.filter(|it| *it <= now) else { continue };
            let waits = book.runs.iter().any(|it| it.job == job.id && self.is_open(it));
            if let Some(outcome) = self.due(job, due, waits, now)? {
                if let Outcome::Came(came) = &outcome {
                    book.runs.retain(|it| it.job != job.id);
                    book.runs.push(came.run.clone());
                }
                outcomes.push(outcome);
            }
        }
        // What came for the last time, and does not wait, is over.
        jobs.retain(|job| job.next.is_some() || book.runs.iter().any(|it| it.job == job.id));
        book.jobs = jobs;
        if book != before {
            self.write(&book)?;
        }
        Ok(outcomes)
    }

    /// A run of a job that the host would carry out, and for which there was no room until it was too late for it.
    fn waits_too_long(&self, job: &Job, book: &Book, now: i64) -> Option<Run> {
        let is_late = |it: &&Run| {
            it.job == job.id
                && it.given.is_none()
                && it.ended.is_none()
                && now.saturating_sub(it.due) > late_max(job)
        };
        let run = book.runs.iter().find(is_late)?;
        (self.runner == Runner::Host).then(|| run.clone())
    }

    /// What becomes of one job that is due.
    fn due(
        &self,
        job: &mut Job,
        due: i64,
        waits: bool,
        now: i64,
    ) -> Result<Option<Outcome>, SchedulerError> {
        let once = matches!(job.when, When::Once(_));
        let late = now.saturating_sub(due);
        let active = self.settings.is_active(now);
        if once && !active && late <= ONCE_LATE_SECONDS_MAX {
            // It was asked for by somebody: it waits for the time for work to begin.
            return Ok(None);
        }
        job.next = if once { None } else { job.when.next_after(now) };
        if late > late_max(job) {
            job.missed = job.missed.saturating_add(1);
            self.record("job_missed", job, due)?;
            return Ok(Some(Outcome::Missed(job.clone())));
        }
        if waits || !active {
            job.skipped = job.skipped.saturating_add(1);
            self.record("job_skipped", job, due)?;
            return Ok(Some(Outcome::Skipped(job.clone())));
        }
        let record = self.record("job_due", job, due)?;
        let run = Run::new(self.new_id()?, job.id, due, record);
        Ok(Some(Outcome::Came(Box::new(Came { run, job: job.clone() }))))
    }

    /// Does a run wait, or is it carried out by the host? Then its job does not come again.
    fn is_open(&self, run: &Run) -> bool {
        match self.runner {
            Runner::Agent => run.given.is_none(),
            Runner::Host => run.ended.is_none(),
        }
    }

    fn record(&self, kind: &'static str, job: &Job, due: i64) -> Result<String, SchedulerError> {
        let content = json!({
            "job": job.id.to_string(),
            "kind": job.when.kind(),
            "due": due,
            "user": job.user.as_str(),
            "made_by": job.session,
            "made_by_record": job.record,
            "skipped": job.skipped,
            "missed": job.missed,
        });
        Ok(self.append(kind, job, content)?.id().to_string())
    }

    pub(super) fn append(
        &self,
        kind: &'static str,
        job: &Job,
        content: Value,
    ) -> Result<Receipt, SchedulerError> {
        let new = NewRecord {
            principal: Principal::Sys,
            taint: job.tag.as_ref().map_or(Taint::NONE, |it| it.taint),
            agent: Some(job.agent.clone()),
            ..NewRecord::of_host(RecordType::GuardDecision, Kind::of_static(kind), content)
        };
        let journal = self.journal.as_ref().ok_or(SchedulerError::NoJournal)?;
        Ok(journal.append(new)?)
    }

    pub(super) fn new_id(&self) -> Result<Uuid, SchedulerError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| self.wrong(error))?;
        Ok(Uuid::from_random(bytes))
    }

    pub(super) fn read(&self) -> Result<Book, SchedulerError> {
        read(&self.home)
    }

    pub(super) fn write(&self, book: &Book) -> Result<(), SchedulerError> {
        book.write(&self.home)
    }

    /// One at a time, of all processes.
    pub(super) fn lock(&self) -> Result<File, SchedulerError> {
        let path = self.home.join("scheduler.lock");
        let lock = || -> io::Result<File> {
            private::create_dir(&self.home)?;
            let file = private::open_with(&path, OpenOptions::new().append(true).create(true))?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|it| self.wrong(it))
    }

    pub(crate) fn unusable(&self, why: impl std::fmt::Display) -> SchedulerError {
        self.wrong(why)
    }

    pub(super) fn wrong(&self, why: impl std::fmt::Display) -> SchedulerError {
        wrong(&self.home, why)
    }
}

/// By how much a job may be late, in seconds.
fn late_max(job: &Job) -> i64 {
    let once = matches!(job.when, When::Once(_));
    if once { ONCE_LATE_SECONDS_MAX } else { LATE_SECONDS_MAX }
}

pub(super) fn is_of(job: &Job, owner: &Owner) -> bool {
    job.user == owner.user && job.agent == owner.agent
}
