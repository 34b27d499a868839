//! What git obeys in a workspace beside the places that every workspace has.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags, openat};

use super::entries;
use super::error::CageError;
use super::given::real;
use super::leads::{self, Lead};
use super::nested::Nested;

/// What git obeys in the directory of a repository.
const OF_EACH_REPOSITORY: &[&str] = &["config", "config.worktree", "hooks", "commondir", "gitdir"];
/// Entries of one directory that are looked at, and repositories.
const ENTRIES_MAX: usize = 1000;
/// Entries of a repository's parts, of submodules and worktrees. More is a refusal.
const PARTS_MAX: usize = 20_000;

/// What else git obeys at the top of a repository: a file in the place of its directory and what that leads to, and the
/// same files for each submodule and worktree.
pub(crate) fn obeyed(root: &Path) -> Vec<PathBuf> {
    let git = root.join(".git");
    // A link may lead to either.
    match git.metadata() {
        Ok(meta) if meta.is_file() => {
            let mut all = vec![git];
            if let Some(led_to) = led_to(root).and_then(|it| real(&it)) {
                all.extend(common(&led_to).into_iter().flat_map(|it| obeyed_in(&it)));
                all.extend(obeyed_in(&led_to));
            }
            all
        }
        Ok(_) => {
            let mut all = of_parts(&git);
            all.extend(common(&git).into_iter().flat_map(|it| obeyed_in(&it)));
            all
        }
        Err(_) => Vec::new(),
    }
}

/// Can be said what git obeys in these workspaces and repositories?
///
/// # Errors
/// A file that leads somewhere cannot be read, or there are more parts than are looked at: what is not found is not kept.
pub(crate) fn check(nested: &Nested) -> Result<(), CageError> {
    let refuse = |at: &Path, why: &str| {
        Err(CageError::Settings(format!("`{}` {why}, or name another workspace", at.display())))
    };
    let unclear = "cannot be read, so that nobody can say where git goes: remove it";
    let many =
        format!("has more than {PARTS_MAX} entries of submodules and worktrees: remove some");
    let own = |root: &PathBuf| {
        let led_to = led_to(root).and_then(|it| real(&it));
        led_to.unwrap_or_else(|| root.join(".git"))
    };
    let files = nested.roots().map(|it| leads::of_root(it));
    let all: Vec<PathBuf> = nested.roots().map(own).chain(nested.bare.iter().cloned()).collect();
    let mut files = files.chain(all.iter().map(|it| leads::of_repository(it)));
    if let Some(at) = files.find_map(Lead::unclear) {
        return refuse(&at, unclear);
    }
    let shared: Vec<PathBuf> = all.iter().filter_map(|it| common(it)).collect();
    match all.iter().chain(&shared).find(|it| Parts::of(it).is_cut) {
        Some(at) => refuse(at, &many),
        None => Ok(()),
    }
}

/// Every directory of the repository at the top of `root`: its own, the one that is shared, those of submodules and worktrees.
pub(crate) fn directories(root: &Path) -> Vec<PathBuf> {
    let own = led_to(root).and_then(|it| real(&it)).unwrap_or_else(|| root.join(".git"));
    let mut all: Vec<PathBuf> = common(&own).into_iter().chain([own]).collect();
    let parts: Vec<PathBuf> = all.iter().flat_map(|it| Parts::of(it).repositories).collect();
    all.extend(parts);
    all
}

/// What git obeys in a directory that it takes for a repository itself.
pub(crate) fn obeyed_in(repository: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = OF_EACH_REPOSITORY.iter().map(|it| repository.join(it)).collect();
    all.extend(of_parts(repository));
    all
}

/// The same for its submodules and worktrees.
fn of_parts(repository: &Path) -> Vec<PathBuf> {
    let Parts { repositories, closed, .. } = Parts::of(repository);
    let obeyed =
        |it: &PathBuf| OF_EACH_REPOSITORY.iter().map(|name| it.join(name)).collect::<Vec<_>>();
    // What cannot be looked into stays as it is, as a whole.
    repositories.iter().flat_map(obeyed).chain(closed).collect()
}

/// What lies in the directory of a repository that is a repository itself, or may become one: of submodules, which git takes
/// up by their name alone, and of worktrees.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// Directories with settings of their own.
    pub(crate) repositories: Vec<PathBuf>,
    /// Links, which git itself does not make there.
    pub(crate) links: Vec<PathBuf>,
    /// What cannot be looked into.
    closed: Vec<PathBuf>,
    /// There was more than is looked at.
    pub(crate) is_cut: bool,
}

