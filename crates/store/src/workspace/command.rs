//! A command that ran in a workspace: what it changed carries the label of its session as it was when it ran.

use std::path::Path;

use model::{SessionId, TaintTag};
use monitor::taint::worse;

use super::changes::{self, Author};
use super::error::WorkspaceError;
use super::manifest::Manifest;
use super::passing;
use super::registry::{After, Registry};

impl Registry {
    /// Looks at a workspace after a command of `session`, which goes on. `tag` is the session's label when the command
    /// began. What was changed is marked if the session was tainted, or if there was a tainted file that the command
    /// could read; and it is not looked at again as the session's own when that ends.
    ///
    /// # Errors
    /// If the workspace cannot be read or the labels not kept. Then it is done when the session ends.
    pub fn after_command(
        &self,
        workspace: &Path,
        session: &SessionId,
        tag: Option<&TaintTag>,
        now: i64,
    ) -> Result<After, WorkspaceError> {
        let mut place = self.enter(workspace, now)?;
        let base = place.base(session);
        // Without the picture from before, everything may be new.
        let mut before = Manifest::load(&base)?.unwrap_or_default();
        before.entries.extend(passing::read(&base)?);
        let there = place.marks.worst();
        let tag = worse(tag, there.as_ref());
        let author = Author { tag: tag.as_ref(), session: session.as_str(), now };
        let marked = changes::mark(&mut place.marks, &before, &place.seen, &author);
        let sidecar = place.finish()?;
        if base.exists() {
            for (path, entry) in &place.seen.entries {
                if before.entries.get(path).is_none_or(|it| !entry.is_still(it)) {
                    passing::note(&base, path, entry.clone())?;
                }
            }
        }
        Ok(After { marked, sidecar, truncated: place.seen.truncated })
    }
}
