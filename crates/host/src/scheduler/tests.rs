//! Schedules, time zones, and what becomes of jobs that are late, overlap, or belong to somebody else.

use std::path::Path;
use std::sync::Arc;

use evidence::{Config, Durability, Filter, Index, Journal, Reader};
use jiff::Timestamp;
use jiff::civil::date;
use jiff::tz::TimeZone;
use model::{AgentId, Source, Taint, TaintTag, UserId};
use policy::access::Global;
use serde_json::Value;

use super::cron::bits;
use super::{Cron, NewJob, Outcome, Owner, Scheduler, SchedulerError, Settings, UnknownZone, When};

const HOUR: i64 = 3600;
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

struct House {
    dir: tempfile::TempDir,
    journal: Arc<Journal>,
}

impl House {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::new(dir.path().join("evidence"));
        config.durability = Durability::DangerouslyUnsynced;
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        Self { dir, journal }
    }

    fn scheduler(&self, yaml: &str) -> Scheduler {
        Scheduler::new(self.dir.path(), settings(yaml).unwrap(), Arc::clone(&self.journal))
    }

    fn records(&self, kind: &str) -> usize {
        self.journal.checkpoint().unwrap();
        let reader = Reader::open(&self.dir.path().join("evidence")).unwrap();
        let index = Index::open(&reader, &mut |_| ()).unwrap();
        let mut count = 0;
        let kind = Some(model::Kind::parse(kind).unwrap());
        let filter = Filter { kind, ..Filter::default() };
        index
            .query(&filter, &mut |_| {
                count += 1;
                true
            })
            .unwrap();
        count
    }
}

fn owner(user: &str) -> Owner {
    Owner { user: UserId::parse(user).unwrap(), agent: AgentId::parse("main").unwrap() }
}

fn new(user: &str, when: When) -> NewJob {
    NewJob {
        owner: owner(user),
        session: "s".to_owned(),
        record: String::new(),
        tag: None,
        prompt: "look at the mail".to_owned(),
        token_budget: None,
        when,
    }
}

fn cron(schedule: &str) -> When {
    When::Cron { cron: Cron::parse(schedule).unwrap(), zone: "UTC".to_owned() }
}

fn page() -> TaintTag {
    TaintTag {
        source: Source::Web,
        taint: Taint::UNTRUSTED.union(Taint::WEB_DERIVED),
        origin: "https://news.example/7".to_owned(),
        unix_seconds: 7,
        record: "ab".repeat(32),
    }
}

#[test]
fn a_job_comes_once_per_time_for_its_maker_with_its_taint_also_after_a_restart() {
    let house = House::new();
    let scheduler = house.scheduler("  timezone: UTC\n");
    let made = NewJob { tag: Some(page()), ..new("alice", cron("0 * * * *")) };
    let added = scheduler.add(made, NEW_YEAR).unwrap();
    assert_eq!(added.next, NEW_YEAR + HOUR);
    assert_eq!(scheduler.tick(NEW_YEAR + HOUR - 1).unwrap(), []);
    let came = scheduler.tick(NEW_YEAR + HOUR).unwrap();
    assert!(
        matches!(came.as_slice(), [Outcome::Came(it)] if it.job.tag == Some(page())),
        "{came:?}"
    );
    assert_eq!(scheduler.tick(NEW_YEAR + HOUR + 1).unwrap(), [], "once");
    drop(scheduler);
    let scheduler = house.scheduler("  timezone: UTC\n");
    let waiting = scheduler.waiting(Some(&owner("alice"))).unwrap();
    assert_eq!(waiting[0].job.tag, Some(page()));
    assert_eq!(scheduler.waiting(Some(&owner("bob"))).unwrap(), []);
    assert_eq!(scheduler.jobs(Some(&owner("bob"))).unwrap(), []);
    let run = waiting[0].run.id.to_string();
    for id in [&run, &added.id.to_string(), "x", "", "../.."] {
        assert!(matches!(
            scheduler.remove(id, Some(&owner("bob"))),
            Err(SchedulerError::NotFound(_))
        ));
    }
    scheduler.remove(&run, Some(&owner("alice"))).unwrap();
    assert_eq!(scheduler.waiting(None).unwrap(), []);
    assert_eq!(scheduler.jobs(None).unwrap().len(), 1, "the job stays");
    scheduler.remove(&added.id.to_string(), Some(&owner("alice"))).unwrap();
    assert_eq!(scheduler.jobs(None).unwrap(), []);
    assert_eq!(house.records("job_due"), 1);
}

