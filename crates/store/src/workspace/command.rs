//! A command that ran in a workspace: what it changed carries the label of its session as it was when it ran.

use std::path::Path;

use model::{SessionId, TaintTag};
use monitor::taint::{is_outside, worse};

use super::changes::{self, Author};
use super::error::WorkspaceError;
use super::manifest::Manifest;
use super::passing;
use super::registry::{After, Registry};

/// A workspace after a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// What the command left behind.
    pub after: After,
    /// The worst label from outside of what lay there when it ended, its own work apart.
    pub there: Option<TaintTag>,
}

impl Registry {
    /// Looks at a workspace after a command of `session`, which goes on. `tag` is the session's label when the command
    /// began. What was changed is marked if the session was tainted, or if there was a tainted file that the command
    /// could read; and it is not looked at again as the session's own when that ends. Says also what there was to be
    /// read.
    ///
    /// # Errors
    /// If the workspace cannot be read or the labels not kept. Then it is done when the session ends.
    pub fn after_command(
        &self,
        workspace: &Path,
        session: &SessionId,
        tag: Option<&TaintTag>,
        now: i64,
    ) -> Result<Ran, WorkspaceError> {
        let mut place = self.enter(workspace, now)?;
        let base = place.base(session);
        // Without the picture from before, everything may be new.
        let mut before = Manifest::load(&base)?.unwrap_or_default();
        before.entries.extend(passing::read(&base)?);
        let there = worse(place.marks.worst().as_ref(), place.copies().as_ref());
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
        let after = After { marked, sidecar, truncated: place.seen.truncated };
        Ok(Ran { after, there })
    }

    /// The worst label from outside of all that can be read in a workspace, as the host knows it.
    ///
    /// # Errors
    /// If the labels cannot be read.
    pub fn worst(&self, workspace: &Path) -> Result<Option<TaintTag>, WorkspaceError> {
        let outside = self.marks(workspace)?.into_iter().filter(|it| is_outside(it.tag.taint));
        Ok(outside.fold(None, |sum, mark| worse(sum.as_ref(), Some(&mark.tag))))
    }
}
