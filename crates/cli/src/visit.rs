//! A session's visit to a workspace, for the commands that open sessions.

use std::path::Path;

use host::workspace::{VisitError, Workspace};
use model::Caller;

use crate::failure::Failure;
use crate::gate::setup::Gate;
use crate::output;

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
    workspace.enter(&gate.ground(), who).map_err(failure)
}

/// What a person should know when it goes.
pub(crate) fn leave(
    workspace: &Workspace,
    gate: &Gate,
    who: &Caller,
) -> Result<Vec<String>, Failure> {
    workspace.leave(&gate.ground(), who).map_err(failure)
}

/// Tells it beside the result.
pub(crate) fn tell(notes: &[String]) {
    notes.iter().for_each(|it| output::note(it));
}

fn failure(error: VisitError) -> Failure {
    if error.is_misplaced() { Failure::usage(error) } else { Failure::unable(error) }
}
