//! Workspaces with strange names in strange places are workspaces, and what must not be one is refused.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Stdio;

use sandbox::cage::Rung;

use crate::Test;
use crate::attempts::users;
use crate::probe::User;
use crate::world::{Kill, World, plant};

const LADDERS: &[(&str, &[Rung])] = &[
    ("everything", &[]),
    ("no-namespaces", &[Rung::Namespaces]),
    ("no-landlock", &[Rung::Landlock]),
];

pub(crate) fn all() -> Vec<Test> {
    let mut tests = Vec::new();
    for user in users() {
        let who = if user == User::Root { "root" } else { "user" };
        let mut add = |name: String, run: Box<dyn Fn() + Send + Sync>| {
            tests.push(Test { name: format!("workspaces/{name}/{who}"), run });
        };
        for (ladder, without) in LADDERS {
            add(format!("strange-names/{ladder}"), Box::new(move || strange_names(user, without)));
            add(format!("one-in-another/{ladder}"), Box::new(move || nested(user, without)));
            if user == User::Root && !without.contains(&Rung::Namespaces) {
                add(format!("mount-points/{ladder}"), Box::new(move || mounts(user, without)));
            }
        }
        add("what-is-refused".to_owned(), Box::new(move || refused(user)));
        add("a-git-file-is-kept".to_owned(), Box::new(move || git_file(user)));
        add("a-secret-in-something-readable".to_owned(), Box::new(move || readable(user)));
        add(
            "no-cover-without-namespaces-is-a-refusal".to_owned(),
            Box::new(move || not_covered(user)),
        );
    }
    tests
}

const HOOK: &str =
    "echo in > new && cat new && ! (echo x >> .git/hooks/pre-commit) 2>/dev/null && echo kept";
const NO_HOOK: &str = "echo in > new && cat new && echo kept";

fn script(without: &[Rung]) -> &'static str {
    if without.contains(&Rung::Namespaces) { NO_HOOK } else { HOOK }
}

fn own(world: &World, at: &Path) {
    if let User::Ordinary(Some(id)) = world.user {
        for it in at.ancestors().take_while(|it| it.starts_with(world.at("home"))) {
            std::os::unix::fs::chown(it, Some(id), Some(id)).unwrap();
        }
    }
}

fn strange_names(user: User, without: &[Rung]) {
    let names: &[&[u8]] = &[
        b"with a space",
        b"with\na line",
        b"with\ttab and \\back\\040slash",
        b"-dash",
        b"with'quote\"s",
        b"\xff\xfe not text",
        b"#hash",
        b"a:b,c=d",
        "\u{1f600}".as_bytes(),
        b".hidden/deep/er",
    ];
    let world = World::make(user, false);
    for name in names {
        let at = world.at("home").join(OsString::from_vec(name.to_vec()));
        plant(&at.join(".git/hooks/pre-commit"), "hook");
        for it in [&at, &at.join(".git"), &at.join(".git/hooks"), &at.join(".git/hooks/pre-commit")]
        {
            own(&world, it);
        }
        let mut spec = world.spec(&["/bin/sh", "-c", script(without)], without);
        spec.workspaces = vec![at.as_os_str().as_bytes().to_vec()];
        spec.directory.clone_from(&spec.workspaces[0]);
        let outcome = world.run(&spec, Stdio::null(), Kill::Never);
        assert_eq!(
            outcome.text(),
            "in\nkept\n",
            "{at:?} {} {}",
            outcome.told.ending,
            outcome.stderr
        );
        assert_eq!(fs::read_to_string(at.join("new")).unwrap(), "in\n");
        let held = outcome.told.held.unwrap();
        assert_eq!(
            held.holds(Rung::Namespaces),
            !without.contains(&Rung::Namespaces),
            "{at:?} {held}"
        );
    }
}

/// Two workspaces, one in the other, with something in between that is only read.
fn nested(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    for it in ["home/big/.git/hooks/pre-commit", "home/big/ro/small/.git/hooks/pre-commit"] {
        plant(&world.at(it), "hook");
        world.at(it).ancestors().for_each(|it| own(&world, it));
    }
    let script =
        "cd \"$0/big\" && echo in > new && cd ro/small && echo in > new && cat new ../../new";
    let mut spec = world.spec(&["/bin/sh", "-c", script, &world.path("home")], without);
    spec.workspaces =
        ["home/big/ro/small", "home/big"].map(|it| world.path(it).into_bytes()).to_vec();
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    let directory = &spec.workspaces[0];
    assert_ne!(outcome.told.ending, "exited 0", "it started in a directory that was not given");
    spec.directory.clone_from(directory);
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.text(), "in\nin\n", "{} {}", outcome.told.ending, outcome.stderr);
}

