//! `lazaret scheduler`: jobs come, and their agent is told.

use std::fs;

use serde_json::{Value, json};

use crate::providers::support::{agent, good, home, kinds, put, run};

#[test]
fn a_job_is_added_comes_and_is_given_to_its_agent() {
    let home = home("providers:\n  scheduler: cron\nscheduler:\n  timezone: Europe/Berlin\n");
    let home = home.path();
    let add = |more: &[&str]| {
        let first = ["scheduler", "add", "--user", "me", "--agent", "main"];
        run(home, &first.iter().chain(more).copied().collect::<Vec<_>>())
    };
    for (more, code) in [
        (&["--cron", "*/0 * * * *", "look"][..], 2),
        (&["--cron", "0 0 31 2 *", "look"], 2),
        (&["--at", "yesterday", "look"], 2),
        (&["--at", "2001-01-01T00:00:00Z", "look"], 1),
        (&["look"], 2),
        (&["--cron", "* * * * *", ""], 1),
        (&["--cron", "* * * * *", "look at the mail"], 0),
    ] {
        let (found, _, stderr) = add(more);
        assert_eq!(found, code, "{more:?}: {stderr}");
    }
    let jobs = good(home, &["scheduler", "list"]);
    assert_eq!((jobs.len(), &jobs[0]["schedule"]), (1, &json!("* * * * * Europe/Berlin")));
    assert_eq!(good(home, &["scheduler", "run", "--once"]), [] as [Value; 0], "not yet");
    let path = home.join("scheduler.json");
    let mut book: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    book["jobs"][0]["next"] = json!(book["jobs"][0]["next"].as_i64().unwrap() - 120);
    put(home, "scheduler.json", &book.to_string());
    let came = good(home, &["scheduler", "run", "--once"]);
    assert_eq!((came.len(), &came[0]["prompt"]), (1, &json!("look at the mail")), "{came:?}");
    let given = agent(home, "s", &[json!({"action": "scheduler_list_triggers"})]);
    assert_eq!(given[0]["triggers"][0]["prompt"], "look at the mail", "{given:?}");
    let listed = good(home, &["scheduler", "list"]);
    assert_eq!(listed[1]["given_to"], "s");
    good(home, &["scheduler", "remove", jobs[0]["job"].as_str().unwrap()]);
    assert_eq!(good(home, &["scheduler", "list"]), [] as [Value; 0]);
    let (code, _, _) = run(home, &["scheduler", "remove", "x"]);
    assert_eq!(code, 1);
    let kinds = kinds(home);
    for kind in ["job_added", "job_due", "job_removed", "job_not_removed"] {
        assert!(kinds.iter().any(|it| it == kind), "{kind}: {kinds:?}");
    }
}

#[test]
fn a_broken_time_zone_is_a_broken_configuration() {
    let home = home("providers:\n  scheduler: cron\nscheduler:\n  timezone: Mars/Base\n");
    let args = ["ipc", "--user", "me", "--agent", "main", "--session", "s", "--stdio"];
    let (code, _, stderr) = run(home.path(), &args);
    assert!(code == 2 && stderr.contains("Mars/Base"), "{stderr}");
    let (code, _, stderr) = run(home.path(), &["scheduler", "run", "--once"]);
    assert!(code == 2 && stderr.contains("Mars/Base"), "{stderr}");
}