#[test]
fn what_overlaps_is_skipped_and_what_is_long_past_is_missed() {
    let house = House::new();
    let scheduler = house.scheduler("  timezone: UTC\n");
    scheduler.add(new("alice", cron("*/10 * * * *")), NEW_YEAR).unwrap();
    assert!(matches!(scheduler.tick(NEW_YEAR + 600).unwrap()[..], [Outcome::Came(_)]));
    assert!(
        matches!(scheduler.tick(NEW_YEAR + 1200).unwrap()[..], [Outcome::Skipped(_)]),
        "it still waits"
    );
    let run = scheduler.waiting(None).unwrap()[0].run.id.to_string();
    scheduler.remove(&run, None).unwrap();
    // Half an hour late, three times over: it comes once.
    let late = scheduler.tick(NEW_YEAR + 1800 + 1799).unwrap();
    assert!(matches!(&late[..], [Outcome::Came(it)] if it.run.due == NEW_YEAR + 1800), "{late:?}");
    let run = scheduler.waiting(None).unwrap()[0].run.id.to_string();
    scheduler.remove(&run, None).unwrap();
    // A day late: that was then.
    assert!(matches!(scheduler.tick(NEW_YEAR + 86_400).unwrap()[..], [Outcome::Missed(_)]));
    let job = scheduler.jobs(None).unwrap().remove(0);
    assert_eq!((job.skipped, job.missed, job.next), (1, 1, Some(NEW_YEAR + 86_400 + 600)));
    assert_eq!((house.records("job_skipped"), house.records("job_missed")), (1, 1));
}

#[test]
fn a_run_is_given_to_one_session_which_may_ask_again() {
    let house = House::new();
    let scheduler = house.scheduler("  timezone: UTC\n");
    scheduler.add(new("alice", cron("0 * * * *")), NEW_YEAR).unwrap();
    scheduler.add(new("alice", When::Once(NEW_YEAR + HOUR)), NEW_YEAR).unwrap();
    scheduler.tick(NEW_YEAR + HOUR).unwrap();
    assert_eq!(scheduler.take(&owner("bob"), "b", NEW_YEAR + HOUR).unwrap(), []);
    let first = scheduler.take(&owner("alice"), "one", NEW_YEAR + HOUR).unwrap();
    assert_eq!(first.len(), 2);
    assert_eq!(scheduler.take(&owner("alice"), "two", NEW_YEAR + HOUR).unwrap(), []);
    assert_eq!(scheduler.take(&owner("alice"), "one", NEW_YEAR + HOUR + 5).unwrap(), first);
    // What was given does not keep the next one from coming, and makes room for it.
    assert!(matches!(scheduler.tick(NEW_YEAR + 2 * HOUR).unwrap()[..], [Outcome::Came(_)]));
    let second = scheduler.take(&owner("alice"), "two", NEW_YEAR + 2 * HOUR).unwrap();
    assert!(matches!(&second[..], [it] if it.run.due == NEW_YEAR + 2 * HOUR), "{second:?}");
    // Two days later the one that came once is over.
    scheduler.tick(NEW_YEAR + 50 * HOUR).unwrap();
    assert_eq!(scheduler.jobs(None).unwrap().len(), 1);
}

