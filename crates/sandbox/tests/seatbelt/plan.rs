//! A cage as a profile: what is planned is what a cage of Linux would give, as far as profiles go.

use std::fs;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};

use sandbox::cage::{Cage, CageError, Inmate, Maker, Network, Rung};
use sandbox::seatbelt::Plan;

use crate::seatbelt::sbpl::Profile;
use crate::seatbelt::{at, home};

fn cage(home: &Path) -> Cage {
    Cage {
        workspaces: vec![home.join("work")],
        home: Some(home.to_owned()),
        state: Some(home.join(".lazaret")),
        ..Cage::default()
    }
}

fn inmate(directory: &Path) -> Inmate {
    Inmate {
        words: vec!["sh".into()],
        directory: directory.to_owned(),
        environment: vec![("PATH".into(), "/bin".into())],
        terminal: false,
    }
}

fn plan(cage: &Cage) -> Result<Plan, CageError> {
    let directory = cage.workspaces.first().map_or(Path::new("/"), PathBuf::as_path);
    Plan::of(cage, &inmate(directory), Path::new("/fresh"), None)
}

fn profile(cage: &Cage) -> Profile {
    Profile::parse(&plan(cage).unwrap().profile)
}

fn make(root: &Path, files: &[&str]) {
    for it in files {
        let at = root.join(it);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::File::create(at).unwrap();
    }
}

#[test]
fn secret_files_of_a_workspace_are_closed_and_what_was_shown_is_open() {
    let (_dir, home) = home();
    make(&home, &["work/.env", "work/a/.env.local", "work/a/.env.example", "work/b/.netrc"]);
    let shown = vec![home.join("work/b/.netrc")];
    let profile = profile(&Cage { shown, ..cage(&home) });
    for path in ["work/.env", "work/a/.env.local"] {
        assert!(!profile.allows("file-read-data", &at(&home, path)), "{path}");
        assert!(!profile.allows("file-write-data", &at(&home, path)), "{path}");
    }
    for path in ["work/a/.env.example", "work/b/.netrc", "work/a/b"] {
        assert!(profile.allows("file-read-data", &at(&home, path)), "{path}");
    }
    assert!(!profile.allows("file-write-unlink", &at(&home, "work/a")), "it would move with it");
}

#[test]
fn repositories_further_down_are_kept_like_the_one_at_the_top() {
    let (_dir, home) = home();
    make(&home, &["work/lib/x/.git/config", "work/m.git/HEAD", "work/m.git/objects/x"]);
    make(&home, &["work/m.git/refs/x"]);
    let profile = profile(&cage(&home));
    for path in ["work/lib/x/.git/config", "work/lib/x/.git/hooks/a", "work/m.git/hooks/a"] {
        assert!(!profile.allows("file-write-create", &at(&home, path)), "{path}");
    }
    assert!(profile.allows("file-write-create", &at(&home, "work/lib/x/.git/index")));
    assert!(!profile.allows("file-write-unlink", &at(&home, "work/lib")));
}

#[test]
fn an_agents_workspace_in_our_state_is_its_own_and_the_rest_of_it_is_not() {
    let (_dir, home) = home();
    make(&home, &[".lazaret/agents/a/w/.env", ".lazaret/agents/a/w/file", ".lazaret/journal"]);
    let own = home.join(".lazaret/agents/a/w");
    let cage = Cage { workspaces: vec![own.clone()], own: Some(own), ..cage(&home) };
    let profile = profile(&cage);
    for (path, reads, writes) in [
        (".lazaret/agents/a/w/file", true, true),
        (".lazaret/agents/a/w/.env", false, false),
        (".lazaret/agents/a/w/.git/hooks/x", true, false),
        (".lazaret/agents/a/other", false, false),
        (".lazaret/journal", false, false),
    ] {
        assert_eq!(profile.allows("file-read-data", &at(&home, path)), reads, "{path}");
        assert_eq!(profile.allows("file-write-data", &at(&home, path)), writes, "{path}");
    }
    assert!(!profile.allows("file-write-unlink", &at(&home, ".lazaret/agents/a")));
}

