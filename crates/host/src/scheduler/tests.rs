//! Schedules and time zones.

mod jobs;
mod runs;

use std::path::Path;

use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use policy::access::Global;
use serde_json::Value;

use super::cron::bits;
use super::{Cron, Settings, UnknownZone};

/// 2026-01-01T00:00:00Z, a Thursday.
const NEW_YEAR: i64 = 1_767_225_600;

fn corpus(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/scheduler").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn settings(yaml: &str) -> Result<Settings, UnknownZone> {
    let text = format!("scheduler:\n{yaml}");
    Settings::new(Global::parse(&text).unwrap().scheduler())
}

fn at(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap().as_second()
}

fn next(schedule: &str, zone: &str, after: &str) -> String {
    let zone = TimeZone::get(zone).unwrap();
    let next = Cron::parse(schedule).unwrap().next_after(after.parse().unwrap(), &zone);
    next.unwrap().to_string()
}

#[test]
fn every_recorded_schedule_and_field_means_what_it_meant() {
    for case in corpus("cron.json") {
        let (name, input) = (&case["name"], &case["input"]);
        if let Some(field) = input["field"].as_str() {
            let number = |key: &str| u32::try_from(input[key].as_u64().unwrap()).unwrap();
            let set = bits(field, number("min"), number("max")).unwrap();
            let found: Vec<u64> = (0..64).filter(|it| set >> it & 1 == 1).collect();
            assert_eq!(serde_json::json!(found), case["expected"], "{name}");
            continue;
        }
        let local = |key: &str| i8::try_from(input["local"][key].as_i64().unwrap()).unwrap();
        let year = i16::try_from(input["local"]["y"].as_i64().unwrap()).unwrap();
        let moment = date(year, local("mo"), local("d")).at(local("h"), local("mi"), 0, 0);
        let schedule = input["schedule"].as_str().unwrap();
        let found = Cron::parse(schedule).is_ok_and(|it| it.matches(moment));
        assert_eq!(found, case["expected"], "{name}");
    }
}

#[test]
fn every_schedule_that_would_never_come_or_hang_the_host_is_refused_when_it_is_added() {
    for case in corpus("cron_required.json") {
        let expected = case["expected"].as_str().unwrap();
        if let Some(schedule) = case["input"]["schedule"].as_str() {
            let read = Cron::parse(schedule);
            let good = expected.starts_with("accept") || expected.starts_with("documented");
            assert_eq!(read.is_ok(), good, "{schedule:?}: {read:?}");
            if let Ok(cron) = read {
                let after = Timestamp::from_second(NEW_YEAR).unwrap();
                assert!(cron.next_after(after, &TimeZone::UTC).is_some(), "{schedule}");
            }
        } else if let Some(hours) = case["input"].get("active_hours") {
            let text = |key: &str| hours[key].as_str().unwrap().to_owned();
            let yaml = format!(
                "scheduler:\n  activeHours:\n    start: \"{}\"\n    end: \"{}\"\n    timezone: {}\n",
                text("start"),
                text("end"),
                text("timezone"),
            );
            let read = Global::parse(&yaml).map_err(|it| it.to_string());
            let read =
                read.and_then(|it| Settings::new(it.scheduler()).map_err(|it| it.to_string()));
            assert!(read.is_err(), "{yaml}");
        } else if let Some(moment) = case["input"].get("run_at") {
            let zone = case["input"]["timezone"].as_str().unwrap();
            let settings = settings(&format!("  timezone: {zone}\n")).unwrap();
            let found = settings.moment(moment.as_str().unwrap()).unwrap();
            assert_eq!(found, at("2026-02-21T19:30:00-05:00"));
        } else {
            assert!(case["input"]["jobs"].is_u64(), "{case}");
        }
    }
    for bad in [
        "* * * * * *",
        "*\t* * * *",
        "* * * * *\n",
        "\u{a0}* * * * *",
        "5/15 * * * *",
        "5- * * * *",
        "-",
        "1-2-3 * * * *",
        "*/60 * * * *",
        "7-3 * * * *",
        "00001 * * * *",
        "+5 * * * *",
        "MON * * * *",
        "@daily",
        "0 0 31 4,6,9,11 *",
        "",
        "*/99999999999999999999 * * * *",
        "*,*/0 * * * *",
        "**/2 * * * *",
        "* * * * 0-8",
        "1.5 * * * *",
    ] {
        assert!(Cron::parse(bad).is_err(), "{bad:?}");
    }
    let error = Cron::parse("61 * * * *").unwrap_err().to_string();
    assert_eq!(error, "`61 * * * *` is no schedule: minute: `61` is no number from 0 to 59");
}

