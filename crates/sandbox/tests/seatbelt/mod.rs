//! Seatbelt profiles, as text: golden files, and what they mean to a reader that takes the last rule that matches.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

mod plan;
mod runs;
mod sbpl;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::num::NonZeroU16;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use model::places::{KEPT_IN_WORKSPACE, SECRET_DIRS, SECRET_FILES, SHELL_FILES};
use proptest::prelude::*;
use sandbox::seatbelt::{Kind, Network, Policy, Request, SandboxExec, command_line, write};
use sbpl::Profile;

/// A home with a workspace in it, at a path without links.
fn home() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let home = files::resolved(dir.path()).unwrap().join("u");
    fs::create_dir_all(home.join("work/.git/hooks")).unwrap();
    (dir, home)
}

fn request(home: &Path) -> Request {
    let (home, workspace) = (Some(home.to_owned()), Some(home.join("work")));
    Request { home, workspace, ..Request::default() }
}

fn text(request: &Request) -> String {
    Policy::look(request).unwrap().profile().unwrap()
}

fn profile(request: &Request) -> Profile {
    Profile::parse(&text(request))
}

fn at(home: &Path, place: &str) -> String {
    home.join(place).to_str().unwrap().to_owned()
}

#[test]
fn profiles_are_as_they_are_written_down() {
    let port = NonZeroU16::new(3128).unwrap();
    for (name, kind, network) in [
        ("read-only", Kind::ReadOnly, Network::None),
        ("workspace", Kind::Workspace, Network::Proxy(port)),
        ("network-allow-all", Kind::NetworkAllowAll, Network::None),
    ] {
        let (_dir, home) = home();
        let allow_read = vec![home.join("work")];
        let text = text(&Request { kind, network, allow_read, ..request(&home) });
        // Where the test's home lies differs from run to run.
        let text = text.replace(home.to_str().unwrap(), "/Users/u");
        let pattern: String = sbpl::pattern_of(home.to_str().unwrap());
        let text = text.replace(&pattern, &sbpl::pattern_of("/Users/u"));
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.sb"));
        if std::env::var_os("LAZARET_GOLDEN").is_some() {
            files::private::replace(&golden, text.as_bytes()).unwrap();
        }
        assert_eq!(text, fs::read_to_string(golden).unwrap(), "{name}");
    }
}

#[test]
fn rules_stand_in_the_order_that_gives_them_their_meaning() {
    let (_dir, home) = home();
    let allow_read = vec![home.join("work")];
    let text = text(&Request { allow_read, kind: Kind::NetworkAllowAll, ..request(&home) });
    let place = |wanted: &str| text.find(wanted).unwrap_or_else(|| panic!("{wanted}\n{text}"));
    let work = at(&home, "work");
    let order = [
        place("(deny default)"),
        place("(allow file-read*)\n"),
        place(&format!("(deny file-read* file-write* (subpath \"{}\"))", at(&home, ".ssh"))),
        place(&format!("(deny file-read* file-write* (literal \"{}\"))", at(&home, ".netrc"))),
        place(&format!("(allow file-read* (subpath \"{work}\"))")),
        place(&format!("(allow file-write* (subpath \"{work}\"))")),
        place("(allow network-outbound"),
        place("(deny file-write* (regex"),
    ];
    assert!(order.is_sorted(), "{order:?}\n{text}");
}

#[test]
fn every_secret_is_closed_in_every_kind_and_everything_else_is_read() {
    let (_dir, home) = home();
    for kind in [Kind::ReadOnly, Kind::Workspace, Kind::NetworkAllowAll] {
        let profile = profile(&Request { kind, ..request(&home) });
        for place in SECRET_DIRS {
            for path in [at(&home, place), at(&home, &format!("{place}/anything"))] {
                assert!(!profile.allows("file-read-data", &path), "{kind:?} {path}");
                assert!(!profile.allows("file-write-create", &path), "{kind:?} {path}");
            }
        }
        for place in SECRET_FILES {
            assert!(!profile.allows("file-read-data", &at(&home, place)), "{kind:?} {place}");
        }
        for path in
            ["/usr/lib/dyld", &at(&home, "work/a"), &at(&home, ".sshx"), &at(&home, "x/.ssh")]
        {
            assert!(profile.allows("file-read-data", path), "{kind:?} {path}");
        }
        let writes = kind != Kind::ReadOnly;
        assert_eq!(profile.allows("file-write-data", &at(&home, "work/a")), writes);
        assert!(!profile.allows("file-write-data", &at(&home, "other")));
        assert!(profile.allows("file-write-data", "/dev/null"));
    }
}

