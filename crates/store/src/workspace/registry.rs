//! The registry: looks at a workspace before and after a session, and keeps the labels.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use aegx::Digest;
use evidence::Receipt;
use model::{SessionId, TaintTag};
use monitor::Found;
use monitor::taint::{is_outside, worse};

use super::changes::{self, Author};
use super::error::WorkspaceError;
use super::files;
use super::manifest::{Manifest, NO_TEXT};
use super::marks::{Mark, Marks, WHOLE};
use super::passing;
use super::preseed::preseed;
use super::related::{self, Related};
use super::secrets;
use super::sidecar::{self, SIDECAR, Sidecar};

/// The labels of all persistent workspaces, in a directory that no agent can reach.
#[derive(Clone, Debug)]
pub struct Registry {
    pub(super) dir: PathBuf,
}

/// A workspace as a session finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// What the session takes in by being there, one for each label.
    pub preseed: Vec<Found>,
    /// How the sidecar was found.
    pub sidecar: Sidecar,
    /// Marked now, because a copy of something tainted was found.
    pub marked: Vec<String>,
    /// There is more than was looked at.
    pub truncated: bool,
    /// Sessions that began here and did not end: beside this one, or in a process that died.
    pub unfinished: Vec<SessionId>,
}

/// What a session left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct After {
    /// Files that are marked now and were not before.
    pub marked: Vec<String>,
    /// How the sidecar was found.
    pub sidecar: Sidecar,
    /// There is more than was looked at.
    pub truncated: bool,
}

/// A marked file as a person looked at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Looked {
    /// Its mark.
    pub mark: Mark,
    /// Hash of its content; none of what is no file.
    pub content: Option<Digest>,
}

impl Registry {
    /// Opens the registry in `dir`, which it makes.
    ///
    /// # Errors
    /// If it cannot.
    pub fn open(dir: &Path) -> Result<Self, WorkspaceError> {
        files::create_dir(dir).map_err(WorkspaceError::io(dir))?;
        Ok(Self { dir: ::files::resolved(dir).map_err(WorkspaceError::io(dir))? })
    }

    /// Looks at a workspace before `session` works in it. Seed the session with what it gives.
    ///
    /// # Errors
    /// If the workspace cannot be read or the labels not kept. Then the session must not begin.
    pub fn before(
        &self,
        workspace: &Path,
        session: &SessionId,
        now: i64,
    ) -> Result<Before, WorkspaceError> {
        let mut place = self.enter(workspace, now)?;
        // Between sessions nobody is known to have written; what is a copy is still a copy.
        let author = Author { tag: None, session: session.as_str(), now };
        let last = place.last_known()?;
        let marked = changes::mark(&mut place.marks, &last, &place.seen, &author);
        let unfinished = unfinished(&place.prefix)?;
        let sidecar = place.finish()?;
        if !unfinished.contains(session) {
            // A session that comes back is still compared with how it first found things.
            place.keep_base(&place.base(session))?;
        }
        Ok(Before {
            preseed: preseed(&place.marks, &place.seen),
            sidecar,
            marked,
            truncated: place.seen.truncated,
            unfinished,
        })
    }

    /// Looks at a workspace after `session`, also in another process than [`before`](Self::before). `tag` is the session's
    /// label. What it made or changed is marked if it was tainted, or if there was a tainted file that it could read.
    ///
    /// # Errors
    /// If the workspace cannot be read or the labels not kept. Try again before the next session.
    pub fn after(
        &self,
        workspace: &Path,
        session: &SessionId,
        tag: Option<&TaintTag>,
        now: i64,
    ) -> Result<After, WorkspaceError> {
        let mut place = self.enter(workspace, now)?;
        let base = place.base(session);
        // Without the picture from before, all may be new; what passed through us was labelled by what the session was then.
        let mut before = Manifest::load(&base)?.unwrap_or_default();
        if place.seen.is_elsewhere(&before) {
            before.entries.clear();
        }
        before.entries.extend(passing::read(&base)?);
        let there = place.marks.worst();
        let tag = worse(tag, there.as_ref());
        let author = Author { tag: tag.as_ref(), session: session.as_str(), now };
        let marked = changes::mark(&mut place.marks, &before, &place.seen, &author);
        let sidecar = place.finish()?;
        files::remove(&base).map_err(WorkspaceError::io(&base))?;
        passing::forget(&base)?;
        Ok(After { marked, sidecar, truncated: place.seen.truncated })
    }

