//! Where the answers of a job go, and what became of each.
//!
//! INVARIANT (NothingSilent): an answer that did not get there is on record and in the book, with the reason.

use std::fmt;
use std::path::Path;

use channel::Address;
use model::UserId;
use model::ipc::DeliveryTarget;
use serde_json::{Value, json};

use super::book::{Came, Runner, Scheduler};
use super::error::SchedulerError;
use super::new_job::Owner;
use crate::channels::is_own;

const LAST: &str = "last";
/// The longest reason that is kept, in characters.
const WHY_CHARS_MAX: usize = 400;

/// Where the answers of a job go: always to its owner alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Where the owner wrote to the agent last, in a direct conversation.
    Last,
    /// A direct conversation.
    To(Address),
}

/// Something that names no direct conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an answer goes to `last`, or to one person: an address such as telegram:dm:12345")]
pub struct NoDelivery;

/// What became of an answer that was to go somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// When, in seconds since 1970.
    pub at: i64,
    /// Where it was said, or why it was not.
    pub outcome: Result<String, String>,
}

impl Delivery {
    /// Reads `last`, or the address of one person.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Self, NoDelivery> {
        if text == LAST {
            return Ok(Self::Last);
        }
        Self::to(Address::parse(text).map_err(|_| NoDelivery)?)
    }

    /// What an agent asked for.
    ///
    /// # Errors
    /// If it is not one person.
    pub fn of_target(target: &DeliveryTarget) -> Result<Self, NoDelivery> {
        match target {
            DeliveryTarget::Last => Ok(Self::Last),
            DeliveryTarget::Address(it) => Self::to(Address::of_job(it).map_err(|_| NoDelivery)?),
        }
    }

    /// One person and nothing else, so that it reads back as it prints.
    fn to(address: Address) -> Result<Self, NoDelivery> {
        let is_plain = address.person().is_some()
            && Address::parse(&address.to_string()).as_ref() == Ok(&address);
        if is_plain { Ok(Self::To(address)) } else { Err(NoDelivery) }
    }

    /// Why answers of this user's jobs could not go there, if they could not. Looked at when a job is made, and again
    /// whenever something is said.
    fn objection(&self, home: &Path, user: &UserId) -> Result<Option<&'static str>, String> {
        let settings = crate::settings(home).map_err(|it| it.to_string())?.unwrap_or_default();
        let mut set_up = settings.channels().iter().map(|(name, _)| name);
        let (is_set_up, is_theirs) = match self {
            Self::Last => (set_up.next().is_some(), true),
            Self::To(to) => {
                let is_theirs = is_own(home, user, to).map_err(|it| it.to_string())?;
                (set_up.any(|it| to.channel() == Some(it)), is_theirs)
            }
        };
        Ok(match (is_set_up, is_theirs) {
            (false, _) => Some("no such messenger is set up: see `channel_config` in config.yaml"),
            (true, false) => Some("the user is not there: see `channels` in users.yaml"),
            (true, true) => None,
        })
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str(LAST),
            Self::To(address) => address.fmt(f),
        }
    }
}

impl Handed {
    pub(super) fn to_json(&self) -> Value {
        match &self.outcome {
            Ok(to) => json!({ "at": self.at, "to": to }),
            Err(why) => json!({ "at": self.at, "why": why }),
        }
    }

    /// `None` if nobody here wrote it.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).map(|it| it.as_str().map(str::to_owned));
        let outcome = match (text("to"), text("why")) {
            (Some(to), None) => Ok(to?),
            (None, Some(why)) => Err(why?),
            (Some(_), Some(_)) | (None, None) => return None,
        };
        Some(Self { at: value.get("at")?.as_i64()?, outcome })
    }
}

impl Scheduler {
    /// INVARIANT (FailClosed): a job whose answers could not go where it says is not made.
    pub(super) fn may_deliver(
        &self,
        delivery: Option<&Delivery>,
        owner: &Owner,
    ) -> Result<(), SchedulerError> {
        let Some(delivery) = delivery else { return Ok(()) };
        let refused = |why: &str| SchedulerError::Delivery(why.to_owned());
        if self.runner() != Runner::Host {
            return Err(refused("only with `scheduler: full` does the host have answers of jobs"));
        }
        match delivery.objection(&self.home, &owner.user) {
            Ok(None) => Ok(()),
            Ok(Some(why)) => Err(refused(why)),
            Err(why) => Err(refused(&why)),
        }
    }

    /// Keeps what became of an answer, on record first.
    ///
    /// # Errors
    /// If that cannot be recorded or kept; then it counts as not delivered when the next process begins.
    pub fn handed(&self, came: &Came, mut handed: Handed) -> Result<(), SchedulerError> {
        handed.outcome =
            handed.outcome.map_err(|it| it.chars().take(WHY_CHARS_MAX).collect::<String>());
        let mut content = json!({
            "job": came.job.id.to_string(),
            "run": came.run.id.to_string(),
            "user": came.job.user.as_str(),
            "wanted": came.job.delivery.as_ref().map(Delivery::to_string),
        });
        let (kind, key, value) = match &handed.outcome {
            Ok(to) => ("job_delivered", "to", to),
            Err(why) => ("job_undelivered", "error", why),
        };
        if let Value::Object(fields) = &mut content {
            fields.insert(key.to_owned(), json!(value));
        }
        self.append(kind, &came.job, content)?;
        let _lock = self.lock()?;
        let mut book = self.read()?;
        for run in book.runs.iter_mut().filter(|it| it.id == came.run.id) {
            run.handed = Some(handed.clone());
        }
        self.write(&book)
    }
}