#[test]
fn a_home_that_may_be_written_keeps_its_secrets_and_what_shells_run() {
    let (_dir, home) = home();
    let profile = profile(&Request { allow_write: vec![home.clone()], ..request(&home) });
    assert!(profile.allows("file-write-create", &at(&home, "notes.txt")));
    for place in SECRET_DIRS.iter().chain(SECRET_FILES) {
        assert!(!profile.allows("file-read-data", &at(&home, place)), "{place}");
        assert!(!profile.allows("file-write-data", &at(&home, place)), "{place}");
    }
    for place in SHELL_FILES {
        assert!(!profile.allows("file-write-create", &at(&home, place)), "{place}");
        assert!(!profile.allows("file-write-create", &at(&home, &place.to_uppercase())), "{place}");
    }
    // Nor are they reached by moving what they lie in.
    for folder in [".config", "Library", "Library/Application Support", ".cargo", ".local/share"] {
        assert!(!profile.allows("file-write-unlink", &at(&home, folder)), "{folder}");
    }
}

#[test]
fn hooks_and_settings_of_a_workspace_stay_as_they_are() {
    let (_dir, home) = home();
    let profile = profile(&request(&home));
    for place in KEPT_IN_WORKSPACE {
        for name in [(*place).to_owned(), place.to_uppercase(), format!("{place}/x")] {
            let path = at(&home, &format!("work/{name}"));
            assert!(!profile.allows("file-write-create", &path), "{path}");
            assert!(profile.allows("file-read-data", &path), "{path}");
        }
    }
    assert!(profile.allows("file-write-create", &at(&home, "work/.git/index")));
    assert!(profile.allows("file-write-create", &at(&home, "work/.github/x")));
    assert!(!profile.allows("file-write-unlink", &at(&home, "work/.git")), "not by another .git");
}

#[test]
fn what_the_operator_names_is_read_and_only_that() {
    let (_dir, home) = home();
    fs::create_dir_all(home.join(".aws")).unwrap();
    fs::create_dir_all(home.join(".claude/worktrees/x")).unwrap();
    let allow_read = vec![home.join(".aws"), PathBuf::from("/this/path/does/not/exist")];
    let allow_write = vec![home.join(".claude/worktrees/x")];
    let request = Request { allow_read, allow_write, ..request(&home) };
    let profile = profile(&request);
    assert!(profile.allows("file-read-data", &at(&home, ".aws/config")));
    assert!(!profile.allows("file-write-data", &at(&home, ".aws/config")));
    assert!(!profile.allows("file-read-data", &at(&home, ".azure/x")));
    assert!(!text(&request).contains("does/not/exist"), "who makes it later is not the operator");
    let inside = at(&home, ".claude/worktrees/x/a");
    assert!(
        profile.allows("file-read-data", &inside) && profile.allows("file-write-data", &inside)
    );
    assert!(!profile.allows("file-read-data", &at(&home, ".claude/settings.json")));
}

#[test]
fn a_link_and_what_it_leads_to_are_closed_both() {
    let (dir, home) = home();
    let real = files::resolved(dir.path()).unwrap();
    fs::create_dir_all(real.join("private/aws")).unwrap();
    fs::create_dir_all(real.join("private/config")).unwrap();
    symlink(real.join("private/aws"), home.join(".aws")).unwrap();
    symlink("../private/config", home.join(".config")).unwrap();
    symlink("../later/kube", home.join(".kube")).unwrap();
    let profile = profile(&request(&home));
    for path in [
        at(&home, ".aws/credentials"),
        at(&real, "private/aws/credentials"),
        at(&home, ".config/gh/hosts.yml"),
        at(&real, "private/config/gh/hosts.yml"),
        at(&home, ".kube/config"),
        at(&real, "later/kube/config"),
    ] {
        assert!(!profile.allows("file-read-data", &path), "{path}");
    }
    assert!(profile.allows("file-read-data", &at(&real, "private/other")));
}

#[test]
fn a_home_behind_a_link_is_closed_both_ways() {
    let (dir, home) = home();
    let link = files::resolved(dir.path()).unwrap().join("link");
    symlink(&home, &link).unwrap();
    let profile = profile(&request(&link));
    for base in [&home, &link] {
        assert!(!profile.allows("file-read-data", &at(base, ".ssh/id_rsa")));
        assert!(profile.allows("file-write-data", &at(base, "work/a")));
        assert!(!profile.allows("file-write-data", &at(base, "work/.git/hooks/pre-commit")));
    }
}

