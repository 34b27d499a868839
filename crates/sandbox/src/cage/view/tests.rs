//! What a cage shows, keeps and covers.

use std::os::unix::fs::symlink;

use super::*;

fn cage(dir: &Path) -> Cage {
    let dir = real(dir).unwrap();
    fs::create_dir_all(dir.join("home/work")).unwrap();
    Cage {
        workspaces: vec![dir.join("home/work")],
        home: Some(dir.join("home")),
        state: Some(dir.join("state")),
        ..Cage::default()
    }
}

fn touch(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap();
}

#[test]
fn a_secret_behind_a_link_is_covered_where_it_lies() {
    let dir = tempfile::tempdir().unwrap();
    let cage = cage(dir.path());
    let (home, work) = (cage.home.clone().unwrap(), cage.workspaces[0].clone());
    touch(&work.join("dotfiles/ssh/id_rsa"));
    symlink(work.join("dotfiles/ssh"), home.join(".ssh")).unwrap();
    touch(&work.join("netrc"));
    symlink("work/netrc", home.join(".netrc")).unwrap();
    let view = View::of(&cage).unwrap();
    let covered: Vec<&PathBuf> = view.covered.iter().filter(|it| it.starts_with(&work)).collect();
    assert_eq!(covered, [&work.join("dotfiles/ssh"), &work.join("netrc")]);
    assert!(!view.shows(&home.join(".ssh")));
}

#[test]
fn what_is_kept_cannot_be_reached_by_renaming_what_it_lies_in() {
    let dir = tempfile::tempdir().unwrap();
    let cage = cage(dir.path());
    let work = cage.workspaces[0].clone();
    touch(&work.join(".git/config"));
    fs::create_dir(work.join(".git/hooks")).unwrap();
    touch(&work.join(".vscode/tasks.json"));
    let view = View::of(&cage).unwrap();
    assert_eq!(view.pinned, [work.join(".git"), work.join(".vscode")]);
    let kept = [".git/config", ".git/hooks", ".vscode/tasks.json"].map(|it| work.join(it));
    assert_eq!(view.kept, kept);
}

#[test]
fn environments_are_covered_and_examples_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let mut cage = cage(dir.path());
    let work = cage.workspaces[0].clone();
    for name in
        [".env", ".env.local", ".env.production", ".env.example", ".env.local.sample", ".envrc"]
    {
        touch(&work.join(name));
    }
    cage.shown = vec![work.join(".env.local")];
    let view = View::of(&cage).unwrap();
    let covered: Vec<&PathBuf> = view.covered.iter().filter(|it| it.starts_with(&work)).collect();
    assert_eq!(covered, [&work.join(".env"), &work.join(".env.production")]);
    assert_eq!(view.kept, [work.join(".envrc")]);
}

#[test]
fn the_system_the_home_and_places_of_secrets_are_given_to_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let cage = cage(dir.path());
    let home = cage.home.clone().unwrap();
    fs::create_dir_all(home.join(".aws/sso")).unwrap();
    fs::create_dir_all(cage.state.clone().unwrap().join("in")).unwrap();
    symlink(&home, home.join("work/link")).unwrap();
    let state = cage.state.clone().unwrap();
    for path in [
        PathBuf::from("/"),
        PathBuf::from("/proc/self"),
        PathBuf::from("work"),
        home.clone(),
        home.parent().unwrap().to_owned(),
        home.join("work/.."),
        home.join("work/link"),
        home.join("nowhere"),
        home.join(".aws"),
        home.join(".aws/sso"),
        state.join("in"),
        state,
    ] {
        for list in [0, 1] {
            let mut cage = cage.clone();
            if list == 0 {
                cage.workspaces.push(path.clone())
            } else {
                cage.readable.push(path.clone())
            }
            let error = View::of(&cage).unwrap_err();
            assert!(matches!(error, CageError::Settings(_)), "{}: {error}", path.display());
        }
    }
}

