//! The person's door to a gate that runs, for the commands that run one.

use std::io;
use std::path::Path;
use std::sync::Arc;

use host::control::{self, Control};
use host::ipc::{Socket, SocketError};

use crate::failure::Failure;
use crate::gate::setup::Gate;
use crate::output;

/// The door of a gate on `home`. Without one the gate goes on, and nobody is asked.
pub(crate) fn bind(home: &Path) -> Result<Option<Socket>, Failure> {
    match Socket::bind(&control::socket_path(home)) {
        Ok(socket) => Ok(Some(socket)),
        Err(SocketError::Io { error, .. }) if error.kind() == io::ErrorKind::InvalidInput => {
            output::note(
                "the state directory's name is too long for a socket: nobody can be asked",
            );
            Ok(None)
        }
        Err(error) => Err(not_bound(error)),
    }
}

/// Does `work` while people can come to the door.
pub(crate) fn beside<T>(
    door: Option<&Socket>,
    gate: &Gate,
    home: &Path,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let Some(socket) = door else { return work() };
    let control = Control::new(Arc::clone(&gate.monitor), Arc::clone(&gate.journal), home);
    control.beside(socket, work).map_err(Failure::unable).flatten()
}

/// What a socket that cannot be had means.
pub(crate) fn not_bound(error: SocketError) -> Failure {
    let misplaced = matches!(error, SocketError::NotPrivate { .. } | SocketError::Taken { .. });
    if misplaced { Failure::usage(error) } else { Failure::unable(error) }
}
