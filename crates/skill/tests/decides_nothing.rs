//! `skill` says what a skill is. What follows from it is decided elsewhere, and nothing of a skill is run or opened here.

use std::fs;
use std::path::{Path, PathBuf};

/// Our own crates that it may know: the words that all share, and those that say what a text, a command or a path is.
const OWN: &[&str] = &["aegx", "files", "model", "scan", "shell"];
/// What only those who decide or act may name, of `model` or of the standard library.
const NOT_HERE: &[&str] = &[
    "Permit",
    "Effect",
    "Taint",
    "std::fs",
    "std::net::Tcp",
    "std::process",
    "std::env",
    "std::time",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

#[test]
fn it_knows_no_crate_that_decides_or_acts() {
    let crates = fs::read_dir(root().join("..")).unwrap();
    let names: Vec<String> =
        crates.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert!(names.iter().any(|it| it == "monitor") && names.iter().any(|it| it == "policy"));
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let program = manifest.split("[dev-dependencies]").next().unwrap();
    for line in program.lines() {
        let name = line.split(['.', ' ', '=']).next().unwrap();
        let own = names.iter().any(|it| it == name && !OWN.contains(&name));
        assert!(!own, "skill depends on `{name}`");
    }
}

#[test]
fn it_names_no_decision_and_touches_nothing() {
    let mut left = vec![root().join("src")];
    let mut files = 0;
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        files += 1;
        let source = fs::read_to_string(&path).unwrap();
        let program = source.split("#[cfg(test)]").next().unwrap();
        let code = program.lines().filter(|it| !it.trim_start().starts_with("//"));
        for line in code {
            let named = |word: &&&str| {
                line.split(|it: char| !it.is_alphanumeric() && it != '_' && it != ':')
                    .any(|it| it == **word || it.starts_with(&format!("{word}::")))
            };
            let found = NOT_HERE.iter().find(named);
            assert!(found.is_none(), "{}: `{}`", path.display(), found.unwrap());
        }
    }
    assert!(files > 20);
}
