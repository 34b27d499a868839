//! What becomes of jobs: they are made, come, wait, and are removed.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aegx::{Principal, RecordType};
use evidence::{Journal, NewRecord};
use files::private;
use model::ipc::Uuid;
use model::{AgentId, Kind, Taint, TaintTag, UserId};
use serde_json::json;

use super::error::SchedulerError;
use super::job::{Given, Job, Run, When};
use super::kept::{Book, read, wrong};
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
    home: PathBuf,
    settings: Settings,
    /// None where a person changes jobs and has recorded it: then nothing comes due.
    journal: Option<Arc<Journal>>,
}

/// Whose jobs are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub user: UserId,
    /// The agent.
    pub agent: AgentId,
}

/// A job that is to be made.
#[derive(Clone, Debug)]
pub struct NewJob {
    /// For whom.
    pub owner: Owner,
    /// In which session; empty if a person makes it.
    pub session: String,
    /// The record of the decision, as hex.
    pub record: String,
    /// What its maker carries.
    pub tag: Option<TaintTag>,
    /// What the agent is told.
    pub prompt: String,
    /// How many tokens it gets.
    pub token_budget: Option<u64>,
    /// When it comes.
    pub when: When,
}

/// A job that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its name.
    pub id: Uuid,
    /// When it comes first.
    pub next: i64,
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
    Came(Came),
    /// Nobody has asked for its last run yet, or it is no time for work.
    Skipped(Job),
    /// Nobody was there when it was due, for too long.
    Missed(Job),
}

impl Scheduler {
    /// The one of the state directory `home`.
    #[must_use]
    pub fn new(home: &Path, settings: Settings, journal: Arc<Journal>) -> Self {
        Self { home: home.to_owned(), settings, journal: Some(journal) }
    }

    /// The same for a person whose word was recorded: jobs are made and removed, and nothing comes due.
    #[must_use]
    pub fn of_person(home: &Path, settings: Settings) -> Self {
        Self { home: home.to_owned(), settings, journal: None }
    }

    /// What the operator said.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Makes a job.
    ///
    /// # Errors
    /// If it would never come, there are too many, or it cannot be kept.
    pub fn add(&self, new: NewJob, now: i64) -> Result<Added, SchedulerError> {
        if new.prompt.trim().is_empty() || new.prompt.len() > PROMPT_BYTES_MAX {
            return Err(SchedulerError::Prompt);
        }
        let next =
            new.when.next_after(now).filter(|it| it.saturating_sub(now) <= AHEAD_SECONDS_MAX * 2);
        let next =
            next.filter(|it| !matches!(new.when, When::Once(_)) || it - now <= AHEAD_SECONDS_MAX);
        let next = next.ok_or(SchedulerError::Never)?;
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
            token_budget: new.token_budget,
            tag: new.tag,
            next: Some(next),
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
        book.runs.retain(|it| !is_old(it));
        let mut outcomes = Vec::new();
        let mut jobs = std::mem::take(&mut book.jobs);
        for job in &mut jobs {
            let Some(due) = job.next.filter(|it| *it <= now) else { continue };
            let waits = book.runs.iter().any(|it| it.job == job.id && it.given.is_none());
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
        let most = if once { ONCE_LATE_SECONDS_MAX } else { LATE_SECONDS_MAX };
        if late > most {
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
        let run = Run { id: self.new_id()?, job: job.id, due, record, given: None };
        Ok(Some(Outcome::Came(Came { run, job: job.clone() })))
    }

    /// The heartbeat is a job like any other, made from the settings.
    fn keep_heartbeat(&self, book: &mut Book, now: i64) -> Result<(), SchedulerError> {
        let wanted = self.settings.heartbeat.as_ref();
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
            token_budget: None,
            tag: None,
            skipped: 0,
            missed: 0,
        });
        self.write(book)
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
        let new = NewRecord {
            principal: Principal::Sys,
            taint: job.tag.as_ref().map_or(Taint::NONE, |it| it.taint),
            agent: Some(job.agent.clone()),
            ..NewRecord::of_host(RecordType::GuardDecision, Kind::of_static(kind), content)
        };
        let journal = self.journal.as_ref().ok_or(SchedulerError::NoJournal)?;
        Ok(journal.append(new)?.id().to_string())
    }

    fn new_id(&self) -> Result<Uuid, SchedulerError> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| self.wrong(error))?;
        Ok(Uuid::from_random(bytes))
    }

    fn read(&self) -> Result<Book, SchedulerError> {
        read(&self.home)
    }

    fn write(&self, book: &Book) -> Result<(), SchedulerError> {
        book.write(&self.home)
    }

    /// One at a time, of all processes.
    fn lock(&self) -> Result<File, SchedulerError> {
        let path = self.home.join("scheduler.lock");
        let lock = || -> io::Result<File> {
            private::create_dir(&self.home)?;
            let file = private::open_with(&path, OpenOptions::new().append(true).create(true))?;
            file.lock()?;
            Ok(file)
        };
        lock().map_err(|it| self.wrong(it))
    }

    fn wrong(&self, why: impl std::fmt::Display) -> SchedulerError {
        wrong(&self.home, why)
    }
}

pub(super) fn is_of(job: &Job, owner: &Owner) -> bool {
    job.user == owner.user && job.agent == owner.agent
}