#[test]
fn the_next_time_is_by_the_clocks_of_the_zone() {
    let berlin = "Europe/Berlin";
    assert_eq!(next("0 9 * * *", berlin, "2026-01-01T00:00:00Z"), "2026-01-01T08:00:00Z");
    assert_eq!(next("0 9 * * *", berlin, "2026-07-01T00:00:00Z"), "2026-07-01T07:00:00Z");
    assert_eq!(next("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z"), "2028-02-29T00:00:00Z");
    assert_eq!(next("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z"), "2104-02-29T00:00:00Z");
    assert_eq!(next("0 0 * * 7", "UTC", "2026-01-01T00:00:00Z"), "2026-01-04T00:00:00Z");
    // The thirteenth, or a Friday.
    assert_eq!(next("0 0 13 * 5", "UTC", "2026-01-01T00:00:00Z"), "2026-01-02T00:00:00Z");
    assert_eq!(next("0 0 13 * 5", "UTC", "2026-01-10T00:00:00Z"), "2026-01-13T00:00:00Z");
    // Clocks go from 02:00 to 03:00: what was meant for between comes at 03:00, once.
    assert_eq!(next("30 2 * * *", berlin, "2026-03-28T12:00:00Z"), "2026-03-29T01:00:00Z");
    assert_eq!(next("30 2 * * *", berlin, "2026-03-29T01:00:00Z"), "2026-03-30T00:30:00Z");
    assert_eq!(next("*/30 * * * *", berlin, "2026-03-29T00:30:00Z"), "2026-03-29T01:00:00Z");
    assert_eq!(next("*/30 * * * *", berlin, "2026-03-29T01:00:00Z"), "2026-03-29T01:30:00Z");
    // Clocks go from 03:00 back to 02:00: 02:30 is there twice and comes once, every half hour does not stop.
    assert_eq!(next("30 2 * * *", berlin, "2026-10-24T12:00:00Z"), "2026-10-25T00:30:00Z");
    assert_eq!(next("30 2 * * *", berlin, "2026-10-25T00:30:00Z"), "2026-10-26T01:30:00Z");
    assert_eq!(next("*/30 * * * *", berlin, "2026-10-25T00:30:00Z"), "2026-10-25T01:00:00Z");
    // Midnight that is not there, and a whole day that is not.
    assert_eq!(
        next("0 0 * * *", "America/Santiago", "2026-09-05T12:00:00Z"),
        "2026-09-06T04:00:00Z"
    );
    assert_eq!(
        next("0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z"),
        "2011-12-30T10:00:00Z"
    );
}

#[test]
fn hours_for_work_go_over_midnight_and_days_change_with_the_zone() {
    let night = settings("  activeHours:\n    start: \"22:00\"\n    end: \"06:00\"\n").unwrap();
    for (time, active) in [
        ("21:59", false),
        ("22:00", true),
        ("00:00", true),
        ("05:59", true),
        ("06:00", false),
        ("12:00", false),
    ] {
        assert_eq!(night.is_active(at(&format!("2026-01-01T{time}:00Z"))), active, "{time}");
    }
    let tokyo = "  timezone: UTC\n  activeHours:\n    start: \"08:00\"\n    end: \"09:00\"\n    timezone: Asia/Tokyo\n";
    let tokyo = settings(tokyo).unwrap();
    assert!(
        tokyo.is_active(at("2026-01-01T23:30:00Z")) && !tokyo.is_active(at("2026-01-01T08:30:00Z"))
    );
    assert_eq!(
        settings("  timezone: Mars/Base\n").err(),
        Some(UnknownZone("Mars/Base".to_owned()))
    );
    let settings = settings("  timezone: Europe/Berlin\n").unwrap();
    for bad in [
        "",
        "tomorrow",
        "2026-01-01",
        "2026-13-01T00:00:00",
        "2026-01-01T25:00:00",
        "2026-01-01T00:00:00[Asia/Tokyo]",
        "1767225600",
    ] {
        assert!(settings.moment(bad).is_err(), "{bad}");
    }
    assert_eq!(settings.moment("2026-01-01T01:00:00").unwrap(), NEW_YEAR);
    assert_eq!(settings.moment("2026-01-01T00:00:00Z").unwrap(), NEW_YEAR);
}
