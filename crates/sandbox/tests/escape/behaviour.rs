//! For those who mean no harm a cage is as if it were not there.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use sandbox::cage::Rung;

use crate::Test;
use crate::attempts::users;
use crate::child::Spec;
use crate::probe::User;
use crate::world::{Kill, Outcome, World};

type Claim = (&'static str, fn(User, &[Rung]));

const CLAIMS: &[Claim] = &[
    ("exit-codes-are-told", exit_codes),
    ("death-by-a-signal-is-told", signals),
    ("a-signal-is-passed-on", passed_on),
    ("an-end-is-told-where-ends-of-children-are-ignored", ignored_ends),
    ("input-is-read-to-its-end", input),
    ("large-output-comes-whole", output),
    ("a-program-that-is-not-there-is-127-and-one-that-is-none-126", no_program),
    ("it-starts-where-it-was-told", directory),
    ("the-environment-is-made-from-nothing", environment),
    ("a-terminal-has-the-size-of-the-outer-one", terminal),
    ("time-is-up-and-everything-is-over-at-once", time),
    ("twenty-cages-at-once", twenty),
    ("what-is-closed-in-a-fresh-directory-goes-with-it", closed_directories),
    ("what-is-made-where-something-is-kept-is-set-aside-and-told", set_aside),
    ("what-is-made-where-something-is-kept-is-set-aside-soon", set_aside_soon),
    ("what-is-made-there-again-and-again-ends-the-run", made_again),
    ("what-is-left-behind-makes-nothing-there-after-the-end", left_behind),
    ("repositories-that-are-made-run-nothing-outside", made_repositories),
    ("repositories-that-git-makes-stay", made_by_git),
    ("what-is-needed-and-left-out-is-a-refusal", needed),
    ("a-proxy-is-reached-and-nothing-else", proxy),
    ("a-workspace-that-is-compiled-in-and-committed-to", work),
    ("the-name-of-the-machine-is-found", own_name),
    ("programs-that-look-for-wrong-accesses-run", sanitizers),
    ("a-rebase-is-done-and-leaves-nothing", rebase),
];

pub(crate) fn all() -> Vec<Test> {
    let mut tests = Vec::new();
    for user in users() {
        for (ladder, without) in
            [("everything", [].as_slice()), ("no-namespaces", &[Rung::Namespaces])]
        {
            for (name, claim) in CLAIMS {
                let who = if user == User::Root { "root" } else { "user" };
                tests.push(Test {
                    name: format!("behaviour/{name}/{ladder}/{who}"),
                    run: Box::new(move || claim(user, without)),
                });
            }
        }
    }
    tests
}

fn shell(world: &World, script: &str, without: &[Rung]) -> Spec {
    world.spec(&["/bin/sh", "-c", script], without)
}

fn run(world: &World, script: &str, without: &[Rung]) -> Outcome {
    world.run(&shell(world, script, without), Stdio::null(), Kill::Never)
}

fn exit_codes(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    for code in [0, 1, 2, 42, 126, 127, 128, 137, 255] {
        let outcome = run(&world, &format!("exit {code}"), without);
        assert_eq!(outcome.told.ending, format!("exited {code}"), "{}", outcome.stderr);
    }
}

fn signals(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    for signal in [2, 6, 9, 11, 15] {
        let outcome = run(&world, &format!("kill -{signal} $$"), without);
        assert_eq!(outcome.told.ending, format!("killed {signal}"));
    }
}

fn passed_on(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    // The parent of its parent is the one outside, whom only the harness can reach: a pipe tells when to.
    let script = "trap 'echo caught; exit 7' TERM; echo ready; while :; do sleep 0.1; done";
    let outcome = world.run(&shell(&world, script, without), Stdio::null(), Kill::Terminate);
    assert_eq!(
        (outcome.told.ending.as_str(), outcome.text().as_str()),
        ("exited 7", "ready\ncaught\n")
    );
}

/// Whoever starts us may have left it to the kernel to forget them.
fn ignored_ends(user: User, without: &[Rung]) {
    if user != User::Root {
        return;
    }
    let world = World::make(user, false);
    let mut spec = shell(&world, "sleep 0.1; exit 7", without);
    spec.before = Some("trap '' CHLD".to_owned());
    assert_eq!(world.run(&spec, Stdio::null(), Kill::Never).told.ending, "exited 7");
}

fn input(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let at = world.at("tmp/in");
    File::create(&at).unwrap().write_all(&vec![b'x'; 3 << 20]).unwrap();
    let spec = shell(&world, "wc -c; read -r more || echo end", without);
    let outcome = world.run(&spec, Stdio::from(File::open(at).unwrap()), Kill::Never);
    assert_eq!(outcome.text(), "3145728\nend\n", "{}", outcome.stderr);
}

fn output(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let outcome = run(&world, "head -c 20000000 /dev/zero; head -c 3000000 /dev/zero >&2", without);
    assert_eq!((outcome.stdout.len(), outcome.stderr.len()), (20_000_000, 3_000_000));
}

fn no_program(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    for (program, code) in
        [("no-such-program", 127), ("/no/such", 127), ("./src/main.c", 126), ("/", 126)]
    {
        let spec = world.spec(&[program], without);
        let outcome = world.run(&spec, Stdio::null(), Kill::Never);
        assert_eq!(outcome.told.ending, format!("program {code}"), "{program}");
    }
    let outcome = world.run(&world.spec(&[""], without), Stdio::null(), Kill::Never);
    assert_eq!(outcome.told.ending, "error there is no program to run");
}

fn directory(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let mut spec = shell(&world, "pwd; echo new > here", without);
    spec.directory = world.path("home/work/src").into_bytes();
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.text().trim(), world.path("home/work/src"), "{}", outcome.stderr);
    assert_eq!(std::fs::read_to_string(world.at("home/work/src/here")).unwrap(), "new\n");
    spec.directory = world.path("outside").into_bytes();
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_ne!(outcome.told.ending, "exited 0", "it started outside");
}