/// The workspace is a mount point, and others lie below it: they are there, and what is kept is kept over them.
fn mounts(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "echo in > new && echo in > sub/new && cat sub/there && ! (echo x > .git/hooks/new) 2>/dev/null && \
                  ! (echo x > .git/hooks/deep/new) 2>/dev/null && ! cat .env 2>/dev/null && echo kept";
    let mut spec = world.spec(&["/bin/sh", "-c", script], without);
    let ws = world.path("home/work");
    spec.before = Some(format!(
        "cd {ws} && mount -t tmpfs none {ws} && cd {ws} && mkdir -p sub .git/hooks/deep && echo secret > .env && \
         mount -t tmpfs none sub && mount -t tmpfs none .git/hooks/deep && echo there > sub/there && cd /",
    ));
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.text(), "there\nkept\n", "{} {}", outcome.told.ending, outcome.stderr);
    assert!(outcome.told.held.unwrap().holds(Rung::Namespaces));
}

fn refused(user: User) {
    let world = World::make(user, false);
    std::os::unix::fs::symlink(world.at("home/work"), world.at("outside/link")).unwrap();
    let home = world.path("home");
    for at in [
        "/",
        "/proc",
        "/sys",
        "/dev",
        "relative",
        "/nothing/here",
        &home,
        &world.path(""),
        &world.path("state"),
        &format!("{home}/.ssh"),
        &format!("{home}/.ssh/secret"),
        &world.path("outside/link"),
        &format!("{home}/work/../.ssh"),
    ] {
        let mut spec = world.spec(&["/bin/echo", "ran"], &[]);
        spec.workspaces = vec![at.trim_end_matches('/').to_owned().into_bytes()];
        if at == "/" {
            spec.workspaces = vec![b"/".to_vec()];
        }
        let outcome = world.run(&spec, Stdio::null(), Kill::Never);
        assert!(outcome.told.ending.starts_with("error "), "{at}: {}", outcome.told.ending);
        assert!(outcome.stdout.is_empty(), "{at}");
    }
}

/// As in a worktree: the file says where the repository is, and so which settings git obeys.
fn git_file(user: User) {
    let world = World::make(user, false);
    fs::remove_dir_all(world.at("home/work/.git")).unwrap();
    plant(&world.at("home/work/.git"), "gitdir: ../elsewhere");
    own(&world, &world.at("home/work/.git"));
    let script = "(echo gitdir: evil > .git) 2>/dev/null; rm -f .git 2>/dev/null; mv .git x 2>/dev/null; cat .git";
    let spec = world.spec(&["/bin/sh", "-c", script], &[]);
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.text(), "gitdir: ../elsewhere\n", "{}", outcome.stderr);
}

fn readable(user: User) {
    let world = World::make(user, false);
    for (at, text) in [("home/.config/plain", "plain"), ("home/.config/app/.env", &world.canary)] {
        plant(&world.at(at), text);
        own(&world, &world.at(at));
    }
    for without in [[].as_slice(), &[Rung::Namespaces]] {
        let script = "cat \"$HOST_HOME/.config/plain\"; cat \"$HOST_HOME/.config/gh/secret\" && echo ESCAPED; \
                      cat \"$HOST_HOME/.config/app/.env\" && echo ESCAPED; echo end";
        let mut spec = world.spec(&["/bin/sh", "-c", script], without);
        spec.readable = vec![world.path("home/.config").into_bytes()];
        let outcome = world.run(&spec, Stdio::null(), Kill::Never);
        assert_eq!(outcome.text(), "plain\nend\n", "{} {}", outcome.told.ending, outcome.stderr);
    }
}

fn not_covered(user: User) {
    let world = World::make(user, false);
    plant(&world.at("home/work/.env"), &world.canary);
    own(&world, &world.at("home/work/.env"));
    let spec = world.spec(&["/bin/cat", ".env"], &[Rung::Namespaces]);
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert!(outcome.told.ending.contains("cannot be covered"), "{}", outcome.told.ending);
    let outcome = world.run(&world.spec(&["/bin/cat", ".env"], &[]), Stdio::null(), Kill::Never);
    assert!(
        outcome.stdout.is_empty() && outcome.told.ending == "exited 1",
        "{}",
        outcome.told.ending
    );
}