#[test]
fn what_cannot_be_known_is_no_profile() {
    let (_dir, home) = home();
    let good = request(&home);
    assert!(Policy::look(&Request { home: None, ..good.clone() }).is_err());
    let bytes = PathBuf::from(OsStr::from_bytes(b"/a\xff"));
    for path in ["", "a", "./a", "/a/../b", "/..", "/a\0b"].iter().map(PathBuf::from).chain([bytes])
    {
        for request in [
            Request { home: Some(path.clone()), ..good.clone() },
            Request { workspace: Some(path.clone()), ..good.clone() },
            Request { allow_read: vec![path.clone()], ..good.clone() },
            Request { allow_write: vec![path.clone()], ..good.clone() },
            Request { state: Some(path.clone()), ..good.clone() },
        ] {
            assert!(Policy::look(&request).is_err(), "{path:?}");
        }
    }
    assert!(Policy::look(&Request { home: Some("/".into()), ..good.clone() }).is_err());
    assert!(Policy::look(&Request { allow_write: vec!["/".into()], ..good.clone() }).is_err());
    let read_only =
        Request { kind: Kind::ReadOnly, allow_write: vec![home.clone()], ..good.clone() };
    assert!(Policy::look(&read_only).is_err(), "read-only is not the same as workspace");
    let domains = vec!["pastebin.com".to_owned()];
    let open = Request { denied_domains: domains.clone(), network: Network::All, ..good.clone() };
    assert!(Policy::look(&open).is_err(), "a profile with a name in it would deny nothing");
    assert!(Policy::look(&Request { denied_domains: domains, ..good }).is_ok());
    assert!(Kind::parse("networks").is_err());
    assert_eq!(Kind::parse("network").unwrap(), Kind::NetworkAllowAll);
}

#[test]
fn off_leaves_the_command_as_it_is() {
    let (_dir, home) = home();
    let off = Policy::look(&Request { kind: Kind::Off, ..request(&home) }).unwrap();
    assert_eq!(off.profile(), None);
}

#[test]
fn a_profile_is_written_for_its_owner_and_a_command_put_behind_it() {
    let (dir, _) = home();
    let path = write(&dir.path().join("profiles"), "s1", "(version 1)\n").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    for name in ["", "..", "a/b", "a b"] {
        assert!(write(dir.path(), name, "").is_err(), "{name}");
    }
    let words = ["-sh", "-c", "echo $HOME"].map(OsString::from);
    let line = command_line(SandboxExec::default().program(), Path::new("/p/s1.sb"), &words);
    assert_eq!(line, ["/usr/bin/sandbox-exec", "-f", "/p/s1.sb", "--", "-sh", "-c", "echo $HOME"]);
}

#[test]
fn every_vector_about_secret_places_holds() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/sandbox/zeph.json");
    let vectors: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let (_dir, home) = home();
    let profile = profile(&request(&home));
    let mut held = 0;
    for vector in vectors.as_array().unwrap() {
        let Some(path) = vector["input"]["path"].as_str() else { continue };
        let Some(path) = path.strip_prefix("$HOME/").filter(|it| !it.contains(" -> ")) else {
            continue;
        };
        assert_eq!(vector["expected"]["read"], "denied");
        assert!(!profile.allows("file-read-data", &at(&home, path)), "{vector}");
        held += 1;
    }
    assert_eq!(held, 25);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Whatever a workspace is called, its profile can be read, opens it and nothing beside it.
    #[test]
    fn any_name_stays_a_name(name in "[a-z\"\\\\() ;#\n\t\u{fc}\u{1f600}*.\\[\\]^$|]{1,24}") {
        prop_assume!(!name.chars().all(|it| it == '.'));
        let (_dir, home) = home();
        let workspace = home.join(&name);
        fs::create_dir_all(&workspace).unwrap();
        let profile = profile(&Request { workspace: Some(workspace), ..request(&home) });
        let (inside, hook) = (format!("{name}/a"), format!("{name}/.git/hooks/x"));
        prop_assert!(profile.allows("file-write-data", &at(&home, &inside)));
        prop_assert!(!profile.allows("file-write-data", &at(&home, &hook)));
        prop_assert!(!profile.allows("file-write-data", &at(&home, "beside")));
        prop_assert!(!profile.allows("file-read-data", &at(&home, ".ssh/id_rsa")));
        prop_assert!(!profile.allows("network-outbound", "/x"));
    }
}
