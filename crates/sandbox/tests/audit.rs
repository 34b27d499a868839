//! The audit, on prepared trees: what a machine, a container, a hardened container and a cage look like from inside, and
//! what somebody would write to look like one.

#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "test files need not be atomic")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use proptest::prelude::*;
use sandbox::audit::{Audit, Compliance, Status, audit};

/// A tree, as one sees it from inside.
#[derive(Clone)]
struct Tree {
    files: BTreeMap<&'static str, String>,
    own: BTreeMap<&'static str, u64>,
    first: BTreeMap<&'static str, u64>,
    variables: BTreeMap<&'static str, &'static str>,
}

const MACHINE: [(&str, u64); 7] = [
    ("user", 4026531837),
    ("pid", 4026531836),
    ("mnt", 4026531841),
    ("net", 4026531840),
    ("ipc", 4026531839),
    ("uts", 4026531838),
    ("cgroup", 4026531835),
];

fn status(uid: u32, capabilities: u64, no_new_privileges: u8, seccomp: u8) -> String {
    format!(
        "Name:\tlazaret\nUmask:\t0022\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nCapInh:\t0000000000000000\n\
         CapPrm:\t{capabilities:016x}\nCapEff:\t{capabilities:016x}\nCapBnd:\t{capabilities:016x}\n\
         CapAmb:\t0000000000000000\nNoNewPrivs:\t{no_new_privileges}\nSeccomp:\t{seccomp}\n\
         Seccomp_filters:\t{seccomp}\n"
    )
}

fn limits(processes: &str, memory: &str) -> String {
    format!(
        "Limit                     Soft Limit           Hard Limit           Units     \n\
         Max processes             {processes:<20} {processes:<20} processes \n\
         Max open files            1024                 524288               files     \n\
         Max address space         {memory:<20} {memory:<20} bytes     \n"
    )
}

const DEVICES: &str = "Inter-|   Receive                                                |  Transmit\n \
    face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n";

