//! Runs that the host carries out itself.

use super::super::{
    Delivery, MadeIn, NewJob, Outcome, RunEnd, RunStatus, Runner, Scheduler, SchedulerError,
};
use super::NEW_YEAR;
use super::jobs::{House, cron, new, owner, page};

fn full(house: &House) -> Scheduler {
    house.scheduler("  timezone: UTC\n").run_by(Runner::Host)
}

fn end(status: RunStatus) -> RunEnd {
    RunEnd { at: NEW_YEAR, status, text: "x".repeat(30_000), tokens: 7, tag: Some(page()) }
}

#[test]
fn a_run_begins_once_keeps_the_next_one_from_coming_and_leaves_its_answer() {
    let house = House::new();
    let scheduler = full(&house);
    scheduler.add(new("alice", cron("*/10 * * * *")), NEW_YEAR).unwrap();
    scheduler.tick(NEW_YEAR + 600).unwrap();
    // Nobody takes it away from the host by asking.
    assert_eq!(scheduler.take(&owner("alice"), "s", NEW_YEAR + 600).unwrap(), []);
    let (came, _) = scheduler.begin("one", NEW_YEAR + 600).unwrap().unwrap();
    assert!(scheduler.begin("two", NEW_YEAR + 600).unwrap().is_none(), "once");
    assert!(matches!(scheduler.tick(NEW_YEAR + 1200).unwrap()[..], [Outcome::Skipped(_)]));
    scheduler.end(&came, end(RunStatus::Answered)).unwrap();
    let kept = scheduler.waiting(None).unwrap().remove(0).run.ended.unwrap();
    assert_eq!((kept.status, kept.tokens, kept.tag), (RunStatus::Answered, 7, Some(page())));
    assert_eq!(kept.text.len(), 20_000);
    assert!(matches!(scheduler.tick(NEW_YEAR + 1800).unwrap()[..], [Outcome::Came(_)]));
    assert_eq!((house.records("job_started"), house.records("job_ended")), (1, 1));
}

#[test]
fn a_run_whose_process_has_gone_is_lost_and_not_begun_again() {
    let house = House::new();
    let scheduler = full(&house);
    scheduler.add(new("alice", cron("*/10 * * * *")), NEW_YEAR).unwrap();
    scheduler.tick(NEW_YEAR + 600).unwrap();
    scheduler.begin("one", NEW_YEAR + 600).unwrap().unwrap();
    let scheduler = full(&house);
    scheduler.give_up_lost(&[], NEW_YEAR + 700).unwrap();
    scheduler.give_up_lost(&[], NEW_YEAR + 700).unwrap();
    let kept = scheduler.waiting(None).unwrap().remove(0).run.ended.unwrap();
    assert_eq!(kept.status, RunStatus::Lost);
    assert!(scheduler.begin("two", NEW_YEAR + 700).unwrap().is_none());
    assert_eq!(house.records("job_ended"), 1);
}

#[test]
fn a_run_whose_end_nobody_kept_does_not_stop_its_job_for_good() {
    let house = House::new();
    let scheduler = full(&house);
    scheduler.add(new("alice", cron("*/10 * * * *")), NEW_YEAR).unwrap();
    scheduler.tick(NEW_YEAR + 600).unwrap();
    let (came, _) = scheduler.begin("one", NEW_YEAR + 600).unwrap().unwrap();
    // What is under way is not given up.
    scheduler.give_up_lost(&[came.run.id], NEW_YEAR + 700).unwrap();
    assert!(scheduler.waiting(None).unwrap().remove(0).run.ended.is_none());
    scheduler.give_up_lost(&[], NEW_YEAR + 700).unwrap();
    assert!(matches!(scheduler.tick(NEW_YEAR + 1200).unwrap()[..], [Outcome::Came(_)]));
    assert!(scheduler.begin("two", NEW_YEAR + 1200).unwrap().is_some());
}

#[test]
fn a_run_that_waits_for_too_long_is_missed() {
    let house = House::new();
    let scheduler = full(&house);
    scheduler.add(new("alice", cron("0 0 * * *")), NEW_YEAR).unwrap();
    let day = NEW_YEAR + 24 * 3600;
    assert!(matches!(scheduler.tick(day).unwrap()[..], [Outcome::Came(_)]));
    assert!(scheduler.tick(day + 3600).unwrap().is_empty());
    assert!(matches!(scheduler.tick(day + 3601).unwrap()[..], [Outcome::Missed(_)]));
    assert!(scheduler.begin("one", day + 3601).unwrap().is_none());
    assert_eq!(house.records("job_missed"), 1);
    // It comes again the next day, and does not begin where it is no time for work.
    assert!(matches!(scheduler.tick(day + 24 * 3600).unwrap()[..], [Outcome::Came(_)]));
    let hours = "  timezone: UTC\n  activeHours:\n    start: \"08:00\"\n    end: \"18:00\"\n";
    let by_day = house.scheduler(hours).run_by(Runner::Host);
    assert!(by_day.begin("two", day + 24 * 3600).unwrap().is_none());
    assert!(scheduler.begin("two", day + 24 * 3600).unwrap().is_some());
}

