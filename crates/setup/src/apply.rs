//! Carrying out a plan: backups, then the manifest, then the files.

use std::io;
use std::path::PathBuf;

use crate::clean::{Ours, cleaned};
use crate::disk::{self, DiskError, digest};
use crate::manifest::{self, Before, Entry, Manifest, ManifestError};
use crate::plan::{Change, Plan};
use crate::wiring::has_hooks;

/// The bit of a mode that lets everybody read.
const READ_BY_ALL: u32 = 0o004;
const FOLDER_MODE: u32 = 0o700;
const SHARED_FOLDER_MODE: u32 = 0o755;

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Applied {
    /// Files that were written.
    pub written: Vec<PathBuf>,
    /// The folder that holds the manifest and the backups.
    pub setup: PathBuf,
}

/// Why a plan was not carried out, or not to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// A file is another one than when the plan was made. Nothing more was written.
    #[error("`{path}` was changed meanwhile; nothing more was changed, so run it again")]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be worked with.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The record of the change cannot be made: so nothing was changed.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file cannot be written.
    #[error(
        "`{path}` cannot be written: {source}; {} other files were, and `lazaret uninstall` takes them back",
        written.len()
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
        /// Files that were written before it.
        written: Vec<PathBuf>,
    },
}

impl Plan {
    /// Carries the plan out. `now_unix_s` is noted in the manifest.
    ///
    /// # Errors
    /// If a file changed since the plan was made, or cannot be written. What was done until then can be taken back.
    pub fn apply(&self, now_unix_s: u64) -> Result<Applied, ApplyError> {
        let setup = self.around.setup();
        let mut applied = Applied { written: Vec::new(), setup: setup.clone() };
        if self.is_empty() {
            return Ok(applied);
        }
        for change in &self.changes {
            self.assert_unchanged(change)?;
        }
        let _lock = manifest::lock(&setup)?;
        self.record(now_unix_s)?;
        for change in &self.changes {
            // Once more: between the first look and now there was a disk to wait for.
            self.assert_unchanged(change)?;
            let is_shared = change.mode & READ_BY_ALL != 0;
            let mode = if is_shared { SHARED_FOLDER_MODE } else { FOLDER_MODE };
            disk::make_folders(&disk::missing_folders(&change.real), mode)
                .and_then(|()| disk::put(&change.real, &change.after, change.mode))
                .map_err(|source| ApplyError::Write {
                    path: change.path.clone(),
                    source,
                    written: applied.written.clone(),
                })?;
            applied.written.push(change.path.clone());
        }
        Ok(applied)
    }

    fn assert_unchanged(&self, change: &Change) -> Result<(), ApplyError> {
        let seen = disk::look(&change.path, &self.roots)?;
        if seen.real == change.real && seen.bytes == change.before {
            return Ok(());
        }
        Err(ApplyError::Changed { path: change.path.clone() })
    }

    /// INVARIANT (TakenBack): after this, whatever follows can be undone.
    fn record(&self, now_unix_s: u64) -> Result<(), ApplyError> {
        let setup = self.around.setup();
        let mut manifest = Manifest::load(&setup)?;
        if let Some(hook) = self.around.hook_text().map(str::to_owned)
            && !manifest.hooks.contains(&hook)
        {
            manifest.hooks.push(hook);
        }
        for root in &self.roots {
            if !manifest.roots.contains(root) {
                manifest.roots.push(root.clone());
            }
        }
        for change in &self.changes {
            let entry = self.entry(change, &manifest, now_unix_s)?;
            manifest.files.retain(|it| it.path != change.path);
            manifest.files.push(entry);
        }
        manifest.save(&setup)?;
        Ok(())
    }

    fn entry(
        &self,
        change: &Change,
        manifest: &Manifest,
        time_unix_s: u64,
    ) -> Result<Entry, ApplyError> {
        let setup = self.around.setup();
        let now = change.before.as_deref().map(digest);
        let after = digest(&change.after);
        let known = manifest.entry(&change.path);
        let has_hooks = has_hooks(change.host, &change.path, &change.after, &self.around);
        if let Some(known) = known {
            let is_as_left = now.as_ref().is_some_and(|it| known.after.contains(it));
            let is_as_before = now == known.before.as_ref().map(|it| it.sha256.clone());
            if is_as_left || is_as_before {
                // The first backup stays the one to go back to.
                let mut entry = known.clone();
                entry.time_unix_s = time_unix_s;
                entry.has_hooks = has_hooks;
                entry.after.retain(|it| *it != after);
                entry.after.push(after);
                return Ok(entry);
            }
        }
        let is_exact = self.is_foreign(change, manifest);
        let mut folders = disk::missing_folders(&change.real);
        if let Some(known) = known {
            folders.extend(known.folders.iter().filter(|it| it.exists()).cloned());
            folders.sort();
        }
        let before = match (&change.before, known) {
            // Somebody changed what we had left: what it was before us is in the older backup.
            (_, Some(known)) if !is_exact => known.before.clone(),
            (Some(bytes), _) => {
                Some(Before { sha256: manifest::back_up(&setup, bytes)?, mode: change.mode })
            }
            (None, _) => None,
        };
        let (host, path) = (change.host, change.path.clone());
        let after = vec![after];
        Ok(Entry { host, path, before, after, is_exact, has_hooks, folders, time_unix_s })
    }

    /// Is there nothing of ours in the file that would be changed?
    fn is_foreign(&self, change: &Change, manifest: &Manifest) -> bool {
        let Some(bytes) = &change.before else { return true };
        let own = self.around.hook_text();
        let hooks: Vec<&str> = manifest.hooks.iter().map(String::as_str).chain(own).collect();
        let home = self.around.state_text();
        let ours = Ours { hooks: &hooks, home, lazaret: &self.around.lazaret };
        let Ok(text) = str::from_utf8(bytes) else { return true };
        let is_same = |left: Option<String>| left.is_some_and(|it| it == text);
        text.trim().is_empty() || cleaned(&change.path, text, Some(text), &ours).is_ok_and(is_same)
    }
}