fn environment(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let mut spec = world.spec(&["/usr/bin/env"], without);
    spec.environment =
        [("PATH", "/bin"), ("ONE", "1"), ("MARK", "x")].map(|(k, v)| (k.into(), v.into())).to_vec();
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    let text = outcome.text();
    let mut names: Vec<&str> = text.lines().filter_map(|it| it.split('=').next()).collect();
    names.sort_unstable();
    match without.is_empty() {
        true => assert_eq!(names, ["MARK", "ONE", "PATH"]),
        false => assert_eq!(names, ["HOME", "MARK", "ONE", "PATH", "TMPDIR"]),
    }
}

fn terminal(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let mut spec = shell(
        &world,
        "stty size; tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : >/dev/tty && echo yes",
        without,
    );
    spec.terminal = true;
    // The outer terminal is the one of `script`.
    let inner = serde_json::to_string(&spec).unwrap().replace('\'', "'\\''");
    let line =
        format!("stty rows 37 cols 111; {} {} '{inner}'", crate::program(), crate::child::WORD);
    let mut command = user_command(&world, "/usr/bin/script");
    command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // At the end of its input `script` ends, too, whatever still runs.
    let input = child.stdin.take();
    let out = child.wait_with_output().unwrap();
    drop(input);
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(text.contains("37 111") && text.contains("yes"), "{text}");
}

fn user_command(world: &World, program: &str) -> std::process::Command {
    let mut command = world.user.command(program);
    command.current_dir("/").env("TMPDIR", world.at("tmp"));
    command
}

fn time(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let mut spec =
        shell(&world, "trap '' TERM; (trap '' HUP TERM; sleep 50) & sleep 50; sleep 50", without);
    spec.limits = vec![("wall".to_owned(), 700)];
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.told.ending, "timed out");
    assert!(outcome.took < Duration::from_secs(10), "{:?}", outcome.took);
}

fn twenty(user: User, without: &[Rung]) {
    let worlds: Vec<World> = (0..20).map(|_| World::make(user, false)).collect();
    std::thread::scope(|scope| {
        for (i, world) in worlds.iter().enumerate() {
            scope.spawn(move || {
                let outcome = run(world, &format!("sleep 0.5; echo {i}; exit {i}"), without);
                assert_eq!(outcome.told.ending, format!("exited {i}"), "{}", outcome.stderr);
                assert_eq!(outcome.text(), format!("{i}\n"));
            });
        }
    });
}

fn closed_directories(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script =
        "d=${TMPDIR:-/tmp}; mkdir -p $d/a/b/c && : > $d/a/b/c/f && chmod 0 $d/a/b/c $d/a/b $d/a";
    // That nothing is left is seen by the run itself.
    assert_eq!(run(&world, script, without).told.ending, "exited 0");
}

fn set_aside(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    std::os::unix::fs::symlink("src", world.at("home/work/.cursor")).unwrap();
    let script = "echo {} > .mcp.json; echo ../evil > .git/commondir; rm .cursor; mkdir .cursor; \
                  ln -s \"$OUTSIDE\" .gemini; mkdir kept";
    let outcome = run(&world, script, without);
    assert_eq!(outcome.told.ending, "exited 0", "{}", outcome.stderr);
    let mut aside = outcome.told.aside;
    aside.sort();
    let expected = [".cursor", ".gemini", ".git/commondir", ".mcp.json"];
    assert_eq!(aside, expected.map(|it| world.at(&format!("home/work/{it}.set-aside-1"))));
    assert_eq!(std::fs::read_link(world.at("home/work/.cursor")).unwrap().to_str(), Some("src"));
    assert!(world.at("home/work/kept").is_dir() && !world.at("home/work/.mcp.json").exists());
}

