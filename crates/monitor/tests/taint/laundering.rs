//! One attack per file: steps, and what each check and answer must come to.

use std::fs;

use model::Profile;
use monitor::taint::Rules;

use crate::taint::corpus::{read, root, text};
use crate::taint::world::World;

#[test]
fn no_attack_washes_a_session() {
    let mut files: Vec<_> = fs::read_dir(root().join("laundering/session"))
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 40);
    for path in files {
        let case = read(&path);
        let profile = Profile::parse(text(&case, "profile")).unwrap();
        let outcomes = World::new(Rules::of(profile)).run(&case["steps"]);
        assert_eq!(serde_json::json!(outcomes), case["expected"], "{}", path.display());
    }
}
