//! What is found further down, before and after.

use std::fs;

use super::*;

fn make(root: &Path, files: &[&str]) {
    for it in files {
        let at = root.join(it);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::File::create(at).unwrap();
    }
}

fn below(root: &Path, found: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = found
        .iter()
        .map(|it| it.strip_prefix(root).unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn repositories_and_secrets_are_found_however_deep_they_lie() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    make(
        root,
        &[
            ".git/HEAD",
            ".env",
            "a/b/c/d/e/.git/config",
            "a/b/.env.local",
            "a/.env.example",
            "a/.envrc",
            "lib/.git",
            "node_modules/x/.git/config",
            "m.git/HEAD",
            "m.git/objects/x",
            "m.git/refs/x",
            "x/.env/pyvenv.cfg",
            "y/.env/production",
            "z/.netrc",
            // A disk that does not look at case takes them for the same.
            "case/.GIT/config",
            "case/.Env.Local",
            "case/.ENV.example",
        ],
    );
    let found = Nested::find(&[root.to_owned()], &[]).unwrap();
    assert_eq!(below(root, &found.repositories), ["a/b/c/d/e", "case", "lib", "node_modules/x"]);
    assert_eq!(below(root, &found.bare), ["m.git"]);
    let secrets = [".env", "a/b/.env.local", "case/.Env.Local", "y/.env", "z/.netrc"];
    assert_eq!(below(root, &found.secrets), secrets);
}

#[test]
fn what_is_made_later_is_found_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    make(root, &["a/.git/config", "b/c/file"]);
    let found = Nested::find(&[root.to_owned()], &[]).unwrap();
    assert!(found.made().repositories.is_empty());
    make(root, &["a/.git/more", "b/c/d/e/.git/config", "b/c/HEAD", "b/c/objects/x", "b/c/refs/x"]);
    let made = found.made();
    assert_eq!(below(root, &made.repositories), ["b/c/d/e"]);
    assert_eq!(below(root, &made.bare), ["b/c"]);
    assert!(!made.is_cut);
}

fn refused(bounds: Bounds, root: &Path) -> String {
    let found = Nested::find_within(bounds, &[root.to_owned()], &[]);
    found.map(|_| String::new()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn where_there_is_too_much_to_look_at_there_is_no_cage() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &["a/b/.env", "node_modules/x/file", "c/.git/config", "d/.git/config"]);
    let bounds = Bounds { directories: 7, entries: 100, repositories: 2 };
    assert_eq!(refused(bounds, dir.path()), "");
    for (bounds, what) in [
        (Bounds { directories: 6, ..bounds }, "more than 131072 directories"),
        (Bounds { entries: 8, ..bounds }, "more than 4000000 files"),
        (Bounds { repositories: 1, ..bounds }, "more than 500 repositories"),
    ] {
        let why = refused(bounds, dir.path());
        assert!(why.contains(what) && why.contains("--workspace"), "{what}: {why}");
    }
    // The same for what may only be read: nothing of it is seen that would have been covered.
    let few = Bounds { directories: 6, ..bounds };
    assert!(Nested::find_within(few, &[], &[dir.path().to_owned()]).is_err());
}

#[test]
fn names_of_the_gate_are_names_of_the_cage() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let secrets = [
        ".aer/x",
        ".claude/.credentials.json",
        ".codex/auth.json",
        ".docker/config.json",
        ".lazaret/vault",
        "a/.config/gh/hosts.yml",
        "a/credentials.json",
        "a/kubeconfig",
        "a/service-account.json",
        "a/store.jks",
        "a/store.p12",
        "a/terraform.tfstate",
        "a/terraform.tfstate.backup",
        "prod.env",
    ];
    make(root, &secrets);
    make(
        root,
        &[
            ".claude/settings.json",
            ".docker/Dockerfile",
            "chart/templates/secrets.yaml",
            "android/app/debug.keystore",
            "tests/data/store.p12",
            "node_modules/x/credentials.json",
            "config.json",
        ],
    );
    let found = Nested::find(&[root.to_owned()], &[]).unwrap();
    let mut expected: Vec<String> = secrets.map(str::to_owned).to_vec();
    for (file, dir) in [
        (".aer/x", ".aer"),
        (".lazaret/vault", ".lazaret"),
        ("a/.config/gh/hosts.yml", "a/.config/gh"),
    ] {
        expected.retain(|it| it != file);
        expected.push(dir.to_owned());
    }
    expected.sort();
    assert_eq!(below(root, &found.secrets), expected);
}

#[test]
fn what_instructs_agents_is_found_wherever_it_lies() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let obeyed = ["CLAUDE.md", "a.code-workspace", "sub/AGENTS.md", "sub/deep/claude.md"];
    make(root, &obeyed);
    make(root, &["sub/readme.md", "node_modules/x/AGENTS.md"]);
    let found = Nested::find(&[root.to_owned()], &[]).unwrap();
    assert_eq!(below(root, &found.obeyed), obeyed);
    assert_eq!(below(root, &opened_by_editors(root)), ["a.code-workspace"]);
}

