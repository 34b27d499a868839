//! What a command makes so that somebody outside obeys it, and hides from whoever looks: behind modes, behind names, in
//! parts of a repository, and in two commands where one would be seen.

use std::path::Path;
use std::process::Stdio;

use crate::Test;
use crate::attempts::users;
use crate::probe::User;
use crate::world::{Kill, World};

/// One try: its name, the commands one after the other, and what must not be there in the end, seen from the workspace.
type Try = (&'static str, &'static [&'static str], &'static str);

const TRIES: &[Try] = &[
    (
        "a-repository-in-a-directory-that-cannot-be-read",
        &["mkdir -p sub/.git; echo '[core] fsmonitor = x' > sub/.git/config; chmod 0311 sub"],
        "sub/.git/config",
    ),
    (
        "a-repository-in-a-directory-that-cannot-be-entered",
        &["mkdir -p sub/.git; echo '[core] fsmonitor = x' > sub/.git/config; chmod 0400 sub"],
        "sub/.git/config",
    ),
    (
        "a-repository-that-is-closed-at-first",
        &[
            "mkdir -p sub/deep/.git; echo '[core] fsmonitor = x' > sub/deep/.git/config; chmod 0 sub",
            "chmod 0755 sub",
        ],
        "sub/deep/.git/config",
    ),
    (
        "a-repository-below-a-directory-that-was-closed-before",
        &[
            "mkdir -p sub/deep; chmod 0311 sub",
            "mkdir sub/deep/.git; echo '[core] fsmonitor = x' > sub/deep/.git/config",
        ],
        "sub/deep/.git/config",
    ),
    (
        "settings-in-a-directory-that-cannot-be-changed",
        &["mkdir -p sub/.git; echo '[core] fsmonitor = x' > sub/.git/config; chmod 0555 sub/.git"],
        "sub/.git/config",
    ),
    (
        "a-known-repository-that-is-closed",
        &["echo '{}' > packages/api/.mcp.json; chmod 0 packages/api packages"],
        "packages/api/.mcp.json",
    ),
    (
        "every-name-for-it-is-taken",
        &["for i in $(seq 1 1000); do : > .mcp.json.set-aside-$i; done; echo '{}' > .mcp.json"],
        ".mcp.json",
    ),
    (
        "another-place-for-the-settings-of-a-submodule",
        &["mkdir evil; echo '[core] fsmonitor = x' > evil/config; \
           echo ../../../evil > .git/modules/lib/commondir"],
        ".git/modules/lib/commondir",
    ),
    (
        "settings-of-a-worktree",
        &["echo '[core] fsmonitor = x' > .git/worktrees/tree/config.worktree"],
        ".git/worktrees/tree/config.worktree",
    ),
    (
        "another-place-for-the-settings-of-a-bare-repository",
        &[
            "mkdir evil; echo '[core] fsmonitor = x' > evil/config; echo ../evil > mirror.git/commondir",
        ],
        "mirror.git/commondir",
    ),
    (
        "a-worktree-whose-settings-lie-where-nobody-looks",
        &[
            "mkdir -p sub .git/x/.git .git/worktrees/sub; echo '[core] fsmonitor = x' > .git/x/.git/config; \
           echo ../../x/.git > .git/worktrees/sub/commondir; echo ref: x > .git/worktrees/sub/HEAD; \
           echo 'gitdir: ../.git/worktrees/sub' > sub/.git",
        ],
        "sub/.git",
    ),
    (
        "a-submodule-whose-settings-cannot-be-looked-at",
        &["mkdir -p sub .git/modules/sub; echo '[core] fsmonitor = x' > .git/modules/sub/config; \
           echo 'gitdir: ../.git/modules/sub' > sub/.git; chmod 0400 .git/modules/sub"],
        "sub/.git",
    ),
    (
        "a-repository-in-a-directory-called-like-secrets",
        &["mkdir -p sub/.env/.git; echo '[core] fsmonitor = x' > sub/.env/.git/config"],
        "sub/.env/.git/config",
    ),
    (
        "settings-of-a-submodule-that-is-new",
        &[
            "mkdir -p .git/modules/new/objects .git/modules/new/refs; ln -s refs/heads/main .git/modules/new/HEAD; \
           echo '[core] fsmonitor = x' > .git/modules/new/config",
        ],
        ".git/modules/new/config",
    ),
    (
        "hooks-of-a-submodule-below-what-looks-like-another",
        &[
            "mkdir -p .git/modules/a/b/hooks .git/modules/a/b/objects .git/modules/a/b/refs; echo x > .git/modules/a/HEAD; \
           echo 'ref: refs/heads/main' > .git/modules/a/b/HEAD; echo x > .git/modules/a/b/hooks/post-checkout",
        ],
        ".git/modules/a/b/hooks",
    ),
    (
        "a-git-file-that-leads-to-a-name-with-a-blank",
        &["mkdir -p sub .git/ok '.git/ok ' && cp .git/HEAD .git/ok && cp .git/HEAD '.git/ok ' && \
           mkdir .git/ok/objects .git/ok/refs '.git/ok /objects' '.git/ok /refs' && \
           cp .git/config .git/ok && echo '[core] fsmonitor = x' > '.git/ok /config' && \
           printf 'gitdir: ../.git/ok \\n' > sub/.git"],
        "sub/.git",
    ),
    (
        "a-git-file-that-leads-to-a-name-with-a-blank-by-commondir",
        &[
            "mkdir -p sub .git/wt .git/ok '.git/ok ' && cp .git/HEAD .git/wt && cp .git/config .git/ok && \
           echo '[core] fsmonitor = x' > '.git/ok /config' && printf '../ok ' > .git/wt/commondir && \
           printf 'gitdir: ../.git/wt\\n' > sub/.git",
        ],
        "sub/.git",
    ),
    (
        "a-step-of-a-rebase-that-runs-something",
        &[
            "mkdir .git/rebase-merge; printf 'pick 1234\\nexec x\\n' > .git/rebase-merge/git-rebase-todo",
        ],
        ".git/rebase-merge/git-rebase-todo",
    ),
    (
        "a-step-of-a-rebase-in-a-worktree",
        &[
            "mkdir .git/worktrees/tree/rebase-merge; printf 'x y\\n' > .git/worktrees/tree/rebase-merge/git-rebase-todo",
        ],
        ".git/worktrees/tree/rebase-merge/git-rebase-todo",
    ),
    ("what-an-editor-opens", &["echo '{}' > new.code-workspace"], "new.code-workspace"),
    ("a-text-that-instructs-agents", &["echo x > AGENTS.md"], "AGENTS.md"),
    ("hooks-of-husky", &["mkdir .husky; echo x > .husky/pre-commit"], ".husky"),
    (
        "a-submodule-behind-a-link",
        &[
            "mkdir -p .git/x/evil; echo '[core] fsmonitor = x' > .git/x/evil/config; ln -s ../x/evil .git/modules/evil",
        ],
        ".git/modules/evil",
    ),
];

pub(crate) fn all() -> Vec<Test> {
    let mut tests = Vec::new();
    for user in users() {
        let who = if user == User::Root { "root" } else { "user" };
        for it in TRIES {
            let name = format!("obeyed/{}/{who}", it.0);
            tests.push(Test { name, run: Box::new(move || is_not_obeyed(user, it)) });
        }
        for (name, run) in [
            ("what-a-person-has-closed-stays-closed", closed as fn(User)),
            ("settings-that-are-closed-stay-as-they-are", closed_settings),
            ("a-secret-behind-a-closed-directory-is-not-read", closed_secret),
            ("a-workspace-that-cannot-be-looked-into-is-refused", closed_workspace),
            ("what-is-replaced-outside-stays-kept-and-is-told", replaced),
            ("links-on-the-way-to-what-is-obeyed-lead-where-they-led", links),
            ("a-directory-as-stdin-is-refused", directory_as_stdin),
            ("more-parts-of-a-repository-than-are-looked-at-are-refused", many_parts),
            ("what-a-git-file-behind-a-link-leads-to-is-kept", linked_git_file),
            ("texts-that-instruct-agents-stay-as-they-are", instructing),
            ("what-a-person-lets-it-change-is-changed", changed),
            ("secrets-beside-programs-are-covered", beside_programs),
        ] {
            tests.push(Test {
                name: format!("obeyed/{name}/{who}"),
                run: Box::new(move || run(user)),
            });
        }
    }
    tests
}

fn run(world: &World, script: &str) -> String {
    let spec = world.spec(&["/bin/sh", "-c", script], &[]);
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    let told = &outcome.told;
    format!("{}\n{}{}\naside: {:?}", told.ending, outcome.text(), outcome.stderr, told.aside)
}

fn is_not_obeyed(user: User, (_, scripts, hidden): &Try) {
    let world = World::make(user, false);
    let shown: Vec<String> = scripts.iter().map(|it| run(&world, it)).collect();
    assert!(shown[0].starts_with("exited 0"), "{shown:#?}");
    let at = world.at("home/work").join(hidden);
    // As root, to whom nothing is closed.
    assert!(at.symlink_metadata().is_err(), "it is still there: {shown:#?}");
    assert!(is_aside(&at), "it was taken away and not set aside: {shown:#?}");
}

/// Does it lie beside its place, under another name?
fn is_aside(at: &Path) -> bool {
    let name = format!("{}.set-aside-", at.file_name().unwrap().to_str().unwrap());
    let beside = std::fs::read_dir(at.parent().unwrap()).unwrap().map(Result::unwrap);
    // What a command had made under such a name before is empty.
    beside
        .filter(|it| it.metadata().unwrap().len() > 0)
        .any(|it| it.file_name().to_str().unwrap().starts_with(&name))
}

fn mode(world: &World, place: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    let at = world.at("home/work").join(place);
    std::fs::set_permissions(at, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// To root nothing is closed.
fn closed(user: User) {
    if user == User::Root {
        return;
    }
    let world = World::make(user, false);
    mode(&world, "src", 0);
    let shown = run(&world, "chmod 0755 src && cat src/main.c");
    assert!(!shown.starts_with("exited 0") && !shown.contains("int main"), "{shown}");
    mode(&world, "src", 0o755);
}

fn closed_settings(user: User) {
    if user == User::Root {
        return;
    }
    let world = World::make(user, false);
    for (dir, file) in [(".git", ".git/config"), (".git/modules", ".git/modules/lib/config")] {
        let at = world.at("home/work").join(file);
        let before = std::fs::read_to_string(&at).unwrap();
        mode(&world, dir, 0);
        let shown = run(&world, &format!("chmod 0755 {dir}; echo evil >> {file}"));
        mode(&world, dir, 0o755);
        assert_eq!(std::fs::read_to_string(&at).unwrap(), before, "{shown}");
    }
}

/// In two commands: the first one closes what it lies in.
fn closed_secret(user: User) {
    let world = World::make(user, true);
    let first = run(&world, "chmod 0 packages/api/deep/er");
    let script = "chmod 0755 packages/api/deep/er; cat packages/api/deep/er/.env.production";
    let shown = run(&world, script);
    assert!(first.starts_with("exited 0") && !shown.contains("canary"), "{first}\n{shown}");
}

fn closed_workspace(user: User) {
    if user == User::Root {
        return;
    }
    let world = World::make(user, false);
    for closed in [0, 0o311, 0o400] {
        mode(&world, ".", closed);
        let shown = run(&world, "true");
        mode(&world, ".", 0o755);
        assert!(shown.contains("cannot be looked into"), "{closed:o}: {shown}");
    }
}

/// As an editor or git does it: a new file takes the place of the old one, and with that one the kernel lets go of what was
/// mounted on it.
fn replaced(user: User) {
    let world = World::make(user, false);
    let work = world.at("home/work");
    let files = [".git/config", ".env", ".mcp.json"];
    for it in files {
        std::fs::write(work.join(it), "before").unwrap();
    }
    let script = "set -e; : > ready; i=0
        while ! [ -e done ]; do i=$((i+1)); [ $i -lt 1000 ] || exit 3; sleep 0.01; done
        # Longer than it takes to be noticed.
        sleep 1
        for it in .git/config .mcp.json; do ! echo evil >> $it || exit 4; ! mv $it x || exit 5; done
        ! cat .env || exit 6";
    let mut outcome = String::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..1000 {
                if work.join("ready").exists() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            for it in files {
                let new = work.join("new");
                std::fs::copy(work.join(it), &new).unwrap();
                std::fs::write(&new, "after").unwrap();
                if let User::Ordinary(Some(id)) = world.user {
                    std::os::unix::fs::chown(&new, Some(id), Some(id)).unwrap();
                }
                std::fs::rename(&new, work.join(it)).unwrap();
            }
            std::fs::write(work.join("done"), "").unwrap();
        });
        outcome = run(&world, script);
    });
    assert!(outcome.starts_with("exited 0") && !outcome.contains("after\n"), "{outcome}");
    for it in files {
        assert_eq!(std::fs::read_to_string(work.join(it)).unwrap(), "after", "{it}: {outcome}");
        assert!(outcome.contains(&format!("{:?}", work.join(it))), "{it} is not told: {outcome}");
    }
}