/// A plain machine: nothing confines anybody.
fn machine() -> Tree {
    let files = BTreeMap::from([
        ("proc/self/status", status(1000, 0, 0, 0)),
        ("proc/self/mountinfo", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n".into()),
        ("proc/self/limits", limits("127246", "unlimited")),
        ("proc/self/cgroup", "0::/user.slice/user-1000.slice/session-2.scope\n".into()),
        ("proc/self/net/dev", format!("{DEVICES}    lo:  0 0\n  eth0:  1 1\n")),
        ("sys/class/net/eth0/iflink", "2\n".into()),
        ("sys/class/net/eth0/ifindex", "2\n".into()),
        ("sys/kernel/security/lsm", "lockdown,capability,landlock,yama,apparmor\n".into()),
        ("proc/self/attr/current", "unconfined\n".into()),
    ]);
    let own = BTreeMap::from(MACHINE);
    Tree { files, own, first: BTreeMap::new(), variables: BTreeMap::new() }
}

/// A container as engines make it if nobody says anything.
fn container() -> Tree {
    let mut tree = machine();
    tree.files.insert(".dockerenv", String::new());
    tree.files.insert("proc/self/status", status(0, 0xa804_25fb, 0, 2));
    tree.files.insert(
        "proc/self/mountinfo",
        "573 450 0:48 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/var/lib/x\n".into(),
    );
    tree.files.insert("proc/self/cgroup", "0::/\n".into());
    tree.files.insert("sys/class/net/eth0/iflink", "7\n".into());
    tree.files.insert("proc/self/attr/current", "docker-default (enforce)\n".into());
    for (kind, number) in [("pid", 4026532567), ("mnt", 4026532565), ("net", 4026532569)] {
        tree.own.insert(kind, number);
    }
    for (kind, number) in [("ipc", 4026532566), ("uts", 4026532564), ("cgroup", 4026532632)] {
        tree.own.insert(kind, number);
    }
    // Process 1 is in the same box.
    tree.first = tree.own.clone();
    tree
}

/// A container with everything that our container file asks for.
fn hardened() -> Tree {
    let mut tree = container();
    tree.files.insert("proc/self/status", status(65532, 0, 1, 2));
    tree.files.insert(
        "proc/self/mountinfo",
        "573 450 0:48 / / ro,relatime master:1 - overlay overlay rw,lowerdir=/var/lib/x\n".into(),
    );
    tree.files.insert("sys/fs/cgroup/pids.max", "256\n".into());
    tree.files.insert("sys/fs/cgroup/memory.max", "536870912\n".into());
    tree
}

/// A cage of ours: user namespace, no interfaces, no capabilities, no `/sys`.
fn cage() -> Tree {
    let mut tree = hardened();
    tree.files.retain(|path, _| !path.starts_with("sys/") && *path != ".dockerenv");
    tree.files.remove("proc/self/attr/current");
    tree.files.insert("proc/self/net/dev", format!("{DEVICES}    lo:  0 0\n"));
    tree.files.insert("proc/self/limits", limits("256", "1073741824"));
    tree.own.insert("user", 4026532563);
    tree.first = tree.own.clone();
    tree
}

fn lay(tree: &Tree, at: &Path) {
    for (path, text) in &tree.files {
        let path = at.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for (process, links) in [("self", &tree.own), ("1", &tree.first)] {
        let ns = at.join("proc").join(process).join("ns");
        fs::create_dir_all(&ns).unwrap();
        for (kind, number) in links {
            symlink(format!("{kind}:[{number}]"), ns.join(kind)).unwrap();
        }
    }
}

fn look(tree: &Tree) -> Audit {
    let dir = tempfile::tempdir().unwrap();
    lay(tree, dir.path());
    audit(dir.path(), |name| tree.variables.get(name).map(|it| (*it).to_owned()))
}

fn status_of(audit: &Audit, id: &str) -> Status {
    audit.findings().iter().find(|it| it.id == id).unwrap().status
}

#[test]
fn a_plain_machine_is_none() {
    let found = look(&machine());
    assert_eq!(found.compliance(), Compliance::None, "{found:?}");
    assert!(found.score() < 30, "{}", found.score());
    let advised =
        found.findings().iter().all(|it| it.advice.is_empty() == (it.status == Status::Pass));
    assert!(advised, "what does not hold comes with what to do");
}

#[test]
fn a_container_as_it_comes_is_partial() {
    let found = look(&container());
    assert_eq!(found.compliance(), Compliance::Partial, "{found:?}");
    assert_eq!(status_of(&found, "container"), Status::Pass);
    assert_eq!(status_of(&found, "namespaces"), Status::Pass);
    assert_eq!(status_of(&found, "capabilities"), Status::Fail);
    assert_eq!(status_of(&found, "user"), Status::Fail);
    assert_eq!(status_of(&found, "lsm"), Status::Pass);
}

#[test]
fn full_is_reached_by_a_hardened_container_and_by_a_cage() {
    for tree in [hardened(), cage()] {
        let found = look(&tree);
        assert_eq!(found.compliance(), Compliance::Full, "{found:?}");
        assert!(found.score() >= 95, "{}", found.score());
    }
}

#[test]
fn full_needs_every_wall() {
    for (path, text) in [
        ("proc/self/status", status(65532, 0, 1, 0)),
        ("proc/self/status", status(65532, 0, 0, 2)),
        ("proc/self/status", status(65532, 1 << 21, 1, 2)),
        ("proc/self/status", status(65532, 1, 1, 2)),
        ("proc/self/status", status(0, 0, 1, 2)),
        ("proc/self/mountinfo", "573 450 0:48 / / rw - overlay overlay rw\n".to_owned()),
        ("sys/fs/cgroup/pids.max", "max\n".to_owned()),
        ("sys/fs/cgroup/memory.max", "max\n".to_owned()),
        ("sys/class/net/eth0/iflink", "2\n".to_owned()),
    ] {
        let mut tree = hardened();
        tree.files.insert(path, text.clone());
        let found = look(&tree);
        assert_eq!(found.compliance(), Compliance::Partial, "{path}: {text}");
        tree.files.remove(path);
        assert_eq!(look(&tree).compliance(), Compliance::Partial, "{path} is not there");
    }
    for (kind, number) in MACHINE.iter().filter(|it| ["pid", "mnt", "ipc"].contains(&it.0)) {
        let mut tree = hardened();
        tree.own.insert(kind, *number);
        assert_eq!(look(&tree).compliance(), Compliance::Partial, "{kind} of the machine");
    }
}

#[test]
fn whoever_calls_the_machine_a_container_makes_it_none() {
    let mut tree = machine();
    tree.files.insert(".dockerenv", String::new());
    tree.files.insert("run/.containerenv", String::new());
    tree.files.insert("proc/self/cgroup", "0::/docker/0123/kubepods\n".into());
    tree.variables.insert("KUBERNETES_SERVICE_HOST", "10.0.0.1");
    let found = look(&tree);
    assert_eq!(found.compliance(), Compliance::None, "{found:?}");
    let row = found.findings().iter().find(|it| it.id == "container").unwrap();
    assert_eq!(row.status, Status::Fail);
    assert!(
        row.what.contains("the kernel does not") && row.what.contains("KUBERNETES"),
        "{}",
        row.what
    );
    // Links that are there and lead to the machine's own count for nothing.
    assert_eq!(status_of(&found, "namespaces"), Status::Fail);
}

#[test]
fn a_process_that_only_left_the_machines_mounts_is_seen_by_process_1() {
    let mut tree = machine();
    tree.first = tree.own.clone();
    tree.own.insert("mnt", 4026532999);
    let found = look(&tree);
    assert_eq!(status_of(&found, "namespaces"), Status::Weak);
    assert_eq!(status_of(&found, "container"), Status::Fail);
    assert_eq!(found.compliance(), Compliance::Partial);
}

#[test]
fn an_empty_root_is_none_and_scores_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let found = audit(dir.path(), |_| None);
    assert_eq!((found.compliance(), found.score()), (Compliance::None, 0));
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("proc/self")).unwrap();
    let path = dir.path().join("proc/self/status");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0)
        .unwrap();
    assert_eq!(audit(dir.path(), |_| None).compliance(), Compliance::None);
}

