//! A job, and a run of it that waits for its agent.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::ipc::Uuid;
use model::{AgentId, TaintTag, UserId};
use serde_json::{Value, json};
use store::{tag_from_json, tag_to_json};

use super::cron::Cron;
use super::delivery::{Delivery, Handed};

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
    /// Where its answers go; nowhere if there is none.
    pub delivery: Option<Delivery>,
    /// How many tokens its maker gives it.
    pub token_budget: Option<u64>,
    /// What the session that made it carried. Whoever is told the prompt carries it too.
    pub tag: Option<TaintTag>,
    /// When it comes next, in seconds since 1970; none if it came for the last time.
    pub next: Option<i64>,
    /// Where it was made: it has no more rights than whoever made it.
    pub made_in: MadeIn,
    /// How often it did not come because its last run still waited, or it was no time for work.
    pub skipped: u64,
    /// How often it did not come because nobody was there.
    pub missed: u64,
}

/// Where a job was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeIn {
    /// In a session that came over the network.
    pub remote: bool,
    /// In the session of sub-agents, from the first one down.
    pub sub_agents: Vec<String>,
    /// In the run of a job that may use so many tokens.
    pub tokens: Option<u64>,
}

impl MadeIn {
    /// The budget of a job that is made here: what a job schedules has no more than the job itself.
    #[must_use]
    pub fn budget(&self, asked: Option<u64>) -> Option<u64> {
        match (asked, self.tokens) {
            (Some(asked), Some(most)) => Some(asked.min(most)),
            (asked, most) => asked.or(most),
        }
    }
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
    /// How it ended, where the host has run it itself.
    pub ended: Option<RunEnd>,
    /// What became of its answer, where that was to go somewhere.
    pub handed: Option<Handed>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEnd {
    /// When, in seconds since 1970.
    pub at: i64,
    /// How.
    pub status: RunStatus,
    /// The answer, or why there is none.
    pub text: String,
    /// Tokens of all models.
    pub tokens: u64,
    /// What the text carries.
    pub tag: Option<TaintTag>,
}

/// How a run ended, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStatus {
    /// With an answer.
    Answered,
    /// With a question to a person.
    NeedsPerson,
    /// Its owner may not use the agent, or it was withheld.
    Refused,
    /// It has used all that it may.
    OverBudget,
    /// Somebody has ended it.
    Stopped,
    /// It did not work.
    Failed,
    /// Nobody knows: the process that ran it has gone.
    Lost,
}

impl RunStatus {
    const ALL: [Self; 7] = [
        Self::Answered,
        Self::NeedsPerson,
        Self::Refused,
        Self::OverBudget,
        Self::Stopped,
        Self::Failed,
        Self::Lost,
    ];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::NeedsPerson => "needs_person",
            Self::Refused => "refused",
            Self::OverBudget => "over_budget",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
            Self::Lost => "lost",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == word)
    }
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
            "delivery": self.delivery.as_ref().map(Delivery::to_string),
            "token_budget": self.token_budget,
            "tag": self.tag.as_ref().map(tag_to_json),
            "next": self.next,
            "remote": self.made_in.remote,
            "sub_agents": self.made_in.sub_agents,
            "tokens": self.made_in.tokens,
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
        let delivery = added(value, "delivery", |it| Delivery::parse(it.as_str()?).ok())?;
        let session = text("session")?.to_owned();
        Some(Self {
            made_in: made_in(value, &session)?,
            id: Uuid::parse(text("id")?)?,
            user: UserId::parse(text("user")?).ok()?,
            agent: AgentId::parse(text("agent")?).ok()?,
            session,
            record: text("record")?.to_owned(),
            created: value.get("created")?.as_i64()?,
            when,
            prompt: text("prompt")?.to_owned(),
            delivery,
            token_budget,
            tag,
            next,
            skipped: number("skipped")?,
            missed: number("missed")?,
        })
    }
}

impl Run {
    /// A run that nobody was given yet.
    pub(super) fn new(id: Uuid, job: Uuid, due: i64, record: String) -> Self {
        Self { id, job, due, record, given: None, ended: None, handed: None }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "id": self.id.to_string(),
            "job": self.job.to_string(),
            "due": self.due,
            "record": self.record,
            "given": self.given.as_ref().map(|it| json!({ "session": it.session, "at": it.at })),
            "ended": self.ended.as_ref().map(RunEnd::to_json),
            "handed": self.handed.as_ref().map(Handed::to_json),
        })
    }

    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let given = nullable(value, "given", |it| {
            let session = it.get("session")?.as_str()?.to_owned();
            Some(Given { session, at: it.get("at")?.as_i64()? })
        })?;
        // Earlier versions ran nothing, and handed nothing over.
        let ended = added(value, "ended", RunEnd::from_json)?;
        let handed = added(value, "handed", Handed::from_json)?;
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Self {
            ended,
            handed,
            id: Uuid::parse(text("id")?)?,
            job: Uuid::parse(text("job")?)?,
            due: value.get("due")?.as_i64()?,
            record: text("record")?.to_owned(),
            given,
        })
    }
}

impl RunEnd {
    fn to_json(&self) -> Value {
        json!({
            "at": self.at,
            "status": self.status.as_str(),
            "text": self.text,
            "tokens": self.tokens,
            "tag": self.tag.as_ref().map(tag_to_json),
        })
    }

    fn from_json(value: &Value) -> Option<Self> {
        Some(Self {
            at: value.get("at")?.as_i64()?,
            status: RunStatus::parse(value.get("status")?.as_str()?)?,
            text: value.get("text")?.as_str()?.to_owned(),
            tokens: value.get("tokens")?.as_u64()?,
            tag: nullable(value, "tag", tag_from_json)?,
        })
    }
}

/// Where a job was made. Jobs of earlier versions do not say it: of those that an agent made the worst is believed.
fn made_in(value: &Value, session: &str) -> Option<MadeIn> {
    let Some(remote) = value.get("remote") else {
        return Some(MadeIn { remote: !session.is_empty(), ..MadeIn::default() });
    };
    let names = value.get("sub_agents")?.as_array()?.iter();
    Some(MadeIn {
        remote: remote.as_bool()?,
        sub_agents: names.map(|it| it.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        tokens: nullable(value, "tokens", Value::as_u64)?,
    })
}

/// What is `null` is none; what is not there, or not to be read, was not written here.
fn nullable<T>(value: &Value, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    let found = value.get(key)?;
    if found.is_null() { Some(None) } else { read(found).map(Some) }
}

/// The same for what earlier versions did not write.
fn added<T>(value: &Value, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    if value.get(key).is_none() { Some(None) } else { nullable(value, key, read) }
}
