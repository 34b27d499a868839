//! What a machine offers, on prepared trees.

#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "test files need not be atomic")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sandbox::audit::Status;
use sandbox::probe::{Possibility, Question, landlock_abi, probe, program};

fn lay(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn good(root: &Path) {
    lay(
        root,
        &[
            ("proc/self/ns/user", ""),
            ("proc/sys/user/max_user_namespaces", "96343\n"),
            ("proc/sys/kernel/unprivileged_userns_clone", "1\n"),
            (
                "proc/sys/kernel/seccomp/actions_avail",
                "kill_process kill_thread trap errno log allow\n",
            ),
            ("proc/self/cgroup", "0::/user.slice/lazaret.scope\n"),
            ("sys/fs/cgroup/user.slice/lazaret.scope/cgroup.procs", ""),
            ("sys/fs/cgroup/user.slice/lazaret.scope/cgroup.subtree_control", ""),
            ("sys/fs/cgroup/user.slice/lazaret.scope/cgroup.controllers", "cpu memory pids\n"),
            ("bin/bwrap", ""),
        ],
    );
    fs::set_permissions(root.join("bin/bwrap"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn ask(root: &Path) -> Question<'_> {
    Question { root, path: None, as_root: false, tried: None, landlock: Some(7) }
}

fn row(question: &Question<'_>, id: &str) -> Possibility {
    probe(question).into_iter().find(|it| it.id == id).unwrap()
}

#[test]
fn a_good_machine_has_all_of_it() {
    let dir = tempfile::tempdir().unwrap();
    good(dir.path());
    let path = dir.path().join("bin").into_os_string();
    let all = probe(&Question { path: Some(&path), ..ask(dir.path()) });
    assert!(all.iter().all(|it| it.status == Status::Pass && it.advice.is_empty()), "{all:#?}");
}

#[test]
fn a_group_that_others_are_in_cannot_be_divided() {
    const GROUP: &str = "sys/fs/cgroup/user.slice/lazaret.scope";
    let (procs, kind) = (format!("{GROUP}/cgroup.procs"), format!("{GROUP}/cgroup.type"));
    let own = format!("{}\n", std::process::id());
    let others = format!("{own}1\n");
    for (kind, procs_text, status) in [
        (Some("domain\n"), own.as_str(), Status::Pass),
        (Some("domain\n"), others.as_str(), Status::Weak),
        // The topmost group may hold processes and be divided.
        (None, others.as_str(), Status::Pass),
    ]
    .map(|(text, procs_text, status)| (text.map(|it| (kind.as_str(), it)), procs_text, status))
    {
        let dir = tempfile::tempdir().unwrap();
        good(dir.path());
        lay(dir.path(), &[(procs.as_str(), procs_text)]);
        lay(dir.path(), kind.as_slice());
        let found = row(&ask(dir.path()), "cgroups");
        assert_eq!(found.status, status, "{found:?}");
        assert_eq!(found.what.contains("other processes"), status == Status::Weak, "{found:?}");
    }
}

#[test]
fn nothing_there_is_said_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let all = probe(&Question { landlock: None, ..ask(dir.path()) });
    assert!(all.iter().all(|it| it.status != Status::Pass && !it.advice.is_empty()), "{all:#?}");
}

#[test]
fn who_forbids_user_namespaces_is_named() {
    for (path, text, word, for_root) in [
        ("proc/sys/user/max_user_namespaces", "0\n", "none may", Status::Fail),
        ("proc/sys/kernel/unprivileged_userns_clone", "0\n", "only root", Status::Pass),
        ("proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n", "AppArmor", Status::Pass),
    ] {
        let dir = tempfile::tempdir().unwrap();
        good(dir.path());
        lay(dir.path(), &[(path, text)]);
        let found = row(&ask(dir.path()), "user_namespaces");
        assert!(found.status == Status::Fail && found.what.contains(word), "{found:?}");
        let root = row(&Question { as_root: true, ..ask(dir.path()) }, "user_namespaces");
        assert_eq!(root.status, for_root, "{path}");
        // Who has tried knows better than any setting.
        let tried = Question { tried: Some(true), ..ask(dir.path()) };
        assert_eq!(row(&tried, "user_namespaces").status, Status::Pass);
    }
    let dir = tempfile::tempdir().unwrap();
    good(dir.path());
    let tried = row(&Question { tried: Some(false), ..ask(dir.path()) }, "user_namespaces");
    assert_eq!(tried.status, Status::Fail, "no setting forbids it, and yet");
}

#[test]
fn a_part_of_the_controllers_is_less() {
    let dir = tempfile::tempdir().unwrap();
    good(dir.path());
    lay(dir.path(), &[("sys/fs/cgroup/user.slice/lazaret.scope/cgroup.controllers", "pids\n")]);
    let found = row(&ask(dir.path()), "cgroups");
    assert!(found.status == Status::Weak && found.what.contains("memory, cpu"), "{found:?}");
    lay(dir.path(), &[("proc/self/cgroup", "9:name=systemd:/\n4:memory:/x\n")]);
    assert_eq!(row(&ask(dir.path()), "cgroups").what, "not delegated to us");
    // Older systems have a tree for each controller.
    fs::create_dir_all(dir.path().join("sys/fs/cgroup/memory/x")).unwrap();
    let found = row(&ask(dir.path()), "cgroups");
    assert_eq!(found.what, "of version 1 alone without pids, cpu: slow to make");
    // A cage makes none of these unless it has to, so all of them are still less.
    lay(dir.path(), &[("proc/self/cgroup", "4:memory,pids,cpu:/x\n")]);
    for controller in ["pids/x", "cpu/x"] {
        fs::create_dir_all(dir.path().join("sys/fs/cgroup").join(controller)).unwrap();
    }
    let found = row(&ask(dir.path()), "cgroups");
    assert!(found.status == Status::Weak && found.what.contains("version 1"), "{found:?}");
}

#[test]
fn programs_are_found_in_absolute_directories_alone() {
    let dir = tempfile::tempdir().unwrap();
    good(dir.path());
    let bin = dir.path().join("bin").into_os_string();
    assert_eq!(program(Some(&bin), &["no", "bwrap"]), Some(dir.path().join("bin/bwrap")));
    fs::set_permissions(dir.path().join("bin/bwrap"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(program(Some(&bin), &["bwrap"]), None, "nobody can run it");
    assert_eq!(program(Some(OsStr::new(".:bin:")), &["Cargo.toml"]), None);
    assert_eq!(program(None, &["sh"]), None);
}

#[test]
fn the_kernel_says_which_landlock_it_has() {
    let found = landlock_abi();
    let modules = fs::read_to_string("/sys/kernel/security/lsm").unwrap_or_default();
    if modules.contains("landlock") {
        assert!(found.is_some_and(|it| it >= 1), "{found:?}");
    }
    assert!(found.is_none_or(|it| (1..1000).contains(&it)), "{found:?}");
}