fn links(user: User) {
    use std::os::unix::fs::symlink;
    let world = World::make(user, false);
    let (home, work) = (world.at("home"), world.at("home/work"));
    for it in ["first/cursor", "first/shell"] {
        std::fs::create_dir_all(work.join(it)).unwrap();
    }
    std::fs::write(work.join("first/shell/zshrc"), "before").unwrap();
    std::fs::remove_file(home.join(".zshrc")).unwrap();
    for (target, link) in [
        ("first", work.join("second")),
        ("second/cursor", work.join(".cursor")),
        ("soon/gemini", work.join(".gemini")),
        ("work/second/shell/zshrc", home.join(".zshrc")),
    ] {
        symlink(target, link).unwrap();
    }
    let shown = run(
        &world,
        "rm second && mkdir -p evil/cursor evil/shell soon/gemini && ln -s evil second &&
         echo evil | tee evil/shell/zshrc evil/cursor/rules soon/gemini/settings.json",
    );
    assert!(shown.starts_with("exited 0"), "{shown}");
    let led_to = |it: &Path| it.canonicalize().ok();
    assert_eq!(led_to(&work.join(".cursor")), Some(work.join("first/cursor")), "{shown}");
    assert_eq!(led_to(&home.join(".zshrc")), Some(work.join("first/shell/zshrc")), "{shown}");
    assert_eq!(led_to(&work.join(".gemini")), None, "{shown}");
}

