//! Files that pass through us: what is written is labelled before it is there, and what is read brings
//! its label along.
//!
//! A session's own label grows. What it wrote through us while it was clean stays clean: how it found
//! the tree is brought up to date by what it wrote, beside the picture, so that the look at its end sees
//! only what it changed in other ways.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use aegx::Digest;
use model::{SessionId, TaintTag};
use monitor::taint::worse;
use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;
use super::manifest::{Entry, Manifest};
use super::marks::{Mark, Marks, WHOLE};
use super::registry::{BASE, BASE_END, Registry, key, root};
use super::sidecar::{self, SIDECAR, SIDECAR_BYTES_MAX};
use super::{files, related, scan, secrets};

/// The longest list of what one session wrote.
const PASSED_BYTES_MAX: u64 = 1 << 26;

/// A file that a session writes through us.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Below the workspace, with `/`.
    pub path: &'a str,
    /// All of its new content.
    pub content: &'a [u8],
    /// The label of the session that writes; none if it is clean.
    pub tag: Option<&'a TaintTag>,
    /// The session.
    pub session: &'a SessionId,
    /// When, in seconds since 1970.
    pub now: i64,
}

/// All of these want the real path of the workspace, as it was when it was opened.
impl Registry {
    /// The label of a file with this content, which joins the session of whoever reads it; none if it is
    /// clean.
    ///
    /// # Errors
    /// If the labels cannot be read. Then the file must not be, either.
    pub fn label(
        &self,
        workspace: &Path,
        path: &str,
        content: &[u8],
    ) -> Result<Option<TaintTag>, WorkspaceError> {
        let root = still(workspace)?;
        let digest = (!content.is_empty()).then(|| Digest::of(content));
        let mut marks = self.known(&root)?;
        // A workspace that lies around this file may be marked as a whole.
        let entries = BTreeMap::from([(path.to_owned(), scan::of_content(content))]);
        let seen = Manifest { entries, ..Manifest::default() };
        for other in related::of(&self.dir, &root)? {
            other.join(&self.dir, &mut marks, &seen)?;
        }
        Ok(label_of(&marks, path, digest.as_ref()))
    }

    /// Labels a file before a session writes it. Gives the label that it carries then: the session's, that of
    /// the file which it replaces, and that of any file with the same content.
    ///
    /// # Errors
    /// If the labels cannot be kept. Then the file must not be written.
    pub fn before_write(
        &self,
        workspace: &Path,
        written: &Written<'_>,
    ) -> Result<Option<TaintTag>, WorkspaceError> {
        let root = still(workspace)?;
        let (_, _locks) = related::lock(&self.dir, &key(&root), &root)?;
        let mut marks = self.known(&root)?;
        let entry = scan::of_content(written.content);
        let digest = (!written.content.is_empty()).then_some(entry.digest);
        let own = marks.files.get(written.path).map(|it| it.tag.clone());
        let copied = digest.and_then(|it| marks.contents.get(&it).cloned());
        let tag = worse(worse(own.as_ref(), copied.as_ref()).as_ref(), written.tag);
        if let Some(tag) = &tag {
            let (path, session) = (written.path.to_owned(), written.session.as_str().to_owned());
            let mark = Mark { path, tag: tag.clone(), session, written_at: written.now };
            marks.add(mark, digest);
            self.keep(&root, &mut marks)?;
        }
        let base = self.base(&root, written.session);
        if base.exists() {
            note(&base, written.path, entry)?;
        }
        Ok(tag)
    }

    /// From now on everything with this content carries this label, under whatever name.
    ///
    /// # Errors
    /// If the labels cannot be kept.
    pub fn know(
        &self,
        workspace: &Path,
        content: &[u8],
        tag: &TaintTag,
    ) -> Result<(), WorkspaceError> {
        let root = still(workspace)?;
        let (_, _locks) = related::lock(&self.dir, &key(&root), &root)?;
        let mut marks = self.known(&root)?;
        let digest = Digest::of(content);
        let known = marks.contents.get(&digest).is_some_and(|it| it.taint.contains(tag.taint));
        if content.is_empty() || known {
            return Ok(());
        }
        marks.know([(digest, tag.clone())], false);
        self.keep(&root, &mut marks)
    }

