//! What somebody leaves who does not want it removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;

use super::*;

fn close(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o0)).unwrap();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
fn closed_folders_and_links_go_and_what_links_lead_to_stays() {
    let temp = tempfile::tempdir().unwrap();
    let (outside, tree) = (temp.path().join("outside"), temp.path().join("tree"));
    fs::create_dir_all(outside.join("kept")).unwrap();
    let mode = || fs::metadata(&outside).unwrap().permissions().mode();
    fs::set_permissions(&outside, fs::Permissions::from_mode(0o500)).unwrap();
    fs::create_dir_all(tree.join("a/b/c")).unwrap();
    fs::write(tree.join("a/b/c/f"), "x").unwrap();
    fs::write(tree.join(".going-00000001"), "in the way").unwrap();
    symlink(&outside, tree.join("a/b/away")).unwrap();
    symlink("gone", tree.join("a/dangling")).unwrap();
    for it in ["a/b/c", "a/b", "a", ""] {
        close(&tree.join(it));
    }
    // For root, whom no mode stops, this says less.
    assert_eq!(remove_tree(&tree).unwrap(), 7);
    assert!(!tree.exists() && outside.join("kept").is_dir());
    assert_eq!(mode() & 0o777, 0o500);
    // A link in its place goes itself; nothing there is nothing to do.
    symlink(&outside, &tree).unwrap();
    assert_eq!(remove_tree(&tree).unwrap(), 0);
    assert!(tree.symlink_metadata().is_err() && outside.join("kept").is_dir());
    assert_eq!(remove_tree(&tree).unwrap(), 0);
    assert_eq!(remove_tree(&temp.path().join("no/such")).unwrap(), 0);
}

#[test]
fn however_deep_and_wide_it_is() {
    let temp = tempfile::tempdir().unwrap();
    let tree = temp.path().join("tree");
    fs::create_dir(&tree).unwrap();
    let mut at = rustix::fs::open(&tree, FOLDER, Mode::empty()).unwrap();
    // Deeper than any path can say and than handles there may be.
    for _ in 0..1100 {
        rustix::fs::mkdirat(&at, "deep", Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, "deep", FOLDER, Mode::empty()).unwrap();
    }
    drop(at);
    for n in 0..NAMES_AT_ONCE_MAX + 10 {
        fs::create_dir(tree.join(format!("wide-{n}"))).unwrap();
    }
    assert_eq!(remove_tree(&tree).unwrap(), 1100 + NAMES_AT_ONCE_MAX as u64 + 10);
    assert!(!tree.exists());
}

/// Root is stopped by no mode: there the first test is run once more, as an ordinary user.
#[test]
#[expect(clippy::disallowed_methods, reason = "the test's own program, as somebody else")]
fn an_ordinary_user_removes_what_was_closed() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    const NOBODY: u32 = 65534;
    let temp = tempfile::tempdir().unwrap();
    fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let program = temp.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let test = "tree::tests::closed_folders_and_links_go_and_what_links_lead_to_stays";
    let mut child = std::process::Command::new(program);
    child.args([test, "--exact"]).env("TMPDIR", temp.path()).uid(NOBODY).gid(NOBODY);
    let said = child.output().unwrap();
    let text = String::from_utf8_lossy(&said.stdout);
    assert!(said.status.success() && text.contains("1 passed"), "{text}");
}
