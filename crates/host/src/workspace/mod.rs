//! The directory in which an agent works, and which outlives its sessions.
//!
//! What an agent writes there nobody sees. So it is looked at before a session begins and after it has
//! ended: what lies there with a label counts as read, and what a tainted session leaves is marked.

mod away;
mod ephemeral;
mod notes;

use std::io;
use std::path::{Path, PathBuf};

use ::files::{Dir, DirError, PathRefused};
use aegx::{Principal, RecordType};
use evidence::{AppendError, Clock, Journal, NewRecord, Receipt};
use model::{Caller, Kind, SessionId, Source, Taint, TaintTag};
use monitor::taint::{self, is_outside};
use monitor::{Monitor, Refusal};
use serde_json::Value;
use store::workspace::{After, Registry, WorkspaceError};
use store::{Broken, Oversight};

use crate::executor::WorkspaceFiles;

pub(crate) use away::sweep;
pub use away::{Gone, take_away};
pub use ephemeral::Room;

/// The folder of the state directory in which the labels of workspaces lie.
pub const LABELS: &str = "workspaces";
/// The folder of the state directory in which agents have workspaces of their own, one for each user.
pub const OWN: &str = "workspaces-data";

/// A workspace, fixed when it is opened: a link that is turned elsewhere later changes nothing.
pub struct Workspace {
    registry: Registry,
    root: PathBuf,
    /// Where its labels lie, if it ends with its session.
    ends: Option<PathBuf>,
}

/// What a workspace needs of the host.
pub struct Ground<'a> {
    /// The gate.
    pub monitor: &'a Monitor,
    /// Where it is recorded what was found and what is left.
    pub journal: &'a Journal,
    /// What is known of sessions that are over.
    pub sessions: &'a dyn Oversight,
    /// The time.
    pub clock: &'a dyn Clock,
}

