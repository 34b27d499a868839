//! A session's visit to a workspace, for the commands that open sessions.

use std::path::{Path, PathBuf};

use evidence::SystemClock;
use host::WorkspaceFiles;
use host::workspace::{Ground, VisitError, Workspace};
use model::Caller;

use crate::failure::Failure;
use crate::gate::setup::Gate;
use crate::output;

/// A workspace that a session is in; none if it has none.
pub(crate) struct Visit(Option<Workspace>);

impl Visit {
    /// An open session comes in. If this fails, it must not begin.
    pub(crate) fn begin(
        dir: Option<&Path>,
        gate: &Gate,
        who: &Caller,
        home: &Path,
    ) -> Result<Self, Failure> {
        let Some(dir) = dir else { return Ok(Self(None)) };
        let workspace = open(home, dir)?;
        tell(&enter(&workspace, gate, who)?);
        Ok(Self(Some(workspace)))
    }

    /// The files that the session may work with.
    pub(crate) fn files(&self) -> Result<Option<WorkspaceFiles>, Failure> {
        self.0.as_ref().map(|it| it.files().map_err(failure)).transpose()
    }

    /// The session goes.
    pub(crate) fn end(&self, gate: &Gate, who: &Caller) -> Result<(), Failure> {
        let Some(workspace) = &self.0 else { return Ok(()) };
        tell(&leave(workspace, gate, who)?);
        Ok(())
    }
}

/// Where a session works: where it was told to, or in the agent's own workspace, if that is there or was
/// asked for.
pub(crate) fn place(
    dir: Option<&Path>,
    own: bool,
    who: &Caller,
    home: &Path,
) -> Result<Option<PathBuf>, Failure> {
    if let Some(dir) = dir {
        return Ok(Some(dir.to_owned()));
    }
    // Names that no folder can have are nobody's workspace, unless one is asked for.
    let path = match Workspace::own(home, who) {
        Err(_) if !own => return Ok(None),
        path => path.map_err(failure)?,
    };
    if own {
        let made = files::private::create_dir(&path);
        made.map_err(|error| Failure::unable(format!("`{}`: {error}", path.display())))?;
    }
    Ok(path.is_dir().then_some(path))
}

/// A workspace of this host.
pub(crate) fn open(home: &Path, dir: &Path) -> Result<Workspace, Failure> {
    Workspace::open(home, dir).map_err(failure)
}

/// What a person should know when a session comes in.
pub(crate) fn enter(
    workspace: &Workspace,
    gate: &Gate,
    who: &Caller,
) -> Result<Vec<String>, Failure> {
    workspace.enter(&ground(gate), who).map_err(failure)
}

/// What a person should know when it goes.
pub(crate) fn leave(
    workspace: &Workspace,
    gate: &Gate,
    who: &Caller,
) -> Result<Vec<String>, Failure> {
    workspace.leave(&ground(gate), who).map_err(failure)
}

/// Tells it beside the result.
pub(crate) fn tell(notes: &[String]) {
    notes.iter().for_each(|it| output::note(it));
}

fn ground(gate: &Gate) -> Ground<'_> {
    Ground {
        monitor: &gate.monitor,
        journal: &gate.journal,
        sessions: &*gate.store,
        clock: &SystemClock,
    }
}

fn failure(error: VisitError) -> Failure {
    if error.is_misplaced() { Failure::usage(error) } else { Failure::unable(error) }
}