fn set_aside_soon(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    // It is gone while the command still runs; a new hook needs a repository without any.
    let script = "echo {} > .mcp.json; mkdir .gemini; i=0
        while [ -e .mcp.json ] || [ -e .gemini ]; do i=$((i+1)); [ $i -lt 500 ] || exit 3; sleep 0.01; done
        [ -e .mcp.json.set-aside-1 ] && echo gone";
    let outcome = run(&world, script, without);
    let (text, ending) = (outcome.text(), &outcome.told.ending);
    assert_eq!((ending.as_str(), text.as_str()), ("exited 0", "gone\n"), "{}", outcome.stderr);
    assert_eq!(outcome.told.aside.len(), 2, "{:?}", outcome.told.aside);
}

fn made_again(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); [ -e .mcp.json ] || echo {} > .mcp.json; sleep 0.002; done";
    let outcome = run(&world, script, without);
    assert!(outcome.told.ending.contains("again and again"), "{}", outcome.told.ending);
    assert!(!world.at("home/work/.mcp.json").exists());
}

/// Some that go on and on, and one that is another process each time it is looked for.
fn left_behind(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "for i in 1 2 3; do
          (setsid sh -c 'while :; do [ -e .mcp.json ] || echo {} > .mcp.json; done' &)
        done
        (setsid sh -c 'f() { [ -e .mcp.json ] || echo {} > .mcp.json; f & }; f' &)
        while ! [ -e .mcp.json ]; do :; done";
    let outcome = run(&world, script, without);
    assert_eq!(outcome.told.ending, "exited 0", "{}", outcome.stderr);
    for _ in 0..20 {
        assert!(!world.at("home/work/.mcp.json").exists(), "{:?}", outcome.told.aside);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!outcome.told.aside.is_empty());
    assert!(outcome.told.aside.iter().all(|it| it.exists()), "nothing of it is lost");
}

