//! The lists themselves, and how places are found in paths.

use super::*;

#[test]
fn every_place_is_a_plain_relative_path_and_named_once() {
    let lists = [SECRET_DIRS, SECRET_FILES, SHELL_FILES, OBEYED, KEPT_IN_WORKSPACE, INSTRUCTING];
    for list in lists {
        let mut seen = std::collections::BTreeSet::new();
        for place in list {
            assert!(seen.insert(place.to_ascii_lowercase()), "twice: {place}");
            assert!(
                place.split('/').all(|it| !matches!(it, "" | "." | "..")),
                "not plain: {place}"
            );
        }
    }
}

#[test]
fn nothing_lies_in_another_directory_of_the_list_but_what_the_seed_names_itself() {
    for place in SECRET_DIRS.iter().chain(SECRET_FILES) {
        let parts: Vec<&str> = place.split('/').collect();
        let covered = SECRET_DIRS.iter().any(|it| it != place && begins(it, &parts));
        let named = *place == "Library/Application Support/sops/age/keys.txt";
        assert_eq!(covered, named, "{place}");
    }
}

#[test]
fn places_are_found_by_their_parts() {
    let path = ["home", "u", ".CONFIG", "gh", "hosts.yml"];
    assert!(stands_in(".config/gh", &path));
    assert!(!begins(".config/gh", &path));
    assert!(begins(".config/gh", &path[2..]));
    assert!(!stands_in(".config/op", &path) && !stands_in(".config/gh", &[".config"]));
    assert!(!begins(".config/gh", &[]));
}