    fn known(&self, root: &Path) -> Result<Marks, WorkspaceError> {
        Ok(Marks::load(&self.dir.join(format!("{}.marks", key(root))))?.unwrap_or_default())
    }

    /// Keeps the marks, first with the host, then beside the files. A sidecar that is not as we left it is
    /// left for the next look, which tells it.
    fn keep(&self, root: &Path, marks: &mut Marks) -> Result<(), WorkspaceError> {
        let beside = root.join(SIDECAR);
        let found = files::read(&beside, SIDECAR_BYTES_MAX).ok();
        let intact = found.is_some_and(|it| it.as_deref().map(Digest::of) == marks.sidecar);
        let text = sidecar::text(marks).filter(|_| intact);
        if let Some(text) = &text {
            marks.sidecar = Some(Digest::of(text));
        }
        marks.save(&self.dir.join(format!("{}.marks", key(root))))?;
        // The host's copy is the one that counts.
        let _ = text.map(|it| files::replace(&beside, &it));
        Ok(())
    }

    fn base(&self, root: &Path, session: &SessionId) -> PathBuf {
        self.dir.join(format!("{}.{BASE}{session}{BASE_END}", key(root)))
    }
}

/// The workspace is where it was when it was opened: one that was moved away, with a link in its place, has
/// other labels there, or none.
fn still(workspace: &Path) -> Result<PathBuf, WorkspaceError> {
    let found = root(workspace)?;
    if found == workspace {
        Ok(found)
    } else {
        Err(WorkspaceError::NoDirectory { path: workspace.to_owned() })
    }
}

fn label_of(marks: &Marks, path: &str, content: Option<&Digest>) -> Option<TaintTag> {
    let file = marks.files.get(path).map(|it| &it.tag);
    let all = marks.files.get(WHOLE).map(|it| &it.tag);
    let tag = worse(file, all);
    let tag = worse(tag.as_ref(), content.and_then(|it| marks.contents.get(it)));
    let secret = content.is_some_and(|it| marks.secrets.contains(it)).then(secrets::tag);
    worse(tag.as_ref(), secret.as_ref())
}

#[derive(Serialize, Deserialize)]
struct Passed {
    path: String,
    entry: Entry,
}

/// The list of what a session wrote lies beside the picture of how it found the tree.
fn list(base: &Path) -> PathBuf {
    let mut path = base.as_os_str().to_owned();
    path.push(".passed");
    path.into()
}

pub(super) fn note(base: &Path, path: &str, entry: Entry) -> Result<(), WorkspaceError> {
    let list = list(base);
    let line = sidecar::json(&Passed { path: path.to_owned(), entry });
    // A list that is full makes what comes after it count as changed, by the session as it will be.
    if std::fs::metadata(&list).is_ok_and(|it| it.len() > PASSED_BYTES_MAX / 2) {
        return Ok(());
    }
    ::files::private::append_line(&list, &line).map_err(WorkspaceError::io(&list))
}

/// What a session wrote through us, the last of each.
pub(super) fn read(base: &Path) -> Result<BTreeMap<String, Entry>, WorkspaceError> {
    let list = list(base);
    let bytes = files::read(&list, PASSED_BYTES_MAX).map_err(WorkspaceError::io(&list))?;
    let bytes = bytes.unwrap_or_default();
    let lines = ::files::private::whole_lines(&bytes);
    // A line that cannot be read says nothing: then its file counts as changed.
    let passed = lines.filter_map(|it| serde_json::from_slice::<Passed>(it).ok());
    Ok(passed.map(|it| (it.path, it.entry)).collect())
}

pub(super) fn forget(base: &Path) -> Result<(), WorkspaceError> {
    let list = list(base);
    files::remove(&list).map_err(WorkspaceError::io(&list))
}
