//! Repositories and secret files further down in a workspace: found before a command begins, and looked for again when
//! it has ended.
//!
//! Every directory is read once, those nearer to the top first and those with other people's packages last. Where there
//! are more than a bound there is no cage: a command could make so many that the next one sees what was covered.
//! Afterwards only directories that were changed are read again: the kernel's time of change tells, which nobody
//! inside can set. One that was changed a moment before counts as changed: some disks know full seconds only.
//!
//! A directory of ours that is closed to us stays closed to the command: it is covered. One that the command has closed is
//! opened when it has ended.

mod bounds;
mod keys;
mod names;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Stat, fstat, lstat, statat};
use rustix::io::Errno;

use super::error::CageError;
use super::{entries, reach};

use bounds::{Bounds, TooMany, not_seen, take};

/// Directories that are read when it has ended: those that it made or changed.
const CHANGED_MAX: usize = 65_536;
/// Entries of one of these that are looked at.
const ENTRIES_MAX: usize = 50_000;
/// A time of change that is not older than this may stand for two changes.
const MOMENT_SECONDS: i64 = 3;

/// To read a directory, and to enter it.
const FOR_THE_OWNER: u32 = 0o500;

/// What makes a directory called `.env` one with packages, and no secret.
const PACKAGES_OF_PYTHON: &str = "pyvenv.cfg";

/// What was found in the workspaces of a cage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nested {
    /// Directories with a `.git` in them, the workspaces apart.
    pub(crate) repositories: Vec<PathBuf>,
    /// Directories that git takes for a repository themselves.
    pub(crate) bare: Vec<PathBuf>,
    /// Files with secrets, and directories that nobody can look into.
    pub(crate) secrets: Vec<PathBuf>,
    /// Texts that instruct agents, and what editors open and run something of, further down as well.
    pub(crate) obeyed: Vec<PathBuf>,
    workspaces: Vec<PathBuf>,
    /// When each was changed; none if that was a moment ago.
    looked: BTreeMap<PathBuf, Option<Changed>>,
}

/// Repositories that a command has made.
#[derive(Debug, Default)]
pub(crate) struct Made {
    pub(crate) repositories: Vec<PathBuf>,
    pub(crate) bare: Vec<PathBuf>,
    /// Files that are keys by their names, where something was changed.
    pub(crate) keys: Vec<PathBuf>,
    /// There was more than is looked at.
    pub(crate) is_cut: bool,
}

/// When a directory was changed: seconds and nanoseconds, and which one it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Changed(i64, i64, u64);

impl Nested {
    /// Looks through these workspaces, and for secrets through what else was given to be read.
    ///
    /// # Errors
    /// There is more than can be looked through, so that secrets in it would be seen.
    pub(crate) fn find(workspaces: &[PathBuf], readable: &[PathBuf]) -> Result<Self, CageError> {
        Self::find_within(Bounds::DEFAULT, workspaces, readable)
    }

    pub(crate) fn find_within(
        mut bounds: Bounds,
        workspaces: &[PathBuf],
        readable: &[PathBuf],
    ) -> Result<Self, CageError> {
        let mut found = Self::default();
        for dir in readable {
            found.look_through(dir, &mut bounds)?;
        }
        // Nobody inside changes anything there.
        let secrets = found.secrets;
        let mut found = Self { workspaces: workspaces.to_vec(), secrets, ..Self::default() };
        for workspace in workspaces {
            // What git keeps was given for itself: it is the repository of what it lies in.
            if workspace.file_name().is_some_and(|it| it == ".git") {
                found.repositories.extend(workspace.parent().map(Path::to_owned));
            }
            found.look_through(workspace, &mut bounds)?;
        }
        found.secrets.sort();
        found.secrets.dedup();
        Ok(found)
    }

    fn look_through(&mut self, workspace: &Path, bounds: &mut Bounds) -> Result<(), CageError> {
        let mut queue = VecDeque::from([workspace.to_owned()]);
        let mut packages = VecDeque::new();
        loop {
            let next = queue.pop_front().map(|it| (it, false));
            let next = next.or_else(|| packages.pop_front().map(|it| (it, true)));
            let Some((dir, is_package)) = next else { return Ok(()) };
            if self.looked.contains_key(&dir) {
                continue;
            }
            take(&mut bounds.directories, &dir, &TooMany::Directories)?;
            let below = dir.strip_prefix(workspace).unwrap_or(&dir);
            let has_samples = is_package || names::are_of_samples(below);
            let seen = match see(&dir, has_samples, &mut bounds.entries) {
                // Whoever is inside could open it as its owner. Root sees what is in it, and it is closed all the same.
                Ok(Seen { is_closed: true, .. }) | Err(NotSeen::Closed)
                    if dir != workspace && is_ours(&dir) =>
                {
                    self.secrets.push(dir);
                    continue;
                }
                Ok(Seen { is_cut: true, .. }) => return Err(TooMany::Entries.at(&dir)),
                Ok(seen) => seen,
                Err(NotSeen::Closed) if dir == workspace => return Err(not_seen(&dir)),
                Err(NotSeen::Closed | NotSeen::Gone) => continue,
                Err(NotSeen::Beyond) => return Err(not_seen(&dir)),
            };
            for (below, is_package_itself) in seen.below {
                let to = if is_package || is_package_itself { &mut packages } else { &mut queue };
                to.push_back(below);
            }
            self.secrets.extend(seen.secrets);
            self.obeyed.extend(seen.obeyed);
            if seen.is_repository && dir != workspace {
                take(&mut bounds.repositories, &dir, &TooMany::Repositories)?;
                self.repositories.push(dir.clone());
            }
            if seen.is_bare {
                take(&mut bounds.repositories, &dir, &TooMany::Repositories)?;
                self.bare.push(dir.clone());
            }
            self.looked.insert(dir, seen.changed.filter(Changed::is_long_ago));
        }
    }

