//! What becomes of jobs that are late, overlap, or belong to somebody else.

use std::sync::Arc;

use evidence::{Config, Durability, Filter, Journal, Reader};
use model::{AgentId, Source, Taint, TaintTag, UserId};

use super::super::{Cron, NewJob, Outcome, Owner, Scheduler, SchedulerError, When};
use super::{NEW_YEAR, settings};

const HOUR: i64 = 3600;

pub(super) struct House {
    pub(super) dir: tempfile::TempDir,
    journal: Arc<Journal>,
}

impl House {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut config = Config::new(dir.path().join("evidence"));
        config.durability = Durability::DangerouslyUnsynced;
        let journal = Arc::new(Journal::open(&config).unwrap().0);
        Self { dir, journal }
    }

    pub(super) fn scheduler(&self, yaml: &str) -> Scheduler {
        Scheduler::new(self.dir.path(), settings(yaml).unwrap(), Arc::clone(&self.journal))
    }

    pub(super) fn records(&self, kind: &str) -> usize {
        self.journal.checkpoint().unwrap();
        let reader = Reader::open(&self.dir.path().join("evidence")).unwrap();
        let kind = Some(model::Kind::parse(kind).unwrap());
        let filter = Filter { kind, ..Filter::default() };
        usize::try_from(evidence::count(&reader, &filter).unwrap()).unwrap()
    }
}

pub(super) fn owner(user: &str) -> Owner {
    Owner { user: UserId::parse(user).unwrap(), agent: AgentId::parse("main").unwrap() }
}

pub(super) fn new(user: &str, when: When) -> NewJob {
    NewJob {
        owner: owner(user),
        session: "s".to_owned(),
        record: String::new(),
        tag: None,
        prompt: "look at the mail".to_owned(),
        token_budget: None,
        when,
        delivery: None,
    }
}

pub(super) fn cron(schedule: &str) -> When {
    When::Cron { cron: Cron::parse(schedule).unwrap(), zone: "UTC".to_owned() }
}

pub(super) fn page() -> TaintTag {
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
