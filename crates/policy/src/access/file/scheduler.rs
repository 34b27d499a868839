//! Work at set times: `config.yaml`, the part under `scheduler`.

use model::{AgentId, UserId};
use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::scalar::{AgentName, Label, Number, UserName, text};

/// When jobs come, and what the host does of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SchedulerSettings {
    /// The time zone of jobs, such as `Europe/Berlin`; UTC if nothing is said.
    #[serde(default, deserialize_with = "zone")]
    pub timezone: Option<String>,
    /// Jobs come between these times only.
    #[serde(default)]
    pub active_hours: Option<HoursSettings>,
    /// What an agent is told every so often.
    #[serde(default)]
    pub heartbeat: Option<HeartbeatSettings>,
    /// How many jobs a user may have.
    #[serde(default, deserialize_with = "jobs")]
    pub max_jobs_per_user: Option<u32>,
}

/// A part of the day. It may go over midnight.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, try_from = "RawHours")]
pub struct HoursSettings {
    /// When it begins, in minutes after midnight.
    pub start: u16,
    /// When it ends.
    pub end: u16,
    /// By which clocks; those of jobs if nothing is said.
    pub timezone: Option<String>,
}

/// What an agent is told every so often.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawHeartbeat")]
pub struct HeartbeatSettings {
    /// How often, in minutes.
    pub every_minutes: u32,
    /// For whom.
    pub user: UserId,
    /// Which agent.
    pub agent: AgentId,
    /// What.
    pub prompt: String,
}

/// The most jobs that a user may be given.
pub const JOBS_PER_USER_MAX: u32 = 1000;
/// The longest time between two heartbeats, in minutes: a week.
const HEARTBEAT_MINUTES_MAX: u32 = 7 * 24 * 60;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawHours {
    #[serde(deserialize_with = "clock")]
    start: u16,
    #[serde(deserialize_with = "clock")]
    end: u16,
    #[serde(default, deserialize_with = "zone")]
    timezone: Option<String>,
}

impl TryFrom<RawHours> for HoursSettings {
    type Error = String;

    fn try_from(raw: RawHours) -> Result<Self, String> {
        let RawHours { start, end, timezone } = raw;
        if start == end {
            return Err(
                "`activeHours` begin when they end: leave them out for the whole day".to_owned()
            );
        }
        Ok(Self { start, end, timezone })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawHeartbeat {
    every_minutes: Number,
    user: UserName,
    agent: AgentName,
    prompt: Label,
}

impl TryFrom<RawHeartbeat> for HeartbeatSettings {
    type Error = String;

    fn try_from(raw: RawHeartbeat) -> Result<Self, String> {
        let every_minutes = whole(raw.every_minutes, HEARTBEAT_MINUTES_MAX)?;
        Ok(Self { every_minutes, user: raw.user.0, agent: raw.agent.0, prompt: raw.prompt.0 })
    }
}

fn whole(Number(number): Number, most: u32) -> Result<u32, String> {
    let whole = number as u32;
    let fits = f64::from(whole) == number && (1..=most).contains(&whole);
    fits.then_some(whole).ok_or_else(|| format!("`{number}` is no whole number from 1 to {most}"))
}

fn jobs<'de, D: Deserializer<'de>>(input: D) -> Result<Option<u32>, D::Error> {
    whole(Number::deserialize(input)?, JOBS_PER_USER_MAX).map(Some).map_err(D::Error::custom)
}

/// `HH:MM`, a time that clocks show.
fn clock<'de, D: Deserializer<'de>>(input: D) -> Result<u16, D::Error> {
    text(input, |it| {
        let two = |it: &str| {
            (it.len() == 2 && it.bytes().all(|it| it.is_ascii_digit()))
                .then(|| it.parse::<u16>().ok())?
        };
        let time = it.split_once(':').and_then(|(hour, minute)| Some((two(hour)?, two(minute)?)));
        let time = time.filter(|(hour, minute)| *hour < 24 && *minute < 60);
        time.map(|(hour, minute)| hour * 60 + minute).ok_or_else(|| {
            format!("`{}` is no time from \"00:00\" to \"23:59\"", it.escape_debug())
        })
    })
}

/// The name of a time zone. Whether there is one of that name, the host knows.
fn zone<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    text(input, |it| {
        let plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'/' | b'_' | b'-' | b'+');
        if (1..=64).contains(&it.len()) && it.bytes().all(plain) {
            return Ok(Some(it.to_owned()));
        }
        Err(format!("`{}` is no name of a time zone, such as Europe/Berlin", it.escape_debug()))
    })
}