/// Why a session cannot work in a workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VisitError {
    /// The agent would work where the host keeps its own state.
    #[error("the workspace `{}` and the state directory `{}` must lie apart", path.display(), home.display())]
    HoldsState {
        /// The workspace.
        path: PathBuf,
        /// The state directory.
        home: PathBuf,
    },
    /// The agent's or the user's name cannot be a folder's.
    #[error("no workspace can have this name: {refused}")]
    NoName {
        /// Why.
        refused: PathRefused,
    },
    /// The files or their labels.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// It cannot be recorded.
    #[error(transparent)]
    Record(#[from] AppendError),
    /// What was found cannot be kept with the session.
    #[error(transparent)]
    Session(#[from] Refusal),
    /// What is known of an earlier session.
    #[error(transparent)]
    Store(#[from] Broken),
}

impl VisitError {
    /// Is it about the directory that was named, and not about what does not work?
    #[must_use]
    pub fn is_misplaced(&self) -> bool {
        match self {
            Self::HoldsState { .. } | Self::NoName { .. } => true,
            Self::Workspace(error) => matches!(
                error,
                WorkspaceError::HoldsStore { .. } | WorkspaceError::NoDirectory { .. }
            ),
            Self::Record(_) | Self::Session(_) | Self::Store(_) => false,
        }
    }
}

impl Workspace {
    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The workspace `dir` of the host whose state is in `home`.
    ///
    /// # Errors
    /// If it is no directory, or one of both lies in the other.
    pub fn open(home: &Path, dir: &Path) -> Result<Self, VisitError> {
        let at = |path: &Path, error| WorkspaceError::Io { path: path.to_owned(), error };
        let root = match ::files::resolved(dir) {
            Ok(root) if root.is_dir() => root,
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(at(dir, error).into());
            }
            Ok(_) | Err(_) => {
                return Err(WorkspaceError::NoDirectory { path: dir.to_owned() }.into());
            }
        };
        let home = ::files::resolved(home).map_err(|error| at(home, error))?;
        // An agent's own workspace lies in a place of its own there, beside everything else.
        let own = root.strip_prefix(home.join(OWN)).is_ok_and(|it| it.components().count() >= 2);
        if home.starts_with(&root) || (root.starts_with(&home) && !own) {
            return Err(VisitError::HoldsState { path: root, home });
        }
        Ok(Self { registry: Registry::open(&home.join(LABELS))?, root, ends: None })
    }

    /// Where an agent has its own workspace for a user.
    ///
    /// # Errors
    /// If one of both is no name for a folder.
    pub fn own(home: &Path, who: &Caller) -> Result<PathBuf, VisitError> {
        let plain = |it: &str| {
            let name = it.replace(':', "+");
            ::files::segment(&name)
                .map(str::to_owned)
                .map_err(|refused| VisitError::NoName { refused })
        };
        let (agent, user) = (plain(who.agent.as_str())?, plain(who.user.as_str())?);
        Ok(home.join(OWN).join(agent).join(user))
    }

    /// Its files, for whoever carries out what an agent may do with them.
    ///
    /// # Errors
    /// If it is not there any more.
    pub fn files(&self) -> Result<WorkspaceFiles, VisitError> {
        let at = |error: DirError| WorkspaceError::Io {
            path: self.root.clone(),
            error: io::Error::other(error),
        };
        let dir = Dir::open(&self.root).map_err(at)?;
        Ok(WorkspaceFiles::new(dir, self.root.clone(), self.registry.clone()))
    }

    /// Before an open session begins its work: what lies here counts as read by it. Gives what a
    /// person should know.
    ///
    /// # Errors
    /// If anything of it does not work. Then the session must not begin.
    pub fn enter(&self, ground: &Ground<'_>, who: &Caller) -> Result<Vec<String>, VisitError> {
        let mut told = self.finish_others(ground, who)?;
        let now = ground.clock.unix_seconds();
        let before = self.registry.before(&self.root, &who.session, now)?;
        let labels = before.preseed.iter().map(|it| it.tag.taint);
        let taint = labels.fold(Taint::NONE, Taint::union);
        let content = notes::entered(&self.root, &before);
        let receipt = self.record(ground, who, "workspace_entered", taint, content)?;
        ground.monitor.find(who, &before.preseed, &receipt)?;
        told.extend(notes::of_before(&before));
        Ok(told)
    }

    /// After the work and before the session ends: what it changed carries its label. Gives what a
    /// person should know.
    ///
    /// # Errors
    /// If anything of it does not work. Then it is done when the next session begins.
    pub fn leave(&self, ground: &Ground<'_>, who: &Caller) -> Result<Vec<String>, VisitError> {
        let tag = ground.monitor.tag(who)?;
        let after = self.look_after(ground, who, &self.root, &who.session, tag.as_ref())?;
        Ok(notes::of_after(&after))
    }

    /// Sessions that never ended: their process died. What they changed carries what they had taken in.
    fn finish_others(&self, ground: &Ground<'_>, who: &Caller) -> Result<Vec<String>, VisitError> {
        let mut told = Vec::new();
        let related = self.registry.related(&self.root)?;
        for root in [&self.root].into_iter().chain(&related) {
            for session in self.registry.unfinished(root)? {
                // One that is open here ends by itself; the one that comes back goes on.
                if session == who.session || ground.monitor.is_open(&session) {
                    continue;
                }
                let tag = last_tag(ground, &session)?;
                let after = self.look_after(ground, who, root, &session, tag.as_ref())?;
                told.push(notes::of_lost(&session, &after));
            }
        }
        Ok(told)
    }

    fn look_after(
        &self,
        ground: &Ground<'_>,
        who: &Caller,
        root: &Path,
        session: &SessionId,
        tag: Option<&TaintTag>,
    ) -> Result<After, VisitError> {
        let now = ground.clock.unix_seconds();
        let after = self.registry.after(root, session, tag, now)?;
        let taint = tag.map_or(Taint::NONE, |it| it.taint);
        let content = notes::left(root, session, tag, &after);
        self.record(ground, who, "workspace_left", taint, content)?;
        Ok(after)
    }

    /// INVARIANT (NothingSilent): what was found and what was marked is on record.
    fn record(
        &self,
        ground: &Ground<'_>,
        who: &Caller,
        kind: &'static str,
        taint: Taint,
        content: Value,
    ) -> Result<Receipt, AppendError> {
        let kind = Kind::of_static(kind);
        let mut record = NewRecord::of_host(RecordType::Snapshot, kind, content);
        record.principal = Principal::Sys;
        record.taint = taint;
        record.session = Some(who.session.clone());
        record.agent = Some(who.agent.clone());
        record.meta.insert("user".to_owned(), who.user.as_str().into());
        ground.journal.append(record)
    }
}

/// The label of a session that is over. Of one that nobody knows the worst is believed.
fn last_tag(ground: &Ground<'_>, session: &SessionId) -> Result<Option<TaintTag>, Broken> {
    let now = ground.clock.unix_seconds();
    let Some(row) = ground.sessions.session(session)? else {
        return Ok(Some(taint::label(Source::File, "a session that nobody knows", now)));
    };
    let label = || TaintTag {
        taint: row.summary.taint,
        ..taint::label(Source::Tool, &row.summary.origin, now)
    };
    Ok(is_outside(row.summary.taint).then(label))
}