    /// Sessions that began in a workspace and did not end: look after them before another begins, or what they wrote is nobody's.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn unfinished(&self, workspace: &Path) -> Result<Vec<SessionId>, WorkspaceError> {
        unfinished(&self.dir.join(key(&root(workspace)?)))
    }

    /// The other workspaces that share files with this one and are there.
    ///
    /// # Errors
    /// If there are too many, or that cannot be read.
    pub fn related(&self, workspace: &Path) -> Result<Vec<PathBuf>, WorkspaceError> {
        let related = related::of(&self.dir, &root(workspace)?)?;
        Ok(related.into_iter().map(|it| it.root).filter(|it| it.is_dir()).collect())
    }

    /// The marked files of a workspace, as the host knows them.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn marks(&self, workspace: &Path) -> Result<Vec<Mark>, WorkspaceError> {
        let root = root(workspace)?;
        let marks = Marks::load(&self.file(&root, "marks"))?;
        let mut marks = marks.unwrap_or_default();
        for other in related::of(&self.dir, &root)? {
            for mark in other.marks_of_ours(&self.dir)? {
                // What is gone since is still marked there.
                let is_there = fs::symlink_metadata(root.join(&mark.path)).is_ok();
                if is_there || mark.path.contains(NO_TEXT) {
                    marks.add(mark, None);
                }
            }
        }
        Ok(marks.files.into_values().collect())
    }

    /// A marked file, for a person who is to vouch for it; none if it is not marked.
    ///
    /// # Errors
    /// If the workspace or the labels cannot be read.
    pub fn look(&self, workspace: &Path, path: &str) -> Result<Option<Looked>, WorkspaceError> {
        let Some(mark) = self.marks(workspace)?.into_iter().find(|it| it.path == path) else {
            return Ok(None);
        };
        let root = root(workspace)?;
        let last = Manifest::load(&self.file(&root, "last"))?.unwrap_or_default();
        let seen = Manifest::of(&root, &last).map_err(WorkspaceError::io(&root))?;
        Ok(Some(Looked { mark, content: seen.entries.get(path).map(|it| it.digest) }))
    }

    /// A person vouches, on record, for a file as they looked at it; copies that are there keep their marks, new ones get none.
    ///
    /// # Errors
    /// If the file is another one by now, the workspace cannot be read or the labels not kept.
    pub fn clear(
        &self,
        workspace: &Path,
        looked: &Looked,
        _receipt: &Receipt,
        now: i64,
    ) -> Result<(), WorkspaceError> {
        let mut place = self.enter(workspace, now)?;
        let path = &looked.mark.path;
        let content = place.seen.entries.get(path).map(|it| it.digest);
        if content != looked.content {
            return Err(WorkspaceError::Changed { path: path.clone() });
        }
        place.marks.files.remove(path);
        content.and_then(|it| place.marks.contents.remove(&it));
        for other in &place.related {
            other.clear(&self.dir, path, content.as_ref())?;
        }
        place.finish().map(|_| ())
    }

    /// Takes the lock of a workspace and looks at everything in it.
    pub(super) fn enter(&self, workspace: &Path, now: i64) -> Result<Place, WorkspaceError> {
        let root = root(workspace)?;
        if self.dir.starts_with(&root) || root.starts_with(&self.dir) {
            return Err(WorkspaceError::HoldsStore { path: root, store: self.dir.clone() });
        }
        let key = key(&root);
        related::register(&self.dir, &key, &root)?;
        let (related, locks) = related::lock(&self.dir, &key, &root)?;
        let mut marks = Marks::load(&self.file(&root, "marks"))?.unwrap_or_default();
        self.follow(&root, &mut marks)?;
        let last = Manifest::load(&self.file(&root, "last"))?;
        let none = Manifest::default();
        let seen = Manifest::of(&root, last.as_ref().unwrap_or(&none));
        let seen = seen.map_err(WorkspaceError::io(&root))?;
        secrets::keep(&mut marks, last.as_ref().unwrap_or(&none), &seen);
        let sidecar = sidecar::reconcile(&root, &mut marks, &seen, now);
        let first_time = !marks.has_history();
        let mut told = Vec::new();
        for other in &related {
            if other.join(&self.dir, &mut marks, &seen)? {
                told.push(other.clone());
            }
        }
        let prefix = self.dir.join(key);
        let place = Place {
            root,
            prefix,
            marks,
            seen,
            last,
            sidecar,
            related,
            first_time,
            told,
            _locks: locks,
        };
        Ok(place)
    }

    /// Finds the contents of a workspace again that was known under another name, or lies in one.
    fn follow(&self, root: &Path, marks: &mut Marks) -> Result<(), WorkspaceError> {
        for folder in root.ancestors() {
            let pointer = self.pointer(folder)?;
            let io = WorkspaceError::io(&pointer);
            let known = files::read(&pointer, KEY_BYTES_MAX).map_err(io)?;
            let name = key(folder);
            if known.as_deref() == Some(name.as_bytes()) {
                continue;
            }
            let other = known.and_then(|it| Digest::from_hex(&it));
            if let Some(other) = other
                && let Some(old) = Marks::load(&self.dir.join(format!("{other}.marks")))?
            {
                marks.know(old.contents, old.crowded);
                marks.keep_secret(old.secrets);
                old.files.get(WHOLE).into_iter().for_each(|it| marks.add(it.clone(), None));
            }
            if folder == root {
                let io = WorkspaceError::io(&pointer);
                files::replace(&pointer, name.as_bytes()).map_err(io)?;
            }
        }
        Ok(())
    }

    /// The file that says under which name a folder was known last.
    fn pointer(&self, folder: &Path) -> Result<PathBuf, WorkspaceError> {
        let found = fs::metadata(folder).map_err(WorkspaceError::io(folder))?;
        Ok(self.dir.join(format!("inode.{}-{}", found.dev(), found.ino())))
    }

    fn file(&self, root: &Path, what: &str) -> PathBuf {
        self.dir.join(format!("{}.{what}", key(root)))
    }
}