impl Parts {
    fn of(repository: &Path) -> Self {
        let mut parts = Self::default();
        let mut look = vec![repository.join("modules"), repository.join("worktrees")];
        let mut count = 0;
        while let Some(dir) = look.pop() {
            if dir.is_symlink() {
                parts.links.push(dir);
                continue;
            }
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    parts.closed.push(dir);
                    continue;
                }
                Err(_) => continue,
            };
            for entry in entries.filter_map(Result::ok) {
                count += 1;
                if count > PARTS_MAX {
                    parts.is_cut = true;
                    return parts;
                }
                let below = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_symlink() => parts.links.push(below),
                    Ok(kind) if kind.is_dir() => parts.add(below, &mut look),
                    Ok(_) | Err(_) => {}
                }
            }
        }
        parts
    }

    fn add(&mut self, dir: PathBuf, look: &mut Vec<PathBuf>) {
        let has = |name: &str| dir.join(name).symlink_metadata().is_ok();
        let is_whole = has("HEAD") && (has("objects") && has("refs") || has("commondir"));
        // A submodule's name may have several parts, but git takes none that lies in another one.
        look.push(if is_whole { dir.join("modules") } else { dir.clone() });
        if has("HEAD") || has("config") {
            self.repositories.push(dir);
        }
    }

    /// The submodules of the repository at the top of `root`, wherever that leads.
    pub(crate) fn of_modules(root: &Path) -> Self {
        let led_to = led_to(root).and_then(|it| real(&it));
        let common = led_to.as_deref().and_then(common);
        let all = [Some(root.join(".git")).filter(|it| it.is_dir()), led_to, common];
        let mut found = Self::default();
        for (git, parts) in all.iter().flatten().map(|it| (it, Self::of(it))) {
            let is_module = |it: &PathBuf| it.starts_with(git.join("modules"));
            found.repositories.extend(parts.repositories.into_iter().filter(is_module));
            found.links.extend(parts.links.into_iter().filter(is_module));
            found.is_cut |= parts.is_cut || parts.closed.iter().any(is_module);
        }
        found
    }
}

/// Where the file `.git` of this directory says that the repository is.
pub(crate) fn led_to(root: &Path) -> Option<PathBuf> {
    leads::of_root(root).to()
}

/// The paths by which the top of a repository leads to what git obeys elsewhere, with the links on their way.
pub(crate) fn leads(root: &Path) -> Vec<PathBuf> {
    let git = led_to(root);
    let common = leads::of_repository(git.as_deref().unwrap_or(&root.join(".git"))).to();
    git.into_iter().chain(common).collect()
}

/// Where a repository says that its settings are.
fn common(repository: &Path) -> Option<PathBuf> {
    leads::of_repository(repository).to().and_then(|it| real(&it))
}

/// Does a new file `.git` lead to what git itself makes for a worktree or a submodule, within these workspaces?
/// `is_kept` says whether a repository was there before.
pub(crate) fn leads_to_harmless(
    root: &Path,
    workspaces: &[PathBuf],
    is_kept: &dyn Fn(&Path) -> bool,
) -> bool {
    let within = |it: &Path| workspaces.iter().any(|workspace| it.starts_with(workspace));
    let Some(to) = led_to(root).and_then(|it| real(&it)).filter(|it| within(it)) else {
        return false;
    };
    let settings_of = |it: &Path| within(it) && (is_kept(it) || is_harmless(it, &|_| false));
    let elsewhere =
        is_absent(&to.join("commondir")) || common(&to).is_some_and(|it| settings_of(&it));
    // A submodule's settings lead back to where it is checked out.
    let back = |value: &str| real(&to.join(value)).as_deref() == Some(root);
    elsewhere && is_harmless(&to, &back)
}

/// Does nothing run by the settings and hooks of this directory of a repository?
fn is_harmless(repository: &Path, back: &dyn Fn(&str) -> bool) -> bool {
    let Ok(fd) = entries::open(repository) else { return false };
    let settings = ["config", "config.worktree"];
    settings.iter().all(|it| is_absent(&repository.join(it)) || harmless_settings(&fd, it, back))
        && (is_absent(&repository.join("hooks")) || harmless_hooks(&fd))
}

/// What cannot be looked at may be there.
pub(crate) fn is_absent(at: &Path) -> bool {
    at.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
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
    ("extensions", &["objectformat", "partialclone", "refstorage", "worktreeconfig"]),
    ("remote", &["fetch", "partialclonefilter", "promisor", "url"]),
    ("submodule", &["active", "url"]),
    ("user", &["email", "name"]),
];

