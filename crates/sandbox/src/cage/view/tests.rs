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
