//! A child adds, removes, schedules; it is killed at random moments; what is there then is whole: the old state
//! or the new one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aegx::RecordType;
use evidence::{Config, Durability, Journal, NewRecord};
use host::plugins::Plugins;
use host::scheduler::{Cron, NewJob, Owner, Scheduler, Settings, When};
use model::{AgentId, Kind, UserId};
use serde_json::json;
use testkit::crash::{Child, From, Killer, promise};

const KILLS: u64 = 12;

/// A journal of the child's own: what it keeps is tried elsewhere.
fn journal(dir: &Path) -> Journal {
    let mut config = Config::new(dir.join("evidence"));
    config.durability = Durability::DangerouslyUnsynced;
    Journal::open(&config).unwrap().0
}

fn scheduler(dir: &Path, journal: Arc<Journal>) -> Scheduler {
    let settings = Settings::new(&policy::access::SchedulerSettings::default()).unwrap();
    Scheduler::new(dir, settings, journal)
}

/// Not a test of its own: what the child does when the test below starts it.
#[test]
fn child() {
    let Some(Child { dir, .. }) = Child::of_this_process() else { return };
    let journal = Arc::new(journal(&dir));
    let kind = Kind::parse("plugin_added").unwrap();
    let record = NewRecord::of_host(RecordType::ControlPlaneChangeRequest, kind, json!({}));
    let receipt = journal.append(record).unwrap();
    let plugins = Plugins::new(&dir);
    let scheduler = scheduler(&dir, Arc::clone(&journal));
    for step in 0_i64.. {
        let name = "@t/p";
        if plugins.list().unwrap().iter().any(|it| it.name == name) {
            plugins.remove(name, &receipt).unwrap();
        }
        let prepared = plugins.prepare(&dir.join("source")).unwrap();
        plugins.add(prepared, &receipt, step).unwrap();
        let new = NewJob {
            owner: Owner {
                user: UserId::parse("alice").unwrap(),
                agent: AgentId::parse("main").unwrap(),
            },
            session: String::new(),
            record: String::new(),
            tag: None,
            prompt: "look".to_owned(),
            token_budget: None,
            delivery: None,
            when: When::Cron { cron: Cron::parse("* * * * *").unwrap(), zone: "UTC".to_owned() },
        };
        let id = scheduler.add(new, 1_767_225_600 + step * 60).unwrap().id;
        scheduler.tick(1_767_225_600 + (step + 1) * 60).unwrap();
        promise("a job came");
        scheduler.remove(&id.to_string(), None).unwrap();
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "files of the test's own")]
fn plugins_and_jobs_are_whole_after_every_kill() {
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source");
    std::fs::create_dir_all(source.join("lib")).unwrap();
    let manifest =
        json!({"name": "@t/p", "ax_provider": {"kind": "memory", "name": "x"}, "capabilities": {}});
    std::fs::write(source.join("MANIFEST.json"), manifest.to_string()).unwrap();
    std::fs::write(source.join("index.js"), "run()").unwrap();
    std::fs::write(source.join("lib/a.js"), vec![b'x'; 100_000]).unwrap();
    let mut killer = Killer::new("crash::child", dir.path());
    for _ in 0..KILLS {
        let promised = killer.kill(From::TheFirstPromise, Duration::from_millis(30));
        assert!(!promised.is_empty(), "it was at work");
        let plugins = Plugins::new(dir.path());
        let listed = plugins.list().unwrap().len();
        let checked = plugins.check();
        assert_eq!(checked.sound.len(), listed, "what is in the list is sound: {checked:?}");
        for refused in checked.refused {
            assert_eq!(refused.why, "its folder is there, but nobody added it");
        }
        let (jobs, waiting) = host::scheduler::look(dir.path()).unwrap();
        assert!(jobs.len() <= 2 && waiting.len() <= 2, "{jobs:?}");
        // What the kill left is taken away, so that the next child begins like the first.
        let _ = std::fs::remove_file(dir.path().join("scheduler.json"));
    }
}
