//! Which files there are inside: the system to read, the workspaces to write, fresh places, and no secret.
//!
//! What is not named does not exist. Secrets that lie in something that is named are covered, at their own place and
//! where a link leads.

use std::fs;
use std::path::{Component, Path, PathBuf};

use model::places;

use super::error::CageError;
use super::settings::Cage;

/// Read-only, if they are there.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc",
    "/opt",
    "/nix/store",
    "/gnu/store",
];
/// Files and directories of the system that hold secrets.
const SYSTEM_SECRETS: &[&str] = &[
    "/etc/NetworkManager/system-connections",
    "/etc/cni",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/ipsec.secrets",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/etc/lazaret",
    "/etc/letsencrypt",
    "/etc/openvpn",
    "/etc/polkit-1",
    "/etc/ppp",
    "/etc/rancher",
    "/etc/security/opasswd",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssl/private",
    "/etc/ssh",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/etc/wpa_supplicant",
];
/// What people have installed below their home and run every day; read-only.
const TOOLCHAINS: &[&str] = &[
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
    ".local/share/uv",
    ".npm-global",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go",
    "miniconda3",
];
/// A file of a workspace that holds what its name says.
const ENVIRONMENT_FILE: &str = ".env";
/// Endings of such files that hold only examples.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];

/// The files inside, in the order in which they are put there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    /// Links of the system's root, as they are.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// To read: at the same place as outside.
    pub(crate) readable: Vec<PathBuf>,
    /// To write: at the same place as outside.
    pub(crate) writable: Vec<PathBuf>,
    /// Fresh and empty, to write.
    pub(crate) fresh: Vec<PathBuf>,
    /// Directories within the writable that stay where they are, because of what lies in them.
    pub(crate) pinned: Vec<PathBuf>,
    /// Within the writable, but only to read.
    pub(crate) kept: Vec<PathBuf>,
    /// Not to be seen, although what they lie in is.
    pub(crate) covered: Vec<PathBuf>,
}

impl View {
    /// What a cage shows.
    pub(crate) fn of(cage: &Cage) -> Result<Self, CageError> {
        let mut view = Self::default();
        view.system();
        let home = cage.home.as_deref();
        for dir in &cage.workspaces {
            allowed(dir, cage)?;
            view.writable.push(dir.clone());
        }
        if let Some(home) = home {
            view.fresh.push(home.to_owned());
            // A link may lead to anything; what it leads to can be named.
            let there = TOOLCHAINS.iter().map(|it| home.join(it));
            let there = there.filter(|it| it.symlink_metadata().is_ok());
            view.readable.extend(there.filter(|it| real(it).as_ref() == Some(it)));
        }
        for path in &cage.readable {
            allowed(path, cage)?;
            view.readable.push(path.clone());
        }
        view.fresh.extend(["/tmp", "/dev/shm"].map(PathBuf::from));
        view.cover(cage);
        view.keep();
        Ok(view)
    }

    fn system(&mut self) {
        for path in SYSTEM.iter().map(PathBuf::from) {
            match fs::read_link(&path) {
                Ok(target) => self.links.push((path, target)),
                Err(_) if path.exists() => self.readable.push(path),
                Err(_) => {}
            }
        }
    }

    /// Covers every secret that would be seen, by its own name or because a link leads there.
    fn cover(&mut self, cage: &Cage) {
        let mut secrets: Vec<PathBuf> = SYSTEM_SECRETS.iter().map(PathBuf::from).collect();
        if let Some(home) = &cage.home {
            let lists = places::SECRET_DIRS.iter().chain(places::SECRET_FILES);
            secrets.extend(lists.map(|it| home.join(it)));
        }
        secrets.extend(cage.state.clone());
        for dir in &cage.workspaces {
            secrets.extend(environment_files(dir));
        }
        secrets.retain(|it| it.symlink_metadata().is_ok() && !cage.shown.contains(it));
        // A link is not covered itself: what it leads to is.
        let mut secrets: Vec<PathBuf> = secrets.iter().filter_map(|it| real(it)).collect();
        secrets.retain(|it| self.shows(it) && !cage.shown.contains(it));
        secrets.sort();
        secrets.dedup();
        self.covered = secrets;
        // What lies in something covered is covered with it.
        let all = self.covered.clone();
        self.covered.retain(|it| !all.iter().any(|above| above != it && it.starts_with(above)));
    }