    /// Every directory that git, editors and agents may take for the top of something: workspaces and repositories.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.workspaces.iter().chain(&self.repositories)
    }

    /// Are these the settings of a repository that was there, so that they are kept as they are?
    pub(crate) fn has_repository(&self, dir: &Path) -> bool {
        let is_of_root = dir.file_name().is_some_and(|it| it == ".git")
            && dir.parent().is_some_and(|above| self.roots().any(|it| it == above));
        is_of_root || self.bare.iter().any(|it| it == dir)
    }

    /// Which repositories are new. Nothing of the command runs any more.
    pub(crate) fn made(&self) -> Made {
        let mut made = Made::default();
        let known: BTreeSet<&PathBuf> = self.roots().collect();
        let covered: BTreeSet<&PathBuf> = self.secrets.iter().collect();
        let is_same = |(dir, before): (&PathBuf, &Option<Changed>)| {
            before.is_some() && lstat(dir).ok().as_ref().map(Changed::of) == *before
        };
        let mut queue: VecDeque<PathBuf> =
            self.looked.iter().filter(|it| !is_same(*it)).map(|it| it.0.clone()).collect();
        let mut read = 0;
        while let Some(dir) = queue.pop_front() {
            read += 1;
            // Root sees what is in it all the same, and opens it like everybody.
            let open = |it: Seen| if it.is_closed { Err(NotSeen::Closed) } else { Ok(it) };
            let seen = match see_one(&dir).and_then(open).or_else(|why| why.opened(&dir)) {
                Ok(seen) => seen,
                Err(NotSeen::Gone) => continue,
                Err(NotSeen::Closed) => {
                    made.is_cut |= is_ours(&dir);
                    continue;
                }
                Err(NotSeen::Beyond) => {
                    made.is_cut = true;
                    continue;
                }
            };
            made.is_cut |= seen.is_cut;
            made.keys.extend(seen.keys.into_iter().filter(|it| !covered.contains(it)));
            // One that is called as if it held secrets is looked into. What was covered is as it was, and as closed.
            let below = seen.below.into_iter().map(|it| it.0).chain(seen.secrets);
            let is_known = |it: &PathBuf| self.looked.contains_key(it) || covered.contains(it);
            let mut below = below.filter(|it| !is_known(it));
            // What would not be read any more is not remembered, either.
            queue.extend(below.by_ref().take(CHANGED_MAX.saturating_sub(read + queue.len())));
            made.is_cut |= below.next().is_some();
            if seen.is_bare && !self.bare.contains(&dir) {
                made.bare.push(dir.clone());
            }
            if seen.is_repository && !known.contains(&dir) {
                made.repositories.push(dir);
            }
        }
        made
    }
}

impl Changed {
    fn of(stat: &Stat) -> Self {
        Self(stat.st_ctime, number(stat.st_ctime_nsec), stat.st_ino)
    }

    /// Does it tell this change from the next? A clock that was set back does not.
    #[expect(clippy::disallowed_methods, reason = "the clock by which the kernel says this time")]
    fn is_long_ago(&self) -> bool {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.is_ok_and(|it| self.0.saturating_add(MOMENT_SECONDS) < number(it.as_secs()))
    }
}

/// Is it a directory of the user that a command runs as?
fn is_ours(dir: &Path) -> bool {
    lstat(dir).is_ok_and(|it| it.st_uid == rustix::process::geteuid().as_raw())
}

/// Systems differ in the type of this one.
fn number(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or_default()
}

/// What one directory holds.
struct Seen {
    is_repository: bool,
    is_bare: bool,
    secrets: Vec<PathBuf>,
    obeyed: Vec<PathBuf>,
    /// Files that are keys by their names.
    keys: Vec<PathBuf>,
    /// Directories, and whether they are of packages by their name.
    below: Vec<(PathBuf, bool)>,
    changed: Option<Changed>,
    /// Its owner may not read or enter it.
    is_closed: bool,
    is_cut: bool,
}

