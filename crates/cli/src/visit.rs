//! A session's visit to a workspace, for the commands that open sessions.

use std::path::Path;

use evidence::SystemClock;
use host::workspace::{Ground, VisitError, Workspace};
use model::Caller;

use crate::gate::setup::Gate;
use crate::output;
use crate::run::Failure;

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

    /// The session goes.
    pub(crate) fn end(&self, gate: &Gate, who: &Caller) -> Result<(), Failure> {
        let Some(workspace) = &self.0 else { return Ok(()) };
        tell(&leave(workspace, gate, who)?);
        Ok(())
    }
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
