//! A plan while it is made: files as they are and as they would be.

use std::path::{Path, PathBuf};

use toml_edit::DocumentMut;

use crate::disk::{self, DiskError, Seen};
use crate::hosts;
use crate::json::{Document, JsonError};
use crate::plan::{Change, Note};
use crate::surroundings::Surroundings;
use crate::toml;
use hooks::Host;

/// The mode of a file of settings that was not there.
const NEW_MODE: u32 = 0o600;
/// The mode of a file for everybody on the machine.
const MANAGED_MODE: u32 = 0o644;

/// Why nothing can be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A file cannot be worked with.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A file is no text.
    #[error("`{path}` is not UTF-8 from byte {at} on and is left alone; repair it and try again")]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is wrong.
        at: usize,
    },
    /// A file is not what its program reads.
    #[error("`{path}` cannot be changed safely: {what}; repair it and try again")]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// A program of ours has a path that no settings file can hold.
    #[error(
        "`{path}` cannot stand in a settings file; install Lazaret at an absolute path of plain text"
    )]
    Program {
        /// The path.
        path: PathBuf,
    },
    /// The state directory has a path that no settings file can hold.
    #[error(
        "the state directory `{path}` cannot stand in a settings file; name one by an absolute path of plain text"
    )]
    State {
        /// The path.
        path: PathBuf,
    },
}

pub(crate) struct Draft<'a> {
    pub(crate) around: &'a Surroundings,
    pub(crate) notes: Vec<Note>,
    roots: Vec<PathBuf>,
    /// Folders of managed settings.
    managed: Vec<PathBuf>,
    files: Vec<Open>,
}

struct Open {
    host: Host,
    path: PathBuf,
    seen: Seen,
    now: Option<Vec<u8>>,
    mode: u32,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(around: &'a Surroundings, managed: Vec<PathBuf>) -> Self {
        let mut roots = around.roots();
        roots.extend(managed.iter().map(|it| files::resolved(it).unwrap_or(it.clone())));
        Self { around, notes: Vec::new(), roots, managed, files: Vec::new() }
    }

    pub(crate) fn note(&mut self, host: Host, text: impl Into<String>) {
        self.notes.push(Note { host, text: text.into() });
    }

    /// What is in a file, with what was planned for it.
    pub(crate) fn text(&mut self, host: Host, path: &Path) -> Result<Option<String>, PlanError> {
        let file = self.open(host, path)?;
        let Some(bytes) = &file.now else { return Ok(None) };
        match str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(error) => {
                Err(PlanError::NotText { path: path.to_owned(), at: error.valid_up_to() })
            }
        }
    }

    /// Plans what a file should hold.
    pub(crate) fn put(&mut self, host: Host, path: &Path, text: String) -> Result<(), PlanError> {
        self.open(host, path)?.now = Some(text.into_bytes());
        Ok(())
    }

    /// Plans a change of a file of JSON.
    pub(crate) fn json<T>(
        &mut self,
        host: Host,
        path: &Path,
        edit: impl FnOnce(&mut Document) -> Result<T, JsonError>,
    ) -> Result<T, PlanError> {
        let text = self.text(host, path)?;
        let wrong = |what: JsonError| PlanError::NotUnderstood {
            path: path.to_owned(),
            what: what.to_string(),
        };
        let before = text.as_deref().unwrap_or_default();
        let mut doc = Document::parse(before, hosts::comments(host)).map_err(wrong)?;
        let unchanged = doc.text().to_owned();
        let done = edit(&mut doc).map_err(wrong)?;
        if doc.text() != unchanged {
            self.put(host, path, doc.text().to_owned())?;
        }
        Ok(done)
    }

    /// Plans a change of a file of TOML.
    pub(crate) fn toml<T, E: ToString>(
        &mut self,
        host: Host,
        path: &Path,
        edit: impl FnOnce(&mut DocumentMut) -> Result<T, E>,
    ) -> Result<T, PlanError> {
        let text = self.text(host, path)?.unwrap_or_default();
        let wrong = |what: String| PlanError::NotUnderstood { path: path.to_owned(), what };
        let parsed = |text: &str| toml::parse(text).map_err(wrong);
        let mut doc = parsed(&text)?;
        let before = doc.to_string();
        let done = edit(&mut doc).map_err(|it| wrong(it.to_string()))?;
        if doc.to_string() != before {
            let after = toml::rendered(&doc, &text);
            // What is written must be readable.
            parsed(&after)?;
            self.put(host, path, after)?;
        }
        Ok(done)
    }

    pub(crate) fn finished(self) -> (Vec<Change>, Vec<Note>, Vec<PathBuf>) {
        let changed = self.files.into_iter().filter(|it| it.now != it.seen.bytes);
        let changes = changed.filter_map(|it| {
            let after = it.now?;
            let Seen { real, bytes, .. } = it.seen;
            Some(Change { host: it.host, path: it.path, real, before: bytes, after, mode: it.mode })
        });
        (changes.collect(), self.notes, self.roots)
    }

    fn open(&mut self, host: Host, path: &Path) -> Result<&mut Open, PlanError> {
        let known = self.files.iter().position(|it| it.path == path);
        let index = match known {
            Some(index) => index,
            None => {
                let seen = disk::look(path, &self.roots)?;
                let is_managed = self.managed.iter().any(|it| path.starts_with(it));
                let new = if is_managed { MANAGED_MODE } else { NEW_MODE };
                let mode = seen.mode.unwrap_or(new);
                let now = seen.bytes.clone();
                self.files.push(Open { host, path: path.to_owned(), seen, now, mode });
                self.files.len() - 1
            }
        };
        self.files.get_mut(index).ok_or_else(|| PlanError::Program { path: path.to_owned() })
    }
}
