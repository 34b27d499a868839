//! Every file of the corpus on every rung: it runs, and it gets nowhere.

use std::process::Stdio;

use sandbox::cage::{Held, Rung};

use crate::Test;
use crate::case::{Case, read_all};
use crate::probe::{User, offered};
use crate::world::{Kill, World};

/// What is left out, so that the others are seen to hold without it.
const LADDERS: &[(&str, &[Rung])] = &[
    ("everything", &[]),
    ("no-namespaces", &[Rung::Namespaces]),
    ("no-landlock", &[Rung::Landlock]),
    ("no-cgroup", &[Rung::Cgroup]),
    // It cannot make the rules of landlock.
    (BUBBLEWRAP, &[Rung::Landlock]),
];
/// The ladder whose namespaces are made by bubblewrap, where it is installed.
const BUBBLEWRAP: &str = "bubblewrap";

/// The users that this test can be.
pub(crate) fn users() -> Vec<User> {
    match rustix::process::getuid().is_root() {
        true => vec![User::Root, User::Ordinary(Some(0))],
        false => vec![User::Ordinary(None)],
    }
}

pub(crate) fn all() -> Vec<Test> {
    let cases = read_all();
    let mut tests = Vec::new();
    for user in users() {
        let offered = offered(match user {
            User::Ordinary(Some(_)) => User::Ordinary(Some(65_534)),
            other @ (User::Root | User::Ordinary(None)) => other,
        });
        for (ladder, without) in LADDERS {
            if *ladder == BUBBLEWRAP && !std::path::Path::new("/usr/bin/bwrap").exists() {
                continue;
            }
            let wanted: Vec<Rung> =
                offered.iter().copied().filter(|it| !without.contains(it)).collect();
            for case in &cases {
                if !applies(case, &wanted, without, &offered) {
                    continue;
                }
                let (case, wanted) = (case.clone(), wanted.clone());
                let who = if user == User::Root { "root" } else { "user" };
                tests.push(Test {
                    name: format!("escape/{}/{ladder}/{who}", case.name),
                    run: Box::new(move || attempt(&case, user, (ladder, without), &wanted)),
                });
            }
        }
    }
    tests
}

fn applies(case: &Case, wanted: &[Rung], without: &[Rung], offered: &[Rung]) -> bool {
    // Nothing to leave out: the same as everything.
    let same = without.iter().any(|it| !offered.contains(it));
    let limited = !case.limits.is_empty();
    // What a cgroup holds matters to attempts at limits alone.
    let idle = without.contains(&Rung::Cgroup) && !limited;
    // For root only a namespace or a cgroup bounds processes.
    !same
        && !idle
        && (!case.landlock_only || wanted.contains(&Rung::Landlock))
        && (!case.namespaces_only || wanted.contains(&Rung::Namespaces))
}

fn attempt(case: &Case, user: User, (ladder, without): (&str, &[Rung]), wanted: &[Rung]) {
    let mut world = World::make(user, case.dotfiles);
    let mut spec = world.spec(&[case.program, "-"], without);
    spec.limits.clone_from(&case.limits);
    spec.terminal = case.terminal;
    // Some are made only where they are required.
    spec.needed = wanted.to_vec();
    spec.bubblewrap = ladder == BUBBLEWRAP;
    spec.environment.push(("LADDER".to_owned(), ladder.to_owned()));
    if case.terminal || case.program == "/bin/sh" {
        spec.words = [case.program, "-c", &case.script].map(str::to_owned).to_vec();
    }
    let script = world.at("tmp/script");
    std::fs::write(&script, &case.script).unwrap();
    let stdin = match case.terminal {
        true => Stdio::null(),
        false => Stdio::from(std::fs::File::open(script).unwrap()),
    };
    let kill = if case.then_kill { Kill::AtFirstOutput } else { Kill::Never };
    let outcome = world.run(&spec, stdin, kill);
    let (out, err) = (outcome.text(), &outcome.stderr);
    let told = &outcome.told;
    let shown = format!("{}\n{out}{err}", told.ending);
    let held = told.held.clone().unwrap_or_else(|| panic!("no cage: {shown}"));
    nothing_is_silently_absent(&held, wanted, without);
    assert!(!out.contains("ESCAPED"), "{shown}");
    let all = [out.as_str(), err].concat();
    assert!(!all.contains(&world.canary), "a secret was read: {shown}");
    let expected = match (&case.expect_host, held.holds(Rung::Namespaces)) {
        (Some(host), false) => host,
        (_, true) | (None, false) => &case.expect,
    };
    let mut tried = 0;
    for line in out.lines().filter_map(|it| it.strip_prefix("held ")) {
        let (_, why) = line.rsplit_once(": ").unwrap();
        assert!(expected.iter().any(|it| it == why.trim()), "another reason: {line}\n{shown}");
        tried += 1;
    }
    assert!(tried > 0, "nothing was tried: {shown}");
    if !case.then_kill {
        assert_eq!(told.ending, case.ends, "{shown}");
    }
    assert!(world.victim_lives(), "a process outside was ended: {shown}");
    assert_eq!(world.services.reached(), 0, "a service of the host was reached: {shown}");
    let changes = match held.holds(Rung::Namespaces) {
        true => world.changes(),
        // Landlock cannot take something out of a workspace again; what lies outside of it stays as it was.
        false => world.changes().into_iter().filter(|it| !it.contains("/home/work/")).collect(),
    };
    assert!(changes.is_empty(), "{changes:#?}\n{shown}");
}

/// Every rung is told, and those that the machine has hold.
fn nothing_is_silently_absent(held: &Held, wanted: &[Rung], without: &[Rung]) {
    let told: Vec<Rung> = held.rungs().iter().map(|it| it.0).collect();
    assert_eq!(told, Rung::HERE, "not every rung is told");
    for rung in wanted {
        assert!(held.holds(*rung), "this machine has {rung}, and it does not hold: {held}");
    }
    for rung in without {
        assert!(!held.holds(*rung), "{rung} was left out and is said to hold: {held}");
    }
}