#[test]
fn a_time_of_change_that_may_stand_for_two_changes_is_not_relied_on() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &["a/file"]);
    let found = Nested::find(&[dir.path().to_owned()], &[]).unwrap();
    assert!(found.looked.len() == 2 && found.looked.values().all(Option::is_none));
    let now = Changed::of(&lstat(dir.path()).unwrap()).0;
    // A clock may be set back.
    for (seconds, is_long_ago) in [(now - 10, true), (now, false), (now + 1000, false)] {
        assert_eq!(Changed(seconds, 0, 0).is_long_ago(), is_long_ago, "{seconds}");
    }
    // It is read again, and nothing is new.
    assert!(found.made().repositories.is_empty());
}

#[test]
fn keys_are_known_by_their_name_or_by_what_they_hold_and_samples_are_left() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let private = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----\n";
    let public = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    let chain = public.repeat(20) + private;
    for (name, content) in [
        ("tls/server.key", private),
        ("tls/chain.pem", &chain),
        ("tls/ca.pem", public),
        ("config/master.key", "0123456789abcdef0123456789abcdef\n"),
        ("talk.key", "PK\u{3}\u{4} slides"),
        ("deploy/id_rsa", ""),
        ("deploy/id_ed25519_ci", ""),
        ("deploy/id_ed25519_ci.pub", ""),
        ("deploy/credentials", ""),
        ("deploy/credentials.ts", ""),
        ("deploy/db.secret", ""),
        ("dot/.ssh/known_hosts", ""),
        ("web/.npmrc", "//registry.example/:_authToken=npm_0123\n"),
        ("api/.npmrc", "//registry.example/:_authToken=${NPM_TOKEN}\nengine-strict=true\n"),
        ("tls/UPPER.PEM", private),
        ("real/hidden", private),
        ("tests/tls/server.key", private),
        ("crates/x/testdata/key.pem", private),
        ("node_modules/x/certs/server.key", private),
    ] {
        make(root, &[name]);
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        fs::write(root.join(name), content).unwrap();
    }
    // What a link leads to, and what is closed: the command could open that.
    std::os::unix::fs::symlink("../real/hidden", root.join("tls/linked.key")).unwrap();
    make(root, &["tls/closed.key"]);
    let closed = std::os::unix::fs::PermissionsExt::from_mode(0o000);
    fs::set_permissions(root.join("tls/closed.key"), closed).unwrap();
    let found = Nested::find(&[root.to_owned()], &[]).unwrap();
    let mut secrets = below(root, &found.secrets);
    let had = secrets.len();
    secrets.retain(|it| it != "tls/closed.key");
    // Root sees that nothing is in it.
    assert_eq!(had > secrets.len(), !rustix::process::geteuid().is_root());
    assert_eq!(
        secrets,
        [
            "config/master.key",
            "deploy/credentials",
            "deploy/db.secret",
            "deploy/id_ed25519_ci",
            "deploy/id_rsa",
            "dot/.ssh",
            "tls/UPPER.PEM",
            "tls/chain.pem",
            "tls/linked.key",
            "tls/server.key",
            "web/.npmrc",
        ]
    );
}

#[test]
fn what_was_closed_before_stays_closed() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    make(root, &["a/closed/file", "a/b"]);
    let closed = root.join("a/closed");
    let mode = |mode| fs::set_permissions(&closed, fs::Permissions::from_mode(mode)).unwrap();
    mode(0);
    // Also for root, who could look into it.
    let found = Nested::find(&[root.to_owned()], &[]).unwrap();
    assert_eq!(below(root, &found.secrets), ["a/closed"]);
    make(root, &["a/new"]);
    let made = found.made();
    let now = fs::symlink_metadata(&closed).unwrap().permissions().mode() & 0o777;
    mode(0o700);
    assert_eq!((now, made.is_cut), (0, false));
}

#[test]
fn what_lies_deeper_than_a_path_can_say_is_told_and_then_refused() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let dir = tempfile::tempdir().unwrap();
    let found = Nested::find(&[dir.path().to_owned()], &[]).unwrap();
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let mut at = openat(CWD, dir.path(), flags, Mode::empty()).unwrap();
    let name = "x".repeat(200);
    for _ in 0..25 {
        mkdirat(&at, &name, Mode::RWXU).unwrap();
        at = openat(&at, &name, flags, Mode::empty()).unwrap();
    }
    assert!(found.made().is_cut);
    let refused = Nested::find(&[dir.path().to_owned()], &[]).unwrap_err().to_string();
    assert!(refused.contains("cannot be looked at") && refused.len() < 400, "{refused}");
}