#[test]
fn a_skill_in_our_state_is_read_and_not_written() {
    let (_dir, home) = home();
    make(&home, &[".lazaret/skills/s/run.sh"]);
    let skill = home.join(".lazaret/skills/s");
    let readable = vec![skill.clone()];
    let profile = profile(&Cage { readable, own: Some(skill), ..cage(&home) });
    assert!(profile.allows("file-read-data", &at(&home, ".lazaret/skills/s/run.sh")));
    assert!(!profile.allows("file-write-data", &at(&home, ".lazaret/skills/s/run.sh")));
    assert!(!profile.allows("file-read-data", &at(&home, ".lazaret/skills/t/run.sh")));
}

#[test]
fn what_is_given_to_be_read_does_not_open_the_secrets_in_it() {
    let (_dir, home) = home();
    make(&home, &[".config/gh/hosts.yml", ".config/other/x"]);
    let profile = profile(&Cage { readable: vec![home.join(".config")], ..cage(&home) });
    assert!(!profile.allows("file-read-data", &at(&home, ".config/gh/hosts.yml")));
    assert!(profile.allows("file-read-data", &at(&home, ".config/other/x")));
    assert!(!profile.allows("file-write-data", &at(&home, ".config/other/x")));
}

#[test]
fn the_way_out_is_the_port_of_the_proxy_and_the_variables_lead_there() {
    let (_dir, home) = home();
    let cage = Cage { network: Network::Proxy("a:b".to_owned()), ..cage(&home) };
    let port = NonZeroU16::new(4711);
    let plan = Plan::of(&cage, &inmate(&home), Path::new("/fresh"), port).unwrap();
    assert!(plan.profile.contains("(allow network-outbound (remote ip \"localhost:4711\"))"));
    assert_eq!(plan.profile.matches("(allow network").count(), 1);
    let value = |name: &str| plan.environment.iter().find(|it| it.0 == name).unwrap().1.clone();
    assert_eq!(value("HTTPS_PROXY"), "http://a:b@127.0.0.1:4711");
    assert_eq!((value("HOME"), value("TMPDIR")), ("/fresh".into(), "/fresh".into()));
    assert!(Plan::of(&cage, &inmate(&home), Path::new("/fresh"), None).is_err(), "no port, no way");
    assert!(!self::plan(&self::cage(&home)).unwrap().profile.contains("(allow network"));
}

#[test]
fn without_a_home_or_with_what_cannot_be_had_there_is_no_plan() {
    let (_dir, home) = home();
    let good = cage(&home);
    let no_home = plan(&Cage { home: None, ..good.clone() });
    assert!(matches!(no_home, Err(CageError::NoCage(_))), "{no_home:?}");
    for maker in [Maker::Own, Maker::Bubblewrap] {
        let error = plan(&Cage { maker, ..good.clone() }).unwrap_err();
        assert!(matches!(error, CageError::Settings(_)), "{error}");
    }
    let terminal = Inmate { terminal: true, ..inmate(&home) };
    assert!(Plan::of(&good, &terminal, Path::new("/fresh"), None).is_err());
    for dir in [home.clone(), home.join(".lazaret"), PathBuf::from("/"), home.join("absent")] {
        assert!(plan(&Cage { workspaces: vec![dir.clone()], ..good.clone() }).is_err(), "{dir:?}");
    }
}

#[test]
fn what_holds_is_told_and_nothing_that_does_not() {
    let (_dir, home) = home();
    let held = plan(&cage(&home)).unwrap().held;
    assert!(held.holds(Rung::Seatbelt) && held.holds(Rung::Limits) && held.is_a_cage());
    let (rung, why) = held.lacks(&[Rung::Seatbelt, Rung::Landlock]).unwrap();
    assert_eq!((rung, why.as_str()), (Rung::Landlock, "there is none on this system"));
    let without = plan(&Cage { without: vec![Rung::Seatbelt], ..cage(&home) }).unwrap().held;
    assert!(!without.is_a_cage());
}