/// Is what a command made in the directory of a repository only what git itself makes: settings that run nothing, and
/// samples of hooks?
pub(crate) fn made_harmless(name: &OsStr, repository: &OwnedFd, at: &Path) -> bool {
    // Those of a submodule lead to where it is checked out, and that leads back.
    let back = |value: &str| {
        let root = real(&at.join(value));
        root.and_then(|it| led_to(&it)).and_then(|it| real(&it)).as_deref() == Some(at)
    };
    match name.to_str() {
        Some(name @ ("config" | "config.worktree")) => harmless_settings(repository, name, &back),
        Some("hooks") => harmless_hooks(repository),
        Some(_) | None => false,
    }
}

fn open(repository: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(repository, name, flags, Mode::empty())
}

fn harmless_settings(repository: &OwnedFd, name: &str, back: &dyn Fn(&str) -> bool) -> bool {
    let Ok(file) = open(repository, name).map(File::from) else { return false };
    let mut text = String::new();
    let is_file = file.metadata().is_ok_and(|it| it.is_file());
    let read = file.take(CONFIG_BYTES_MAX + 1).read_to_string(&mut text);
    is_file && read.is_ok_and(|it| it as u64 <= CONFIG_BYTES_MAX) && runs_nothing(&text, back)
}

fn harmless_hooks(repository: &OwnedFd) -> bool {
    let Ok(entries) = open(repository, "hooks").and_then(Dir::new) else { return false };
    let mut count = 0;
    let mut all = entries.map(|it| {
        count += 1;
        it.is_ok_and(|it| {
            let name = it.file_name().to_bytes();
            name.ends_with(b".sample") || matches!(name, b"." | b"..")
        }) && count <= ENTRIES_MAX
    });
    all.all(|it| it)
}

/// Reads settings line by line. What is not understood is not harmless. `back` says where a repository may have its
/// files.
fn runs_nothing(config: &str, back: &dyn Fn(&str) -> bool) -> bool {
    let mut section_now = "";
    let mut names: &[&str] = &[];
    config.lines().map(trimmed).all(|line| {
        if let Some(section) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            let (section, rest) = section.split_once(' ').unwrap_or((section, "\"\""));
            let quoted = rest.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
            let known = PLAIN.iter().find(|it| it.0 == section);
            (section_now, names) = known.map_or(("", [].as_slice()), |it| (it.0, it.1));
            return known.is_some()
                && quoted.is_some_and(|it| !it.contains(['"', '\\', ']']) && !it.contains("::"));
        }
        line.is_empty()
            || line.split_once('=').is_some_and(|(name, value)| {
                let name = trimmed(name).to_ascii_lowercase();
                let plain = !value.contains(['\\', '"', '\'']) && !value.contains("::");
                let value = trimmed(value);
                let leads_back = section_now == "core"
                    && name == "worktree"
                    && !value.contains(['#', ';'])
                    && back(value);
                (names.contains(&name.as_str()) || leads_back) && plain
            })
    })
}

/// Without the blanks that git takes for such.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_git_writes_itself_are_harmless_and_others_are_not() {
        let init = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n";
        let clone = "[remote \"origin\"]\n\turl = https://e.example/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                     [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        let none: &dyn Fn(&str) -> bool = &|_| false;
        let module = "[core]\n\tworktree = ../../../lib\n";
        assert!(!runs_nothing(module, none) && runs_nothing(module, &|it| it == "../../../lib"));
        assert!(
            runs_nothing(init, none)
                && runs_nothing(&format!("{init}{clone}"), none)
                && runs_nothing("", none)
        );
        for bad in [
            "[core]\n\thooksPath = x\n",
            "[core]\n\tfsmonitor = ./x\n",
            "[core] hooksPath = x\n",
            "[alias]\n\tst = !sh\n",
            "[include]\n\tpath = x\n",
            "[remote \"o\"]\n\turl = ext::sh -c x\n",
            "[remote \"ext::sh -c x\"]\n\tfetch = +refs/heads/*:refs/remotes/o/*\n",
            "[remote \"o\"]\n\tuploadpack = x\n",
            "[remote \"o\\\"]\n\turl = x\n",
            "[core]\n\tbare = false \\\n\tsshCommand = x\n",
            "nonsense\n",
            "[submodule \"x\"]\n\tupdate = !sh\n",
            "[core]\n[user]\n\tworktree = ../../../lib\n",
        ] {
            assert!(!runs_nothing(bad, none), "{bad}");
        }
    }
}
