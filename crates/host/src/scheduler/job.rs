//! A job, and a run of it that waits for its agent.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::ipc::Uuid;
use model::{AgentId, TaintTag, UserId};
use serde_json::{Value, json};
use store::{tag_from_json, tag_to_json};

use super::cron::Cron;

/// Something that an agent is to be told later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub id: Uuid,
    /// For whom it was made: it runs for this user and nobody else.
    pub user: UserId,
    /// The agent that is told.
    pub agent: AgentId,
    /// The session that made it; empty if a person did.
    pub session: String,
    /// The record by which it was made, as hex.
    pub record: String,
    /// When it was made, in seconds since 1970.
    pub created: i64,
    /// When it comes.
    pub when: When,
    /// What the agent is told.
    pub prompt: String,
    /// How many tokens its maker gives it.
    pub token_budget: Option<u64>,
    /// What the session that made it carried. Whoever is told the prompt carries it too.
    pub tag: Option<TaintTag>,
    /// When it comes next, in seconds since 1970; none if it came for the last time.
    pub next: Option<i64>,
    /// How often it did not come because its last run still waited, or it was no time for work.
    pub skipped: u64,
    /// How often it did not come because nobody was there.
    pub missed: u64,
}

/// When a job comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// Again and again, by the clocks of a time zone.
    Cron {
        /// The schedule.
        cron: Cron,
        /// The time zone.
        zone: String,
    },
    /// Once, in seconds since 1970.
    Once(i64),
    /// Every so many seconds: the host's own.
    Heartbeat {
        /// How many.
        seconds: i64,
    },
}

impl When {
    /// The word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Cron { .. } => "cron",
            Self::Once(_) => "once",
            Self::Heartbeat { .. } => "heartbeat",
        }
    }

    /// The next time after `now`.
    #[must_use]
    pub fn next_after(&self, now: i64) -> Option<i64> {
        match self {
            Self::Cron { cron, zone } => {
                let zone = TimeZone::get(zone).ok()?;
                let next = cron.next_after(Timestamp::from_second(now).ok()?, &zone);
                next.map(Timestamp::as_second)
            }
            Self::Once(at) => (*at > now).then_some(*at),
            Self::Heartbeat { seconds } => now.checked_add(*seconds),
        }
    }
}

/// A run that waits for its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its name.
    pub id: Uuid,
    /// Its job.
    pub job: Uuid,
    /// When it should have come, in seconds since 1970.
    pub due: i64,
    /// Its record, as hex.
    pub record: String,
    /// To whom it was given; nobody yet if there is none.
    pub given: Option<Given>,
}

/// To whom a run was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The session.
    pub session: String,
    /// When, in seconds since 1970.
    pub at: i64,
}

impl Job {
    pub(super) fn to_json(&self) -> Value {
        let when = match &self.when {
            When::Cron { cron, zone } => json!({ "cron": cron.as_str(), "zone": zone }),
            When::Once(at) => json!({ "once": at }),
            When::Heartbeat { seconds } => json!({ "heartbeat": seconds }),
        };
        json!({
            "id": self.id.to_string(),
            "user": self.user.as_str(),
            "agent": self.agent.as_str(),
            "session": self.session,
            "record": self.record,
            "created": self.created,
            "when": when,
            "prompt": self.prompt,
            "token_budget": self.token_budget,
            "tag": self.tag.as_ref().map(tag_to_json),
            "next": self.next,
            "skipped": self.skipped,
            "missed": self.missed,
        })
    }

    /// `None` if nobody here wrote it.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let when = value.get("when")?;
        let when = match (when.get("cron"), when.get("once"), when.get("heartbeat")) {
            (Some(cron), None, None) => {
                let zone = when.get("zone")?.as_str()?.to_owned();
                When::Cron { cron: Cron::parse(cron.as_str()?).ok()?, zone }
            }
            (None, Some(at), None) => When::Once(at.as_i64()?),
            (None, None, Some(it)) => {
                When::Heartbeat { seconds: it.as_i64().filter(|it| *it > 0)? }
            }
            _ => return None,
        };
        let tag = nullable(value, "tag", tag_from_json)?;
        let next = nullable(value, "next", Value::as_i64)?;
        let token_budget = nullable(value, "token_budget", Value::as_u64)?;
        Some(Self {
            id: Uuid::parse(text("id")?)?,
            user: UserId::parse(text("user")?).ok()?,
            agent: AgentId::parse(text("agent")?).ok()?,
            session: text("session")?.to_owned(),
            record: text("record")?.to_owned(),
            created: value.get("created")?.as_i64()?,
            when,
            prompt: text("prompt")?.to_owned(),
            token_budget,
            tag,
            next,
            skipped: number("skipped")?,
            missed: number("missed")?,
        })
    }
}

impl Run {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "id": self.id.to_string(),
            "job": self.job.to_string(),
            "due": self.due,
            "record": self.record,
            "given": self.given.as_ref().map(|it| json!({ "session": it.session, "at": it.at })),
        })
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let given = nullable(value, "given", |it| {
            let session = it.get("session")?.as_str()?.to_owned();
            Some(Given { session, at: it.get("at")?.as_i64()? })
        })?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Self {
            id: Uuid::parse(text("id")?)?,
            job: Uuid::parse(text("job")?)?,
            due: value.get("due")?.as_i64()?,
            record: text("record")?.to_owned(),
            given,
        })
    }
}

/// What is `null` is none; what is not there, or not to be read, was not written here.
fn nullable<T>(value: &Value, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    let found = value.get(key)?;
    if found.is_null() { Some(None) } else { read(found).map(Some) }
}