/// Whoever looks at them with git afterwards, outside, runs nothing of the command's.
fn made_repositories(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "set -e; ran=\"$WS/ran\"
        evil='[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"touch '\"$ran\"'; false\"\n'
        repo() { mkdir -p \"$1\"; echo 'ref: refs/heads/main' > \"$1/HEAD\"; mkdir -p \"$1/objects\" \"$1/refs\" \"$1/hooks\"; }
        repo new/one/.git; printf \"$evil\" > new/one/.git/config
        repo src; printf \"$evil\" > src/config
        repo new/hidden; printf \"$evil\" > new/hidden/config; mkdir new/file; echo 'gitdir: ../hidden' > new/file/.git
        mkdir -p new/common/x; cp -r src/objects src/refs src/config new/common/x; cp src/HEAD new/common; echo x > new/common/commondir
        repo new/hook/.git; printf '#!/bin/sh\\ntouch \"%s\"\\n' \"$ran\" > new/hook/.git/hooks/post-index-change; chmod +x new/hook/.git/hooks/*
        git -C new/hook config core.bare false";
    let outcome = run(&world, script, without);
    assert_eq!(outcome.told.ending, "exited 0", "{}", outcome.stderr);
    let aside: Vec<_> = outcome.told.aside.iter().map(|it| it.to_str().unwrap()).collect();
    for it in [
        "new/one/.git/config",
        "src/config",
        "new/hidden/config",
        "new/file/.git",
        "new/hook/.git/hooks",
    ] {
        let at = world.path(&format!("home/work/{it}.set-aside-1"));
        assert!(aside.contains(&at.as_str()), "{it} is still there: {aside:?}");
    }
    for it in ["new/one", "src", "new/hidden", "new/file", "new/common", "new/hook", "packages/api"]
    {
        let mut git = user_command(&world, "/usr/bin/git");
        git.arg("-C").arg(world.at("home/work").join(it)).env_clear();
        git.args(["-c", "safe.directory=*", "status"]).output().unwrap();
        assert!(!world.at("home/work/ran").exists(), "{it} ran something: {aside:?}");
    }
}

fn made_by_git(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        git init -q new/one; cd new/one; echo x > x; git add x; git commit -qm first; git worktree add -q ../two
        cd ..; git clone -q one three; git init -q --bare four.git; cd three
        git -c protocol.file.allow=always submodule --quiet add \"$WS/new/one\" sub; git commit -qm second; cat sub/x";
    let outcome = run(&world, script, without);
    let text = outcome.text();
    assert_eq!(
        (outcome.told.ending.as_str(), text.as_str()),
        ("exited 0", "x\n"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.told.aside.is_empty(), "{:?}", outcome.told.aside);
}

fn needed(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    for rung in [Rung::Namespaces, Rung::Landlock, Rung::Seccomp, Rung::Limits, Rung::Cgroup] {
        let mut spec = shell(&world, "echo ran", without);
        spec.without.push(rung);
        spec.needed = vec![rung];
        let outcome = world.run(&spec, Stdio::null(), Kill::Never);
        let ending = &outcome.told.ending;
        assert!(ending.starts_with("error ") && outcome.stdout.is_empty(), "{rung}: {ending}");
    }
    // Nothing that holds files, or nothing that holds calls, is no cage.
    for without in [vec![Rung::Namespaces, Rung::Landlock], vec![Rung::Seccomp]] {
        let outcome = run(&world, "echo ran", &without);
        assert!(outcome.told.ending.starts_with("error ") && outcome.stdout.is_empty());
    }
}

fn proxy(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "
import os, socket, urllib.parse
url = urllib.parse.urlparse(os.environ['HTTP_PROXY'])
print(url.username, url.password)
print(socket.create_connection((url.hostname, url.port), 5).recv(100).decode())
for port in [int(os.environ['TCP']), url.port + 1]:
    for family, protocol in [(2, 0), (2, 6), (2, 262), (10, 0)]:
        try:
            s = socket.socket(family, socket.SOCK_STREAM, protocol)
            s.settimeout(3)
            s.connect(('127.0.0.1' if family == 2 else '::1', port))
            print('ESCAPED', port, family, protocol)
        except OSError:
            pass
try:
    s = socket.socket(2, socket.SOCK_DGRAM)
    s.sendto(b'x', ('127.0.0.1', int(os.environ['UDP'])))
except OSError:
    pass
try:
    s = socket.socket(2, socket.SOCK_STREAM)
    s.bind(('127.0.0.1', 0))
    s.listen()
    print('listens')
except OSError:
    print('does not listen')
";
    let mut spec = world.spec(&["/usr/bin/python3", "-c", script], without);
    spec.proxy_says = Some("this is the proxy".to_owned());
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    let (text, ending) = (outcome.text(), &outcome.told.ending);
    match without {
        [] => assert_eq!(
            text, "name word\nthis is the proxy\nlistens\n",
            "{ending} {}",
            outcome.stderr
        ),
        // What the kernel has left knows ports and no addresses.
        _ => {
            assert!(text.is_empty() && ending.contains("a network of its own"), "{ending}: {text}")
        }
    }
    assert_eq!(world.services.reached(), 0);
}

fn work(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        cc -o main src/main.c && ./main; chmod +x main; git add src; git commit -qm first; git log --format=%s
        mkfifo p; (echo through > p) & cat p; rm p; touch -d 2001-01-01 src/main.c; cp -p src/main.c copy
        t=$(mktemp); echo x > $t; cat $t; python3 -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, 2]))' || true";
    let outcome = run(&world, script, without);
    let (text, ending) = (outcome.text(), &outcome.told.ending);
    assert!(text.contains("first\nthrough\nx\n"), "{ending} {text} {}", outcome.stderr);
    assert_eq!(ending, "exited 0", "{}", outcome.stderr);
}

fn own_name(user: User, without: &[Rung]) {
    if !without.is_empty() {
        return;
    }
    let world = World::make(user, false);
    let script =
        "import socket; print(socket.gethostname(), socket.gethostbyname(socket.gethostname()))";
    let spec = world.spec(&["/usr/bin/python3", "-c", script], without);
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.text(), "lazaret 127.0.0.1\n", "{}", outcome.stderr);
}

/// They reserve more addresses than any machine has memory.
fn sanitizers(user: User, without: &[Rung]) {
    if !without.is_empty() {
        return;
    }
    let world = World::make(user, false);
    let script = "for it in address thread; do
          cc -fsanitize=$it -o $it src/main.c 2>/dev/null || { echo none; continue; }
          ./$it || exit 3
        done; echo end";
    let mut spec = shell(&world, script, without);
    spec.environment.push(("LSAN_OPTIONS".to_owned(), "detect_leaks=0".to_owned()));
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.told.ending, "exited 0", "{} {}", outcome.text(), outcome.stderr);
}

fn rebase(user: User, without: &[Rung]) {
    let world = World::make(user, false);
    let script = "set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
        git init -q new; cd new; for i in 1 2 3; do echo $i > $i; git add $i; git commit -qm $i; done
        git rebase -q --exec 'echo ran >> ran.txt' HEAD~2; cat ran.txt";
    let outcome = run(&world, script, without);
    assert_eq!(outcome.text(), "ran\nran\n", "{}", outcome.stderr);
    assert!(outcome.told.aside.is_empty(), "{:?}", outcome.told.aside);
}
