//! A child adds, removes, schedules; it is killed at random moments; what is there then is whole: the old state
//! or the new one.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use aegx::RecordType;
use evidence::{Config, Durability, Journal, NewRecord};
use host::plugins::Plugins;
use host::scheduler::{Cron, NewJob, Owner, Scheduler, Settings, When};
use model::{AgentId, Kind, UserId};
use serde_json::json;

const CHILD_DIR: &str = "LAZARET_HOST_CRASH_CHILD_DIR";
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
    let Ok(dir) = std::env::var(CHILD_DIR) else { return };
    let dir = Path::new(&dir);
    let journal = Arc::new(journal(dir));
    let kind = Kind::parse("plugin_added").unwrap();
    let record = NewRecord::of_host(RecordType::ControlPlaneChangeRequest, kind, json!({}));
    let receipt = journal.append(record).unwrap();
    let plugins = Plugins::new(dir);
    let scheduler = scheduler(dir, Arc::clone(&journal));
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
            when: When::Cron { cron: Cron::parse("* * * * *").unwrap(), zone: "UTC".to_owned() },
        };
        let id = scheduler.add(new, 1_767_225_600 + step * 60).unwrap().id;
        scheduler.tick(1_767_225_600 + (step + 1) * 60).unwrap();
        report();
        scheduler.remove(&id.to_string(), None).unwrap();
    }
}

#[expect(clippy::print_stdout, reason = "how the child tells the parent that it is at work")]
fn report() {
    println!("at work");
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
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..KILLS {
        let mut child = spawn(dir.path());
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let output = BufReader::new(child.stdout.take().unwrap());
        assert!(output.lines().map_while(Result::ok).any(|it| it.contains("at work")));
        std::thread::sleep(Duration::from_micros(random % 30_000));
        child.kill().unwrap();
        child.wait().unwrap();
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

#[expect(clippy::disallowed_methods, reason = "the test kills a process, so it must start one")]
fn spawn(dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["crash::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD_DIR, dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}
