//! The cases of `corpus/sandbox/zeph.json` that are about running, and not about profiles.

use std::process::Stdio;

use sandbox::cage::Rung;
use serde_json::Value;

use crate::Test;
use crate::attempts::users;
use crate::probe::User;
use crate::world::{Kill, World};

type Claim = fn(&Value, User, &[Rung]);

const CASES: &[(&str, Claim)] = &[
    ("hosts_exact", denied_names),
    ("strict_no_backend", no_cage),
    ("lenient_no_backend", no_cage),
    ("background_run", background),
];

pub(crate) fn all() -> Vec<Test> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/sandbox/zeph.json");
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut tests = Vec::new();
    for (name, claim) in CASES {
        let case = cases.as_array().unwrap().iter().find(|it| it["name"] == *name);
        let case = case.unwrap_or_else(|| panic!("{name} is not in the corpus"));
        for user in users() {
            let ladders: [(&str, &'static [Rung]); 2] =
                [("everything", &[]), ("no-namespaces", &[Rung::Namespaces])];
            for (ladder, without) in ladders {
                let who = if user == User::Root { "root" } else { "user" };
                let case = case.clone();
                tests.push(Test {
                    name: format!("zeph/{name}/{ladder}/{who}"),
                    run: Box::new(move || claim(&case, user, without)),
                });
            }
        }
    }
    tests
}

/// Zeph writes denied names into a file of hosts. Here no name is looked up inside at all, denied or not: that is
/// for the proxy, which denies by name.
fn denied_names(case: &Value, user: User, without: &[Rung]) {
    let world = World::make(user, false);
    for name in case["input"]["denied_domains"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let script = format!(
            "getent ahosts {name} && echo found; getent ahosts www.{name} && echo found; echo end"
        );
        let spec = world.spec(&["/bin/sh", "-c", &script], without);
        let outcome = world.run(&spec, Stdio::null(), Kill::Never);
        assert_eq!(outcome.text(), "end\n", "{name}: {}", outcome.stderr);
    }
}

/// Zeph runs without a cage where there is none and nobody was strict. Here nothing ever does.
fn no_cage(case: &Value, user: User, without: &[Rung]) {
    assert_eq!(case["input"]["backend_available"], false);
    let world = World::make(user, false);
    let mut spec = world.spec(&["/bin/echo", "ran"], without);
    spec.without = vec![Rung::Namespaces, Rung::Landlock];
    if case["input"]["strict"] == true {
        spec.needed = vec![Rung::Namespaces];
    }
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    let ending = &outcome.told.ending;
    assert!(ending.starts_with("error ") && outcome.stdout.is_empty(), "{ending}");
}

/// What is started in the background is in the cage as well.
fn background(_: &Value, user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "for way in '' setsid nohup 'setsid nohup'; do
            $way sh -c 'cat \"$HOST_HOME/.ssh/secret\"; echo x > \"$OUTSIDE/new\"; echo tried' &
        done; wait; echo end";
    let spec = world.spec(&["/bin/sh", "-c", script], without);
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    let (text, err) = (outcome.text(), &outcome.stderr);
    assert_eq!(text.matches("tried").count(), 4, "{text} {err}");
    assert!(!text.contains(&world.canary) && world.changes().is_empty(), "{text} {err}");
}