#[test]
fn of_our_state_only_what_an_agent_owns_is_given_and_nothing_beside_it_is_seen() {
    let dir = tempfile::tempdir().unwrap();
    let mut cage = cage(dir.path());
    // Where it lies by default: a place of secrets of the home.
    let state = cage.home.clone().unwrap().join(".lazaret");
    let own = state.join("workspaces-data/main/ann");
    fs::create_dir_all(&own).unwrap();
    touch(&state.join("vault.key"));
    (cage.state, cage.workspaces) = (Some(state.clone()), vec![own.clone()]);
    assert!(View::of(&cage).is_err(), "nobody said that it is an agent's");
    cage.own = Some(own.clone());
    let view = View::of(&cage).unwrap();
    assert!(view.shows(&own) && !view.shows(&state.join("vault.key")) && !view.shows(&state));
    (cage.own, cage.workspaces) = (Some(state.clone()), vec![state]);
    assert!(View::of(&cage).is_err(), "the whole state is nobody's workspace");
}

#[test]
fn what_the_system_lies_in_is_no_home() {
    let dir = tempfile::tempdir().unwrap();
    let mut cage = cage(dir.path());
    assert!(View::of(&cage).unwrap().fresh.contains(cage.home.as_ref().unwrap()));
    for home in ["/", "/usr", "/etc"] {
        cage.home = Some(home.into());
        let view = View::of(&cage).unwrap();
        assert!(!view.fresh.contains(&PathBuf::from(home)), "{home}: {:?}", view.fresh);
    }
}

fn belonging(at: PathBuf, access: Access) -> Belonging {
    Belonging { at, access }
}

#[test]
fn what_is_an_agents_own_is_seen_although_it_lies_among_secrets_and_nothing_beside_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut cage = cage(dir.path());
    let home = cage.home.clone().unwrap();
    for it in [".claude/login.json", ".claude/other", ".claude.json", ".codex/auth.json"] {
        touch(&home.join(it));
    }
    fs::create_dir_all(home.join(".claude/projects")).unwrap();
    cage.belongings = vec![
        belonging(home.join(".claude/login.json"), Access::Write),
        belonging(home.join(".claude/projects"), Access::Read),
        belonging(home.join(".claude.json"), Access::Copy),
    ];
    let view = View::of(&cage).unwrap();
    assert!(view.writable.contains(&home.join(".claude/login.json")));
    assert!(view.readable.contains(&home.join(".claude/projects")));
    assert_eq!(view.copied, [home.join(".claude.json")]);
    for hidden in [".claude/other", ".claude", ".claude.json", ".codex/auth.json", ".codex"] {
        assert!(!view.shows(&home.join(hidden)), "{hidden}");
    }
    let in_home = view.covered.iter().filter(|it| it.starts_with(&home));
    assert_eq!(in_home.count(), 0, "{:?}", view.covered);
}

#[test]
fn only_a_file_below_the_home_can_be_an_agents_own() {
    let dir = tempfile::tempdir().unwrap();
    let cage = cage(dir.path());
    let home = cage.home.clone().unwrap();
    let outside = real(dir.path()).unwrap().join("outside");
    touch(&outside);
    touch(&home.join(".agent/file"));
    symlink(&outside, home.join(".agent/link")).unwrap();
    symlink(home.join(".agent"), home.join(".linked")).unwrap();
    let state = cage.state.clone().unwrap();
    touch(&state.join("store.sqlite"));
    let within = home.join("state");
    touch(&within.join("file"));
    let refused = |at: PathBuf, state: &Path| {
        let belongings = vec![belonging(at, Access::Read)];
        let state = Some(state.to_owned());
        View::of(&Cage { belongings, state, ..cage.clone() }).is_err()
    };
    assert!(!refused(home.join(".agent/file"), &state));
    for at in [
        home.clone(),
        outside,
        PathBuf::from("/etc/passwd"),
        home.join(".agent/link"),
        home.join(".linked/file"),
        home.join(".agent/../.agent/file"),
        home.join("not-there"),
    ] {
        assert!(refused(at.clone(), &state), "{}", at.display());
    }
    assert!(refused(within.join("file"), &within) && refused(within.clone(), &within));
}

#[test]
fn without_a_tree_of_our_own_nothing_of_an_agents_is_given() {
    let dir = tempfile::tempdir().unwrap();
    let mut cage = cage(dir.path());
    let home = cage.home.clone().unwrap();
    touch(&home.join(".agent/file"));
    cage.belongings = vec![belonging(home.join(".agent/file"), Access::Copy)];
    cage.without = vec![crate::cage::Rung::Namespaces];
    cage.needed = Vec::new();
    let error = cage.trial().err().unwrap().to_string();
    assert!(error.contains("--preset none"), "{error}");
}
