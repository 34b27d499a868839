//! What the host knows of one workspace: which files are marked, and which contents ever were.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aegx::{Digest, timestamp};
use model::TaintTag;
use monitor::taint::{is_outside, worse};
use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;
use super::form::TagForm;
use super::manifest::Manifest;
use super::{files, sidecar};

/// Contents that are remembered as tainted. Beyond them every new file counts as a copy.
const CONTENTS_MAX: usize = 200_000;
/// The longest file of marks.
const MARKS_BYTES_MAX: u64 = 1 << 28;
/// The mark of a whole workspace.
pub(super) const WHOLE: &str = ".";

/// A file that carries a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Below the workspace, with `/`; `.` for all of it.
    pub path: String,
    /// Its label.
    pub tag: TaintTag,
    /// The session that wrote it.
    pub session: String,
    /// When it was marked, in seconds since 1970.
    pub written_at: i64,
}

/// The labels of one workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// By path.
    pub(super) files: BTreeMap<String, Mark>,
    /// By content, and never forgotten: a file that comes back is as tainted as it was.
    pub(super) contents: BTreeMap<Digest, TaintTag>,
    /// Contents of files that hold secrets by their names, under whatever name they turn up.
    pub(super) secrets: BTreeSet<Digest>,
    /// More contents were tainted than are remembered.
    pub(super) crowded: bool,
    /// Hash of the sidecar as we wrote it last.
    pub(super) sidecar: Option<Digest>,
}

impl Mark {
    /// Is all of the workspace marked?
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        self.path == WHOLE
    }
}

impl Marks {
    /// Marks a file, and its content wherever it turns up. An older label is not lost.
    pub(super) fn add(&mut self, mut mark: Mark, content: Option<Digest>) {
        if let Some(old) = self.files.get(&mark.path)
            && let Some(tag) = worse(Some(&old.tag), Some(&mark.tag))
        {
            mark.tag = tag;
        }
        self.know(content.map(|it| (it, mark.tag.clone())), false);
        self.files.insert(mark.path.clone(), mark);
    }

    /// Remembers contents as tainted.
    pub(super) fn know(
        &mut self,
        contents: impl IntoIterator<Item = (Digest, TaintTag)>,
        crowded: bool,
    ) {
        self.crowded |= crowded;
        for (digest, tag) in contents {
            let tag = worse(self.contents.get(&digest), Some(&tag));
            if self.contents.contains_key(&digest) || self.contents.len() < CONTENTS_MAX {
                self.contents.extend(tag.map(|it| (digest, it)));
            } else {
                self.crowded = true;
            }
        }
    }

    /// Remembers contents of files with secrets.
    pub(super) fn keep_secret(&mut self, contents: impl IntoIterator<Item = Digest>) {
        let room = CONTENTS_MAX.saturating_sub(self.secrets.len());
        self.secrets.extend(contents.into_iter().take(room));
    }

    /// Is there, or was there ever, a tainted file?
    pub(super) fn has_history(&self) -> bool {
        !self.files.is_empty() || !self.contents.is_empty()
    }

    /// The worst label of all files that are there. What is only secret does not rub off on others.
    pub(super) fn worst(&self) -> Option<TaintTag> {
        let outside = self.files.values().filter(|it| is_outside(it.tag.taint));
        outside.fold(None, |sum, mark| worse(sum.as_ref(), Some(&mark.tag)))
    }

    /// Forgets marks of files that are gone. Their contents stay known.
    pub(super) fn drop_gone(&mut self, manifest: &Manifest) {
        if !manifest.truncated {
            self.files
                .retain(|path, _| path == WHOLE || manifest.entries.contains_key(path.as_str()));
        }
    }

    /// Reads them; `None` if this workspace was never seen.
    pub(super) fn load(path: &Path) -> Result<Option<Self>, WorkspaceError> {
        let bytes = files::read(path, MARKS_BYTES_MAX).map_err(WorkspaceError::io(path))?;
        let Some(bytes) = bytes else { return Ok(None) };
        // INVARIANT (FailClosed): labels that cannot be read are not taken for none.
        let damaged = |reason: String| WorkspaceError::Damaged { path: path.to_owned(), reason };
        let form: Form = serde_json::from_slice(&bytes).map_err(|it| damaged(it.to_string()))?;
        form.read().map(Some).ok_or_else(|| damaged("a hash is none".to_owned()))
    }

    /// Keeps them. Durable when it returns.
    pub(super) fn save(&self, path: &Path) -> Result<(), WorkspaceError> {
        let form = Form {
            version: VERSION,
            files: self.files.values().map(MarkForm::from).collect(),
            contents: self.contents.iter().map(|(it, tag)| (it.to_string(), tag.into())).collect(),
            secrets: self.secrets.iter().map(Digest::to_string).collect(),
            crowded: self.crowded,
            sidecar: self.sidecar.map(|it| it.to_string()),
        };
        let bytes = sidecar::json(&form);
        files::replace(path, &bytes).map_err(WorkspaceError::io(path))
    }
}

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    version: u32,
    files: Vec<MarkForm>,
    contents: BTreeMap<String, TagForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<String>,
    crowded: bool,
    sidecar: Option<String>,
}

impl Form {
    fn read(self) -> Option<Marks> {
        let digest = |text: &str| Digest::from_hex(text.as_bytes());
        let contents = self.contents.into_iter();
        let sidecar = match self.sidecar {
            Some(text) => Some(digest(&text)?),
            None => None,
        };
        Some(Marks {
            files: self.files.into_iter().map(Mark::from).map(|it| (it.path.clone(), it)).collect(),
            contents: contents
                .map(|(it, tag)| Some((digest(&it)?, tag.into())))
                .collect::<Option<_>>()?,
            secrets: self.secrets.iter().map(|it| digest(it)).collect::<Option<_>>()?,
            crowded: self.crowded,
            sidecar,
        })
    }
}

/// An entry of the sidecar, with the names of seed 001.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MarkForm {
    path: String,
    taint: TagForm,
    #[serde(default)]
    session_id: String,
    #[serde(default)]
    written_at: String,
}

impl From<&Mark> for MarkForm {
    fn from(mark: &Mark) -> Self {
        Self {
            path: mark.path.clone(),
            taint: (&mark.tag).into(),
            session_id: mark.session.clone(),
            written_at: timestamp::from_unix(mark.written_at),
        }
    }
}

impl From<MarkForm> for Mark {
    fn from(form: MarkForm) -> Self {
        Self {
            path: form.path,
            tag: form.taint.into(),
            session: form.session_id,
            written_at: timestamp::to_unix(&form.written_at).unwrap_or(0),
        }
    }
}
