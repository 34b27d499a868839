//! What git obeys in a workspace beside the places that every workspace has.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags, openat};

/// What git obeys in the directory of a repository.
const OF_EACH_REPOSITORY: &[&str] = &["config", "config.worktree", "hooks", "commondir", "gitdir"];
/// Entries of one directory that are looked at, and repositories.
const ENTRIES_MAX: usize = 1000;

/// What else git obeys in a workspace: a file in the place of its directory, and the same files for each submodule.
pub(crate) fn obeyed(dir: &Path) -> Vec<PathBuf> {
    let git = dir.join(".git");
    match git.symlink_metadata() {
        Ok(meta) if meta.is_file() => return vec![git],
        Ok(_) => {}
        Err(_) => return Vec::new(),
    }
    let (mut all, mut look) = (Vec::new(), vec![git.join("modules"), git.join("worktrees")]);
    while let Some(dir) = look.pop().filter(|_| all.len() < ENTRIES_MAX) {
        let Ok(entries) = fs::read_dir(&dir) else { continue };
        let entries = entries.take(ENTRIES_MAX).filter_map(Result::ok);
        for below in
            entries.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())).map(|it| it.path())
        {
            match below.join("HEAD").exists() {
                true => {
                    all.extend(OF_EACH_REPOSITORY.iter().map(|it| below.join(it)));
                    look.push(below.join("modules"));
                }
                // A submodule's name may have several parts.
                false => look.push(below),
            }
        }
    }
    all
}

/// Bytes of a new repository's settings that are looked at; longer ones are none that `git init` or `git clone` writes.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;
/// Settings that run nothing and lead nowhere else: section and name.
const PLAIN: &[(&str, &[&str])] = &[
    ("branch", &["merge", "rebase", "remote"]),
    (
        "core",
        &[
            "bare",
            "filemode",
            "ignorecase",
            "logallrefupdates",
            "precomposeunicode",
            "repositoryformatversion",
            "symlinks",
        ],
    ),
    ("extensions", &["objectformat", "refstorage"]),
    ("remote", &["fetch", "url"]),
    ("user", &["email", "name"]),
];

/// Is what a command made in `.git` only what git itself makes: settings that run nothing, and samples of hooks?
pub(crate) fn made_harmless(place: &Path, git: &OwnedFd) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let open = |name: &str| openat(git, name, flags, Mode::empty());
    if place == Path::new(".git/config") {
        let Ok(file) = open("config").map(File::from) else { return false };
        let mut text = String::new();
        let is_file = file.metadata().is_ok_and(|it| it.is_file());
        let read = file.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text);
        return is_file
            && read.is_ok_and(|it| it as u64 <= CONFIG_BYTES_MAX)
            && runs_nothing(&text);
    }
    if place == Path::new(".git/hooks") {
        let Ok(entries) = open("hooks").and_then(Dir::new) else { return false };
        return entries.map_while(Result::ok).take(ENTRIES_MAX).all(|it| {
            let name = it.file_name().to_bytes();
            name.ends_with(b".sample") || matches!(name, b"." | b"..")
        });
    }
    false
}

/// Reads settings line by line. What is not understood is not harmless.
fn runs_nothing(config: &str) -> bool {
    let mut names: &[&str] = &[];
    config.lines().map(str::trim).all(|line| {
        if let Some(section) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            let (section, rest) = section.split_once(' ').unwrap_or((section, "\"\""));
            let quoted = rest.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            let known = PLAIN.iter().find(|it| it.0 == section);
            names = known.map_or(&[], |it| it.1);
            return known.is_some() && quoted.is_some_and(|it| !it.contains(['"', '\\', ']']));
        }
        line.is_empty()
            || line.split_once('=').is_some_and(|(name, value)| {
                let plain = !value.contains(['\\', '"', '\'']) && !value.contains("::");
                names.contains(&name.trim().to_ascii_lowercase().as_str()) && plain
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_git_writes_itself_are_harmless_and_others_are_not() {
        let init = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";
        let clone = "[remote \"origin\"]\n\turl = https://e.example/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                     [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        assert!(runs_nothing(init) && runs_nothing(&format!("{init}{clone}")) && runs_nothing(""));
        for bad in [
            "[core]\n\thooksPath = x\n",
            "[core]\n\tfsmonitor = ./x\n",
            "[core] hooksPath = x\n",
            "[alias]\n\tst = !sh\n",
            "[include]\n\tpath = x\n",
            "[remote \"o\"]\n\turl = ext::sh -c x\n",
            "[remote \"o\"]\n\tuploadpack = x\n",
            "[remote \"o\\\"]\n\turl = x\n",
            "[core]\n\tbare = false \\\n\tsshCommand = x\n",
            "nonsense\n",
        ] {
            assert!(!runs_nothing(bad), "{bad}");
        }
    }
}