/// A command could make so many that settings of others are not found any more.
fn many_parts(user: User) {
    let world = World::make(user, false);
    let first = run(&world, "cd .git/modules && mkdir -p a && cd a && seq 1 20001 | xargs mkdir");
    assert!(first.starts_with("exited 0"), "{first}");
    let next = run(&world, "echo evil >> .git/modules/lib/config");
    assert!(next.contains("entries of submodules"), "{next}");
}

fn linked_git_file(user: User) {
    let world = World::make(user, false);
    let sub = world.at("home/work/sub");
    std::fs::create_dir_all(sub.join("real")).unwrap();
    std::fs::write(sub.join("gitfile"), "gitdir: real\n").unwrap();
    std::os::unix::fs::symlink("gitfile", sub.join(".git")).unwrap();
    std::fs::write(sub.join("real/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(sub.join("real/config"), "before").unwrap();
    world.own_all("home/work/sub");
    let shown = run(&world, "echo evil > sub/gitfile; echo evil > sub/real/config; true");
    assert_eq!(std::fs::read_to_string(sub.join("gitfile")).unwrap(), "gitdir: real\n", "{shown}");
    assert_eq!(std::fs::read_to_string(sub.join("real/config")).unwrap(), "before", "{shown}");
}

fn instructing(user: User) {
    let world = World::make(user, false);
    let places =
        ["CLAUDE.md", "src/AGENTS.md", "x.code-workspace", ".idea/workspace.xml", ".hg/hgrc"];
    for it in places {
        crate::world::plant(&world.at("home/work").join(it), "before");
    }
    world.own_all("home/work");
    let script = places.map(|it| format!("echo evil > {it}; rm -f {it}; ")).concat();
    let shown = run(&world, &script);
    for it in places {
        let now = std::fs::read_to_string(world.at("home/work").join(it)).unwrap();
        assert_eq!(now, "before\n", "{it}: {shown}");
    }
}

fn changed(user: User) {
    let world = World::make(user, false);
    crate::world::plant(&world.at("home/work/CLAUDE.md"), "before");
    world.own_all("home/work");
    let script = "echo new > CLAUDE.md && echo new > AGENTS.md && echo {} > .mcp.json && \
                  ! echo x >> .git/config";
    let mut spec = world.spec(&["/bin/sh", "-c", script], &[]);
    let places = ["home/work/CLAUDE.md", "home/work/AGENTS.md"];
    spec.changed = places.map(|it| world.path(it).into_bytes()).to_vec();
    let outcome = world.run(&spec, Stdio::null(), Kill::Never);
    assert_eq!(outcome.told.ending, "exited 0", "{}", outcome.stderr);
    for it in places {
        assert_eq!(std::fs::read_to_string(world.at(it)).unwrap(), "new\n", "{it}");
    }
    assert!(!world.at("home/work/.mcp.json").exists());
    for (wrong, why) in [
        ("home/work", "lies in no workspace"),
        ("outside/file", "lies in no workspace"),
        ("home/work/.git/hooks/pre-commit", "kept as a whole"),
    ] {
        spec.changed = vec![world.path(wrong).into_bytes()];
        let outcome = world.run(&spec, Stdio::null(), Kill::Never);
        assert!(outcome.told.ending.contains(why), "{wrong}: {}", outcome.told.ending);
    }
}

fn beside_programs(user: User) {
    let world = World::make(user, false);
    let secrets =
        ["go/src/app/.env", "go/bin/.env", ".nvm/app/credentials.json", ".local/lib/x/.netrc"];
    for it in secrets {
        crate::world::plant(&world.at("home").join(it), &world.canary);
    }
    crate::world::plant(&world.at("home/.nvm/nvm.sh"), "program");
    world.own_all("home");
    let script = secrets.map(|it| format!("cat \"$HOST_HOME/{it}\"; ")).concat();
    let shown = run(&world, &format!("{script} cat \"$HOST_HOME/.nvm/nvm.sh\""));
    assert!(shown.contains("program") && !shown.contains(&world.canary), "{shown}");
}

/// Everything outside has a name by way of it.
fn directory_as_stdin(user: User) {
    let world = World::make(user, false);
    let spec = world.spec(&["/bin/true"], &[]);
    let stdin = std::fs::File::open(world.at("home")).unwrap();
    let outcome = world.run(&spec, Stdio::from(stdin), Kill::Never);
    assert!(outcome.told.ending.contains("stdin is a directory"), "{}", outcome.told.ending);
}
