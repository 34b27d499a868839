//! What people have installed below their home or in `/opt` and run every day. It is shown to be read, and secrets in it
//! are covered.
//!
//! Nobody inside can make anything there, so that what is not looked at does not depend on a command. What other people
//! wrote (packages, versions of compilers) is looked at in its first directory only.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use super::nested::secrets_in;

/// Below a home; read-only. Where people work in one of them (`go/src`), it is not among these.
pub(crate) const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".deno/bin",
    ".fnm",
    ".ghcup",
    ".juliaup",
    ".local/bin",
    ".local/lib",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".npm-global",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go/bin",
    "go/pkg",
    "miniconda3",
];
/// Folders of the system in which people install what is theirs.
const OF_THE_SYSTEM: &[&str] = &["/opt", "/usr/local/etc", "/usr/local/src"];
/// Directories with what others wrote.
const OF_OTHERS: &[&str] = &[
    ".git",
    "candidates",
    "checkouts",
    "db",
    "envs",
    "include",
    "index",
    "installs",
    "lib",
    "lib64",
    "mod",
    "node_modules",
    "node-versions",
    "pkgs",
    "share",
    "site-packages",
    "src",
    "sumdb",
    "tools",
    "toolchains",
    "versions",
];
/// Directories of each of them that are looked at.
const DIRECTORIES_MAX: usize = 2048;
/// Bytes of the paths that are told to the cage, in one message.
const BYTES_MAX: usize = 8 << 10;

/// Secrets in what was installed below the home, and in folders of the system; and what was not looked at because there is
/// too much of it. Where one has too many of them to be told, it is not seen at all.
pub(crate) fn secrets(installed: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let of_system = OF_THE_SYSTEM.iter().map(PathBuf::from);
    for root in installed.iter().cloned().chain(of_system) {
        let of_root = look(&root);
        let bytes: usize = of_root.iter().map(|it| it.as_os_str().len()).sum();
        match bytes > BYTES_MAX {
            true => found.push(root),
            false => found.extend(of_root),
        }
    }
    found
}

fn look(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut queue) = (Vec::new(), VecDeque::from([root.to_owned()]));
    let mut left = DIRECTORIES_MAX;
    while let Some(dir) = queue.pop_front() {
        let Some(rest) = left.checked_sub(1) else {
            found.push(dir);
            found.extend(queue);
            return found;
        };
        left = rest;
        let Some((secrets, below)) = secrets_in(&dir, root) else { continue };
        found.extend(secrets);
        let is_others = |it: &Path| OF_OTHERS.iter().any(|name| it.ends_with(name));
        let of_system = OF_THE_SYSTEM.iter().any(|it| root.starts_with(it));
        if of_system || !is_others(&dir) || dir == root {
            queue.extend(below);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::File::create(path).unwrap();
    }

    #[test]
    fn secrets_beside_programs_are_found_and_packages_are_left() {
        let dir = tempfile::tempdir().unwrap();
        let at = |it: &str| dir.path().join(it);
        for it in [
            "nvm/.env",
            "nvm/app/deep/credentials.json",
            "nvm/.aws/config",
            "nvm/versions/v20/lib/x/credentials.json",
            "lib/app/.env",
            "lib/app/program",
        ] {
            touch(&at(it));
        }
        let mut found = secrets(&[at("nvm"), at("lib")]);
        found.retain(|it| it.starts_with(dir.path()));
        found.sort();
        let expected = ["lib/app/.env", "nvm/.aws", "nvm/.env", "nvm/app/deep/credentials.json"];
        assert_eq!(found, expected.map(at));
    }

    #[test]
    fn what_is_not_looked_at_is_not_seen_and_takes_nothing_from_another() {
        let dir = tempfile::tempdir().unwrap();
        let (large, small) = (dir.path().join("asdf"), dir.path().join("nvm"));
        for number in 0..DIRECTORIES_MAX + 10 {
            std::fs::create_dir_all(large.join(number.to_string())).unwrap();
        }
        let hidden = large.join((DIRECTORIES_MAX + 5).to_string()).join("deep/.env");
        touch(&hidden);
        touch(&small.join(".env"));
        let found = secrets(&[large, small.clone()]);
        assert!(found.iter().any(|it| hidden.starts_with(it)), "{found:?}");
        assert!(found.contains(&small.join(".env")), "{found:?}");
    }

    #[test]
    fn what_holds_too_many_is_not_seen_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("tools");
        for number in 0..200 {
            touch(&root.join(format!("{number:0>50}/.env")));
        }
        assert!(secrets(std::slice::from_ref(&root)).contains(&root));
    }
}