#[test]
fn the_jobs_of_one_do_not_keep_those_of_others_waiting() {
    let house = House::new();
    let scheduler = full(&house);
    for _ in 0..5 {
        scheduler.add(new("alice", cron("*/10 * * * *")), NEW_YEAR).unwrap();
    }
    scheduler.tick(NEW_YEAR + 600).unwrap();
    scheduler.add(new("bob", cron("*/10 * * * *")), NEW_YEAR + 600).unwrap();
    scheduler.add(new("bob", cron("*/10 * * * *")), NEW_YEAR + 600).unwrap();
    scheduler.tick(NEW_YEAR + 1200).unwrap();
    let users: Vec<String> = (0..6)
        .map(|it| scheduler.begin(&it.to_string(), NEW_YEAR + 1200).unwrap().unwrap().0)
        .map(|it| it.job.user.to_string())
        .collect();
    assert_eq!(users, ["alice", "bob", "alice", "bob", "alice", "alice"]);
}

#[test]
fn a_job_has_no_more_than_where_it_was_made() {
    let house = House::new();
    let made_in = MadeIn { remote: true, sub_agents: vec!["reader".to_owned()], tokens: Some(50) };
    let scheduler = full(&house).for_jobs_of(made_in.clone());
    for (asked, given) in [(None, 50), (Some(10), 10), (Some(9000), 50)] {
        let made = NewJob { token_budget: asked, ..new("alice", cron("0 * * * *")) };
        let id = scheduler.add(made, NEW_YEAR).unwrap().id;
        // As it is read back.
        let job = full(&house).jobs(None).unwrap().into_iter().find(|it| it.id == id).unwrap();
        assert_eq!((job.token_budget, &job.made_in), (Some(given), &made_in));
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn a_job_of_an_earlier_version_is_believed_to_come_from_the_network_if_an_agent_made_it() {
    let house = House::new();
    let scheduler = full(&house);
    scheduler.add(new("alice", cron("0 * * * *")), NEW_YEAR).unwrap();
    scheduler
        .add(NewJob { session: String::new(), ..new("bob", cron("0 * * * *")) }, NEW_YEAR)
        .unwrap();
    let path = house.dir.path().join("scheduler.json");
    let mut book: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    for job in book["jobs"].as_array_mut().unwrap() {
        for key in ["remote", "sub_agents", "tokens"] {
            job.as_object_mut().unwrap().remove(key);
        }
    }
    std::fs::write(&path, book.to_string()).unwrap();
    let remote: Vec<bool> =
        scheduler.jobs(None).unwrap().iter().map(|it| it.made_in.remote).collect();
    assert_eq!(remote, [true, false]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn an_answer_goes_to_its_owner_alone_and_one_that_a_process_took_along_counts_as_not_delivered() {
    let house = House::new();
    let put = |name: &str, text: &str| std::fs::write(house.dir.path().join(name), text).unwrap();
    let wanted = |to: &str| NewJob {
        delivery: Some(Delivery::parse(to).unwrap()),
        ..new("alice", cron("*/10 * * * *"))
    };
    let refused = |scheduler: &Scheduler, to: &str| {
        let refused = scheduler.add(wanted(to), NEW_YEAR).unwrap_err();
        let is_said = ["no such messenger", "not there", "scheduler: full"];
        let why = refused.to_string();
        assert!(is_said.iter().any(|it| why.contains(it)), "{to}: {why}");
        assert!(matches!(refused, SchedulerError::Delivery(_)));
    };
    let scheduler = full(&house);
    for nowhere in ["last", "telegram:dm:5"] {
        refused(&scheduler, nowhere);
    }
    put("config.yaml", "channel_config: {telegram: {}}\n");
    let user = |name: &str, digit: &str, peer: &str| {
        let hash = digit.repeat(64);
        format!(
            "  - {{name: {name}, token_hash: \"{hash}\", agents: [main], budget: unlimited, channels: {{telegram: [\"{peer}\"]}}}}\n"
        )
    };
    put("users.yaml", &format!("users:\n{}{}", user("alice", "a", "5"), user("bob", "b", "6")));
    for elsewhere in ["telegram:dm:6", "telegram:dm:7", "slack:dm:U5"] {
        refused(&scheduler, elsewhere);
    }
    // Where agents ask for their runs themselves, nobody has an answer to deliver.
    refused(&house.scheduler("  timezone: UTC\n"), "telegram:dm:5");
    for shared in ["telegram:group:5", "telegram:channel:5", "telegram:dm:", "LAST", ""] {
        assert!(Delivery::parse(shared).is_err(), "{shared}");
    }

    scheduler.add(wanted("telegram:dm:5"), NEW_YEAR).unwrap();
    scheduler.tick(NEW_YEAR + 600).unwrap();
    let (came, _) = scheduler.begin("one", NEW_YEAR + 600).unwrap().unwrap();
    assert_eq!(came.job.delivery, Some(Delivery::parse("telegram:dm:5").unwrap()));
    scheduler.end(&came, end(RunStatus::Answered)).unwrap();
    let scheduler = full(&house);
    scheduler.give_up_lost(&[], NEW_YEAR + 700).unwrap();
    scheduler.give_up_lost(&[], NEW_YEAR + 700).unwrap();
    let kept = scheduler.waiting(None).unwrap().remove(0).run;
    assert_eq!(kept.ended.unwrap().status, RunStatus::Answered);
    assert!(kept.handed.unwrap().outcome.unwrap_err().contains("has gone"));
    assert_eq!(house.records("job_undelivered"), 1);
}