    /// Is this seen inside?
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.readable.iter().chain(&self.writable).any(|it| path.starts_with(it))
    }

    /// Keeps what git, shells, editors and agents obey, and pins the directories on the way to it: whoever could
    /// rename `.git` could make another one.
    fn keep(&mut self) {
        for dir in &self.writable {
            for place in places::KEPT_IN_WORKSPACE.iter().chain(places::SHELL_FILES) {
                let path = dir.join(place);
                if path.symlink_metadata().is_err() {
                    continue;
                }
                let Some(path) = real(&path).filter(|it| it.starts_with(dir)) else { continue };
                let parents = path.ancestors().skip(1).take_while(|it| it != dir);
                self.pinned.extend(parents.map(Path::to_owned));
                self.kept.push(path);
            }
        }
        for list in [&mut self.pinned, &mut self.kept] {
            list.sort();
            list.dedup();
        }
        // A directory that is kept itself needs no pin, and what is covered is kept by that.
        self.pinned.retain(|it| !self.kept.iter().any(|kept| it.starts_with(kept)));
        self.kept.retain(|it| !self.covered.iter().any(|covered| it.starts_with(covered)));
    }
}

/// Is this a directory that somebody may be given?
fn allowed(path: &Path, cage: &Cage) -> Result<(), CageError> {
    let refuse = |why: &str| Err(CageError::Settings(format!("`{}` {why}", path.display())));
    let plain = path.components().all(|it| matches!(it, Component::RootDir | Component::Normal(_)));
    if !path.is_absolute() || !plain {
        return refuse("is not an absolute path without dots");
    }
    if real(path).as_deref() != Some(path) {
        return refuse("is not there, or a link leads to it");
    }
    if path == Path::new("/") || ["/proc", "/sys", "/dev"].iter().any(|it| path.starts_with(it)) {
        return refuse("cannot be given: it is the system itself");
    }
    let around = |it: &Path| it.starts_with(path);
    if cage.home.as_deref().is_some_and(around) {
        return refuse("holds the whole home directory; give a directory below it");
    }
    if cage.state.as_deref().is_some_and(|it| around(it) || path.starts_with(it)) {
        return refuse("holds, or lies in, our own state");
    }
    let in_secret =
        |it: &&str| cage.home.as_ref().is_some_and(|home| path.starts_with(home.join(it)));
    if places::SECRET_DIRS.iter().chain(places::SECRET_FILES).any(|it| in_secret(&it)) {
        return refuse("is a place of secrets");
    }
    Ok(())
}

/// Files with an environment at the top of a workspace, but not examples of such.
fn environment_files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let is_one = |name: &str| {
        let rest = name.strip_prefix(ENVIRONMENT_FILE);
        rest.is_some_and(|it| {
            it.is_empty()
                || it
                    .strip_prefix('.')
                    .is_some_and(|it| !EXAMPLES.iter().any(|end| it.ends_with(end)))
        })
    };
    let names =
        entries.filter_map(Result::ok).filter(|it| it.file_name().to_str().is_some_and(is_one));
    names.map(|it| it.path()).collect()
}

/// Where a path leads in the end, if it is there.
#[expect(
    clippy::disallowed_methods,
    reason = "what is mounted is opened by this path without following a link, so that another file is an error"
)]
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

#[cfg(test)]
mod tests {
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
        let covered: Vec<&PathBuf> =
            view.covered.iter().filter(|it| it.starts_with(&work)).collect();
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
        let covered: Vec<&PathBuf> =
            view.covered.iter().filter(|it| it.starts_with(&work)).collect();
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
}
