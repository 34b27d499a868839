//! What the operator says about jobs, checked.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use policy::access::{HeartbeatSettings, SchedulerSettings};

/// How many jobs a user may have if nothing is said.
pub const JOBS_PER_USER_DEFAULT: u32 = 100;

/// Settings that were understood.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The time zone of jobs.
    pub zone: TimeZone,
    /// Its name.
    pub zone_name: String,
    /// When there is time for work; always if nothing is said.
    pub hours: Option<Hours>,
    /// What an agent is told every so often.
    pub heartbeat: Option<HeartbeatSettings>,
    /// How many jobs a user may have.
    pub jobs_per_user: usize,
}

/// A part of the day, by the clocks of a time zone.
#[derive(Clone, Debug)]
pub struct Hours {
    start: u16,
    end: u16,
    zone: TimeZone,
}

/// Why the settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` under `scheduler` is no time zone that is known, such as Europe/Berlin or UTC")]
pub struct UnknownZone(pub String);

/// Why a time was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no time such as 2026-02-21T19:30:00 (by the clocks of the time zone of jobs) or 2026-02-21T19:30:00Z"
)]
pub struct TimeError(String);

impl Settings {
    /// Reads the settings.
    ///
    /// # Errors
    /// If they name a time zone that is not known.
    pub fn new(raw: &SchedulerSettings) -> Result<Self, UnknownZone> {
        let zone_name = raw.timezone.clone().unwrap_or_else(|| "UTC".to_owned());
        let zone = zone(&zone_name)?;
        let hours = match &raw.active_hours {
            None => None,
            Some(it) => {
                let name = it.timezone.as_ref().unwrap_or(&zone_name);
                Some(Hours { start: it.start, end: it.end, zone: self::zone(name)? })
            }
        };
        let jobs = raw.max_jobs_per_user.unwrap_or(JOBS_PER_USER_DEFAULT);
        Ok(Self {
            zone,
            zone_name,
            hours,
            heartbeat: raw.heartbeat.clone(),
            jobs_per_user: usize::try_from(jobs).unwrap_or(usize::MAX),
        })
    }

    /// Is it time for work?
    #[must_use]
    pub fn is_active(&self, now: i64) -> bool {
        self.hours.as_ref().is_none_or(|it| it.contains(now))
    }

    /// A moment: with a `Z` or an offset, or else by the clocks of the time zone of jobs.
    ///
    /// # Errors
    /// If it is none.
    pub fn moment(&self, text: &str) -> Result<i64, TimeError> {
        let wrong = || TimeError(text.chars().take(48).flat_map(char::escape_default).collect());
        // A date alone, or a zone in brackets beside the offset, could be read in more than one way.
        if !text.contains(['T', 't', ' ']) || text.contains('[') || text.len() > 40 {
            return Err(wrong());
        }
        if let Ok(moment) = text.parse::<Timestamp>() {
            return Ok(moment.as_second());
        }
        let local: DateTime = text.parse().map_err(|_| wrong())?;
        let moment = local.to_zoned(self.zone.clone()).map_err(|_| wrong())?;
        Ok(moment.timestamp().as_second())
    }
}

impl Hours {
    /// Does it contain this moment? If it ends before it begins, it goes over midnight.
    #[must_use]
    pub fn contains(&self, now: i64) -> bool {
        let Ok(now) = Timestamp::from_second(now) else { return false };
        let time = self.zone.to_datetime(now).time();
        let minute =
            u16::try_from(i32::from(time.hour()) * 60 + i32::from(time.minute())).unwrap_or(0);
        if self.start < self.end {
            (self.start..self.end).contains(&minute)
        } else {
            minute >= self.start || minute < self.end
        }
    }
}

/// A time zone of the table that is in the program.
fn zone(name: &str) -> Result<TimeZone, UnknownZone> {
    TimeZone::get(name).map_err(|_| UnknownZone(name.to_owned()))
}
