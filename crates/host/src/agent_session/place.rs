//! Where a session works: its workspace is entered before it begins, and what it leaves there is marked.

use std::path::{Path, PathBuf};

use model::Caller;

use super::SessionOptions;
use crate::gate::{Gate, GateError};
use crate::workspace::{VisitError, Workspace};

/// The workspace of an open session, entered. If this fails, it must not begin.
pub(super) fn workspace(
    options: &SessionOptions,
    gate: &Gate,
    who: &Caller,
    home: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<Workspace>, GateError> {
    if !options.ephemeral {
        let dir = place(options, who, home)?;
        return enter(dir.as_deref(), gate, who, home, notes);
    }
    let made = Workspace::ephemeral(home, who).map_err(not_visited)?;
    notes.extend(made.enter(&gate.ground(), who).map_err(not_visited)?);
    Ok(Some(made))
}

/// What a session leaves is marked, or removed with its workspace.
pub(super) fn leave(
    workspace: &Workspace,
    gate: &Gate,
    who: &Caller,
) -> Result<Vec<String>, GateError> {
    match workspace.remove_ephemeral() {
        Ok(true) => Ok(Vec::new()),
        Ok(false) => workspace.leave(&gate.ground(), who).map_err(not_visited),
        Err(error) => Err(GateError::unable(format!("the workspace of this session: {error}"))),
    }
}

/// Where a session works: where it was told to, or in the agent's own workspace, if that is there or was
/// asked for.
fn place(
    options: &SessionOptions,
    who: &Caller,
    home: &Path,
) -> Result<Option<PathBuf>, GateError> {
    if let Some(dir) = &options.workspace {
        return Ok(Some(dir.clone()));
    }
    // Names that no folder can have are nobody's workspace, unless one is asked for.
    let path = match Workspace::own(home, who) {
        Err(_) if !options.own_workspace => return Ok(None),
        path => path.map_err(not_visited)?,
    };
    if options.own_workspace {
        let made = files::private::create_dir(&path);
        made.map_err(|error| GateError::unable(format!("`{}`: {error}", path.display())))?;
    }
    Ok(path.is_dir().then_some(path))
}

/// An open session comes into a workspace. If this fails, it must not begin.
fn enter(
    dir: Option<&Path>,
    gate: &Gate,
    who: &Caller,
    home: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<Workspace>, GateError> {
    let Some(dir) = dir else { return Ok(None) };
    let workspace = Workspace::open(home, dir).map_err(not_visited)?;
    notes.extend(workspace.enter(&gate.ground(), who).map_err(not_visited)?);
    Ok(Some(workspace))
}

pub(super) fn not_visited(error: VisitError) -> GateError {
    if error.is_misplaced() { GateError::usage(error) } else { GateError::unable(error) }
}