/// Why a directory was not looked at.
enum NotSeen {
    /// It is not there, or no directory.
    Gone,
    /// It cannot be read or entered.
    Closed,
    /// It is there and cannot be looked at, as one whose path is longer than the system takes.
    Beyond,
}

impl NotSeen {
    fn of(error: Errno) -> Self {
        match error {
            Errno::ACCESS => Self::Closed,
            Errno::NOENT | Errno::NOTDIR | Errno::LOOP => Self::Gone,
            _ => Self::Beyond,
        }
    }

    /// Looks once more, when what the command has closed is open.
    fn opened(self, dir: &Path) -> Result<Seen, Self> {
        match self {
            Self::Gone | Self::Beyond => Err(self),
            Self::Closed => {
                let _somebody_elses = reach::open_dir(dir).and_then(|it| reach::open_up(&it));
                see_one(dir)
            }
        }
    }
}

/// Looks at one that a command may have made or changed.
fn see_one(dir: &Path) -> Result<Seen, NotSeen> {
    see(dir, true, &mut { ENTRIES_MAX })
}

/// Looks at a directory, and at no more than so many entries of it. What is a key by its content is a secret, unless the
/// directory `has_samples` of such.
fn see(dir: &Path, has_samples: bool, entries_left: &mut usize) -> Result<Seen, NotSeen> {
    let fd = entries::open(dir).map_err(NotSeen::of)?;
    // Names alone are not enough: what they stand for is looked at, too.
    statat(&fd, ".", AtFlags::SYMLINK_NOFOLLOW).map_err(NotSeen::of)?;
    // Before it is read: what is made meanwhile is seen as a change later.
    let stat = fstat(&fd).ok();
    let mut seen = Seen {
        is_repository: false,
        is_bare: false,
        secrets: Vec::new(),
        obeyed: Vec::new(),
        keys: Vec::new(),
        below: Vec::new(),
        changed: stat.as_ref().map(Changed::of),
        is_closed: stat.is_some_and(|it| it.st_mode & FOR_THE_OWNER != FOR_THE_OWNER),
        is_cut: false,
    };
    let mut has = (false, false, false, false);
    let within = names::Within::of(dir);
    let _as_far_as_it_can_be_read = entries::each(&fd, |name, kind| {
        let Some(left) = entries_left.checked_sub(1) else {
            seen.is_cut = true;
            seen.is_repository |= there(&fd, ".git");
            return ControlFlow::Break(());
        };
        *entries_left = left;
        let mut kind = kind;
        if kind == FileType::Unknown {
            let asked = statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW);
            kind = asked.map_or(kind, |it| FileType::from_raw_mode(it.st_mode));
        }
        let name = name.to_bytes();
        // Some disks do not look at the case of a name.
        let is = |it: &[u8]| name.eq_ignore_ascii_case(it);
        seen.is_repository |= is(b".git");
        if name == b".git" {
            return ControlFlow::Continue(());
        }
        has.0 |= is(b"HEAD");
        has.1 |= is(b"objects");
        has.2 |= is(b"refs");
        has.3 |= is(b"commondir");
        let path = || dir.join(OsStr::from_bytes(name));
        let is_dir = kind == FileType::Directory;
        let is_secret = match is_dir {
            true => within.is_secret_dir(name) && !path().join(PACKAGES_OF_PYTHON).exists(),
            false => within.is_secret(name, has_samples) || !has_samples && keys::is_one(&fd, name),
        };
        if !is_dir && names::is_key(name) {
            seen.keys.push(path());
        }
        if is_secret {
            seen.secrets.push(path());
        } else if is_dir {
            seen.below.push((path(), names::is_of_packages(name)));
        } else if !has_samples && names::is_obeyed(name) {
            seen.obeyed.push(path());
        }
        ControlFlow::Continue(())
    });
    // Objects and refs may lie where another file leads.
    let (head, objects, refs, elsewhere) = has;
    seen.is_bare = head && (objects && refs || elsewhere);
    Ok(seen)
}

/// Secrets in one directory of something that is shown, and the directories in it; none if it cannot be read.
pub(crate) fn secrets_in(dir: &Path, root: &Path) -> Option<(Vec<PathBuf>, Vec<PathBuf>)> {
    let below = dir.strip_prefix(root).unwrap_or(dir);
    let seen = see(dir, names::are_of_samples(below), &mut { ENTRIES_MAX }).ok()?;
    let below = seen.below.into_iter().filter(|it| !it.1).map(|it| it.0);
    Some((seen.secrets, below.collect()))
}

/// What editors open in this directory, and run something of.
pub(crate) fn opened_by_editors(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    // Where it cannot be read, its owner is told by other means.
    let _closed = entries::open(dir).map(|fd| {
        entries::each(&fd, |name, _| {
            if names::is_opened_by_editors(name.to_bytes()) {
                found.push(dir.join(OsStr::from_bytes(name.to_bytes())));
            }
            ControlFlow::Continue(())
        })
    });
    found
}

fn there(dir: &OwnedFd, name: &str) -> bool {
    statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

#[cfg(test)]
mod tests;