const KEY_BYTES_MAX: u64 = 64;
pub(super) const BASE: &str = "base.";
pub(super) const BASE_END: char = '~';

/// A workspace that is looked at, under its lock.
pub(super) struct Place {
    root: PathBuf,
    prefix: PathBuf,
    pub(super) marks: Marks,
    pub(super) seen: Manifest,
    /// The tree as it was looked at last, if anybody did.
    last: Option<Manifest>,
    sidecar: Sidecar,
    related: Vec<Related>,
    /// Nothing marked was ever known of this workspace itself.
    first_time: bool,
    /// The related ones of which something marked is known.
    told: Vec<Related>,
    _locks: Vec<File>,
}

impl Place {
    fn file(&self, what: &str) -> PathBuf {
        let mut path = self.prefix.clone().into_os_string();
        path.push(format!(".{what}"));
        path.into()
    }

    /// The worst label from outside of contents that are known and lie there, whatever they are called.
    pub(super) fn copies(&self) -> Option<TaintTag> {
        if self.marks.contents.is_empty() {
            return None;
        }
        let contents = self.seen.entries.values().filter_map(changes::content);
        let known = contents.filter_map(|it| self.marks.contents.get(&it));
        let outside = known.filter(|it| is_outside(it.taint));
        outside.fold(None, |sum, tag| worse(sum.as_ref(), Some(tag)))
    }

    /// How a session found the tree. The mark at its end is in no session's name.
    pub(super) fn base(&self, session: &SessionId) -> PathBuf {
        self.file(&format!("{BASE}{session}{BASE_END}"))
    }

    /// The tree as it was looked at last. Where nobody ever looked, as it is now.
    fn last_known(&self) -> Result<Manifest, WorkspaceError> {
        if let Some(last) = &self.last {
            return Ok(last.clone());
        }
        if !self.first_time {
            return Ok(Manifest::default());
        }
        let mut last = self.seen.clone();
        let dir = self.prefix.parent().unwrap_or(Path::new("."));
        for other in &self.told {
            let theirs = Manifest::load(&other.file(dir, "last"))?.unwrap_or_default();
            other.picture(theirs, &mut last);
        }
        Ok(last)
    }

    /// Keeps the tree as it is now. What is kept is never written into, so two names may be of one file.
    fn keep_last(&self) -> Result<(), WorkspaceError> {
        let path = self.file("last");
        if self.last.as_ref() == Some(&self.seen) {
            return Ok(());
        }
        files::replace(&path, &sidecar::json(&self.seen)).map_err(WorkspaceError::io(&path))
    }

    /// Keeps it as a session found it.
    fn keep_base(&self, path: &Path) -> Result<(), WorkspaceError> {
        files::link(&self.file("last"), path).map_err(WorkspaceError::io(path))
    }

    /// Keeps the marks, first with the host, then beside the files, where something may stand in the way: the host's copy counts.
    pub(super) fn finish(&mut self) -> Result<Sidecar, WorkspaceError> {
        let text = sidecar::text(&self.marks);
        let digest = text.as_deref().map(Digest::of);
        let is_there = self.sidecar == Sidecar::Intact && digest == self.marks.sidecar;
        self.marks.sidecar = digest;
        self.marks.save(&self.file("marks"))?;
        self.keep_last()?;
        let text = text.filter(|_| !is_there);
        let written = text.map_or(Ok(()), |it| files::replace(&self.root.join(SIDECAR), &it));
        Ok(if written.is_ok() { self.sidecar.clone() } else { Sidecar::Unreadable })
    }
}

/// The sessions that have a picture from before and none from after.
fn unfinished(prefix: &Path) -> Result<Vec<SessionId>, WorkspaceError> {
    let dir = prefix.parent().unwrap_or(Path::new("."));
    let start = format!("{}.{BASE}", prefix.file_name().unwrap_or_default().to_string_lossy());
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(WorkspaceError::io(dir))? {
        let name = entry.map_err(WorkspaceError::io(dir))?.file_name();
        let name = name.to_string_lossy();
        let session = name.strip_prefix(&start).and_then(|it| it.strip_suffix(BASE_END));
        found.extend(session.and_then(|it| SessionId::parse(it).ok()));
    }
    found.sort();
    Ok(found)
}

pub(super) fn root(workspace: &Path) -> Result<PathBuf, WorkspaceError> {
    let root = ::files::resolved(workspace).map_err(WorkspaceError::io(workspace))?;
    if root.is_dir() { Ok(root) } else { Err(WorkspaceError::NoDirectory { path: root }) }
}

pub(super) fn key(root: &Path) -> String {
    Digest::of(root.as_os_str().as_bytes()).to_string()
}