#[test]
fn a_job_that_comes_once_waits_for_hours_of_work_and_is_over_when_it_was_taken() {
    let house = House::new();
    let scheduler = house.scheduler("  activeHours:\n    start: \"08:00\"\n    end: \"18:00\"\n");
    scheduler.add(new("alice", When::Once(NEW_YEAR + HOUR)), NEW_YEAR).unwrap();
    scheduler.add(new("alice", cron("0 1 * * *")), NEW_YEAR).unwrap();
    assert!(
        matches!(scheduler.tick(NEW_YEAR + HOUR).unwrap()[..], [Outcome::Skipped(_)]),
        "the other one"
    );
    let came = scheduler.tick(NEW_YEAR + 8 * HOUR).unwrap();
    assert!(matches!(&came[..], [Outcome::Came(it)] if it.run.due == NEW_YEAR + HOUR), "{came:?}");
    let run = scheduler.waiting(None).unwrap()[0].run.id.to_string();
    scheduler.remove(&run, None).unwrap();
    assert_eq!(scheduler.jobs(None).unwrap().len(), 1);
    for past in [NEW_YEAR, NEW_YEAR - 1, i64::MIN, i64::MAX] {
        assert!(matches!(
            scheduler.add(new("alice", When::Once(past)), NEW_YEAR),
            Err(SchedulerError::Never)
        ));
    }
    // Two days late.
    scheduler.add(new("alice", When::Once(NEW_YEAR + 9 * HOUR)), NEW_YEAR).unwrap();
    let late = scheduler.tick(NEW_YEAR + 57 * HOUR).unwrap();
    assert!(
        late.iter().any(|it| matches!(it, Outcome::Missed(job) if job.when.kind() == "once")),
        "{late:?}"
    );
    assert_eq!(scheduler.jobs(None).unwrap().len(), 1);
}

#[test]
fn jobs_are_limited_and_a_heartbeat_is_as_the_settings_say() {
    let house = House::new();
    let scheduler = house.scheduler("  maxJobsPerUser: 2\n");
    for _ in 0..2 {
        scheduler.add(new("alice", cron("0 0 * * *")), NEW_YEAR).unwrap();
    }
    assert!(matches!(
        scheduler.add(new("alice", cron("0 0 * * *")), NEW_YEAR),
        Err(SchedulerError::Full(2))
    ));
    scheduler.add(new("bob", cron("0 0 * * *")), NEW_YEAR).unwrap();
    for bad in ["", " \n", &"x".repeat(40_001)] {
        let empty = NewJob { prompt: bad.to_owned(), ..new("bob", cron("0 0 * * *")) };
        assert!(matches!(scheduler.add(empty, NEW_YEAR), Err(SchedulerError::Prompt)));
    }
    let yaml = "  heartbeat:\n    everyMinutes: 30\n    user: carol\n    agent: main\n    prompt: anything new?\n";
    let scheduler = house.scheduler(yaml);
    scheduler.tick(NEW_YEAR).unwrap();
    assert!(matches!(scheduler.tick(NEW_YEAR + 1800).unwrap()[..], [Outcome::Came(_)]));
    assert_eq!(scheduler.waiting(Some(&owner("carol"))).unwrap()[0].job.prompt, "anything new?");
    // Another heartbeat in its place, and none.
    house.scheduler(&yaml.replace("30", "60")).tick(NEW_YEAR + 1800).unwrap();
    assert_eq!(scheduler.waiting(Some(&owner("carol"))).unwrap(), []);
    house.scheduler("  timezone: UTC\n").tick(NEW_YEAR + 1800).unwrap();
    assert_eq!(scheduler.jobs(Some(&owner("carol"))).unwrap(), []);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test that damages a file need not do so atomically"
)]
fn a_damaged_list_is_not_taken_for_an_empty_one() {
    let house = House::new();
    let scheduler = house.scheduler("  timezone: UTC\n");
    scheduler
        .add(NewJob { tag: Some(page()), ..new("alice", cron("0 * * * *")) }, NEW_YEAR)
        .unwrap();
    let path = house.dir.path().join("scheduler.json");
    let sound = std::fs::read_to_string(&path).unwrap();
    for damage in [
        String::new(),
        "{}".to_owned(),
        sound.replace("\"version\":1", "\"version\":2"),
        sound.replace("\"source\":\"web\"", "\"source\":\"nowhere\""),
        sound.replace("0 * * * *", "*/0 * * * *"),
        sound.replace("\"skipped\":0", "\"skipped\":-1"),
        sound.chars().take(sound.len() / 2).collect(),
    ] {
        std::fs::write(&path, &damage).unwrap();
        assert!(
            matches!(scheduler.tick(NEW_YEAR + HOUR), Err(SchedulerError::Book { .. })),
            "{damage}"
        );
        assert!(scheduler.add(new("bob", cron("0 * * * *")), NEW_YEAR).is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damage, "nothing was changed");
    }
}