#[test]
fn the_real_root_can_be_read() {
    let found = audit(Path::new("/"), |name| std::env::var(name).ok());
    assert_ne!(status_of(&found, "seccomp"), Status::Unknown, "{found:?}");
    assert_ne!(status_of(&found, "readonly_root"), Status::Unknown, "{found:?}");
    assert_eq!(found.to_json()["findings"].as_array().unwrap().len(), found.findings().len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any text in any file is judged without a panic, within the scale; and what is not the text of a kernel is no wall.
    #[test]
    fn any_text_is_judged(
        which in 0_usize..9,
        text in "(?s)(.{0,300}|(Seccomp|CapEff|Uid|NoNewPrivs):[\\t 0-9a-fx]{0,20}\n|[0-9:/ ,.a-z\n-]{0,200})",
        link in "[a-z:\\[\\]0-9]{1,30}",
    ) {
        let mut tree = hardened();
        let path = *tree.files.keys().nth(which).unwrap();
        tree.files.insert(path, text);
        let dir = tempfile::tempdir().unwrap();
        lay(&tree, dir.path());
        let ns = dir.path().join("proc/self/ns/net");
        fs::remove_file(&ns).unwrap();
        symlink(link, ns).unwrap();
        let found = audit(dir.path(), |_| None);
        prop_assert!(found.score() <= 100);
        prop_assert_ne!(found.compliance(), Compliance::Full);
    }
}
