//! When a job comes: five fields, as cron has them, strictly read.
//!
//! A field is `*`, a number, a range `1-5`, a list `1,2,8-10`, or one of the first and third with a step,
//! `*/15`, `8-18/2`. Days of the week are 0 to 7, and both 0 and 7 are Sunday. If the day of the month and
//! the day of the week are both given, a day is meant that is either, as in every cron. There are no
//! names, no `@daily`, no seconds.
//!
//! What would never come is refused when it is added, and so is everything that would take long.

use std::fmt;

use jiff::civil::{Date, DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

/// How far ahead the next time is looked for, in days: the 29th of February comes at least every eight
/// years.
const DAYS_AHEAD_MAX: usize = 366 * 8 + 2;
/// How long a jump of the clock may be that skips times of jobs, in minutes: a day and a bit.
const JUMP_MINUTES_MAX: i64 = 26 * 60;

/// A schedule that comes again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    every_hour: bool,
    every_day: bool,
    every_weekday: bool,
}

/// Why a schedule was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no schedule: {why}")]
pub struct CronError {
    text: String,
    why: String,
}

struct Field {
    name: &'static str,
    min: u32,
    max: u32,
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", min: 0, max: 59 },
    Field { name: "hour", min: 0, max: 23 },
    Field { name: "day of the month", min: 1, max: 31 },
    Field { name: "month", min: 1, max: 12 },
    Field { name: "day of the week", min: 0, max: 7 },
];

impl Cron {
    /// Reads a schedule.
    ///
    /// # Errors
    /// If it is none, or would never come.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        let wrong = |why: String| CronError { text: shown(text), why };
        let parts: Vec<&str> = text.split(' ').filter(|it| !it.is_empty()).collect();
        let five: [&str; 5] = parts.try_into().map_err(|parts: Vec<&str>| {
            wrong(format!("it has {} fields, and five are wanted: minute, hour, day of the month, month, day of the week", parts.len()))
        })?;
        let mut sets = [0_u64; 5];
        for ((set, part), field) in sets.iter_mut().zip(five).zip(&FIELDS) {
            *set = bits(part, field.min, field.max)
                .map_err(|why| wrong(format!("{}: {why}", field.name)))?;
        }
        let [minutes, hours, days, months, weekdays] = sets;
        let [_, hour, day, _, weekday] = five.map(|it| it.starts_with('*'));
        let cron = Self {
            text: five.join(" "),
            minutes,
            hours,
            days,
            months,
            // Seven is Sunday too.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            every_hour: hour,
            every_day: day,
            every_weekday: weekday,
        };
        if !cron.can_come() {
            return Err(wrong("there is no such day".to_owned()));
        }
        Ok(cron)
    }

    /// The schedule, as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Is this minute meant?
    #[must_use]
    pub fn matches(&self, at: DateTime) -> bool {
        self.is_day(at.date()) && self.is_time(at)
    }

    /// The first time after `after` that is meant, by the clocks of `zone`.
    ///
    /// A time that is skipped when clocks go forward comes at the first minute after the jump. One that
    /// is there twice when clocks go back comes once, the first time, unless the job comes every hour.
    #[must_use]
    pub fn next_after(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        let minute = after.as_second().div_euclid(60).checked_add(1)?;
        let mut at = Timestamp::from_second(minute.checked_mul(60)?).ok()?;
        let mut days = 0;
        loop {
            let here = zone.to_datetime(at);
            if self.was_skipped(at, here, zone) {
                return Some(at);
            }
            if !self.is_day(here.date()) {
                days += 1;
                if days > DAYS_AHEAD_MAX {
                    return None;
                }
                let next = here.date().tomorrow().ok()?;
                at = next.to_zoned(zone.clone()).ok()?.timestamp();
                continue;
            }
            if self.is_time(here) && (self.every_hour || !is_second(at, here, zone)) {
                return Some(at);
            }
            at = at.checked_add(1.minute()).ok()?;
        }
    }

    fn is_time(&self, at: DateTime) -> bool {
        has(self.minutes, at.minute()) && has(self.hours, at.hour())
    }

    fn is_day(&self, date: Date) -> bool {
        let day = has(self.days, date.day());
        let weekday = has(self.weekdays, weekday(date.weekday()));
        let fits = match (self.every_day, self.every_weekday) {
            (false, false) => day || weekday,
            (true, _) | (_, true) => day && weekday,
        };
        fits && has(self.months, date.month())
    }

    /// Did clocks jump to this minute over one that was meant?
    fn was_skipped(&self, at: Timestamp, here: DateTime, zone: &TimeZone) -> bool {
        let Ok(before) = at.checked_sub(1.minute()) else { return false };
        let mut skipped = zone.to_datetime(before);
        for _ in 0..JUMP_MINUTES_MAX {
            let Ok(next) = skipped.checked_add(1.minute()) else { return false };
            if next >= here {
                return false;
            }
            if self.matches(next) {
                return true;
            }
            skipped = next;
        }
        false
    }

    fn can_come(&self) -> bool {
        const LENGTHS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        // A weekday comes in every month.
        let by_weekday = !self.every_day && !self.every_weekday;
        let by_day = (1..).zip(LENGTHS).any(|(month, length)| {
            self.months >> month & 1 == 1 && (1..=length).any(|day| self.days >> day & 1 == 1)
        });
        by_weekday || by_day
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Are clocks at this time for the second time today?
fn is_second(at: Timestamp, here: DateTime, zone: &TimeZone) -> bool {
    let first = zone.to_ambiguous_timestamp(here).earlier();
    first.is_ok_and(|first| first < at)
}

fn has(set: u64, number: i8) -> bool {
    u32::try_from(number).is_ok_and(|it| set >> it & 1 == 1)
}

fn weekday(day: Weekday) -> i8 {
    day.to_sunday_zero_offset()
}

/// The numbers of a field, each as a bit.
pub(super) fn bits(field: &str, min: u32, max: u32) -> Result<u64, String> {
    let mut set = 0;
    for part in field.split(',') {
        let (range, step) = match part.split_once('/') {
            None => (part, None),
            Some((range, step)) => (range, Some(number(step, 1, max)?)),
        };
        let (from, to) = match (range, range.split_once('-')) {
            ("*", _) => (min, max),
            (_, Some((from, to))) => (number(from, min, max)?, number(to, min, max)?),
            (_, None) if step.is_some() => {
                return Err(format!("`{}`: a step needs `*` or a range", shown(part)));
            }
            (_, None) => {
                let one = number(range, min, max)?;
                (one, one)
            }
        };
        if from > to {
            return Err(format!("`{}` is no range", shown(part)));
        }
        let step = usize::try_from(step.unwrap_or(1)).unwrap_or(1);
        for number in (from..=to).step_by(step) {
            set |= 1 << number;
        }
    }
    Ok(set)
}

fn number(text: &str, min: u32, max: u32) -> Result<u32, String> {
    let digits = (1..=2).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    let found = text.parse::<u32>().ok().filter(|_| digits);
    found
        .filter(|it| (min..=max).contains(it))
        .ok_or_else(|| format!("`{}` is no number from {min} to {max}", shown(text)))
}

fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(48).flat_map(char::escape_default).collect();
    if text.chars().nth(48).is_some() {
        shown.push('…');
    }
    shown
}
