//! What is handed over to the daemon, and what it says of it.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};

use host::doors::client::Connection;
use host::ipc::FrameError;
use serde_json::Value;

use crate::daemon;
use crate::failure::Failure;
use crate::output;

/// Asks the daemon on `home`, if one runs, to serve what is brought along; none if none runs. Rules of one's own cannot
/// be brought along: the daemon decides by those of the state directory.
pub(crate) fn over(
    home: &Path,
    door: &str,
    bring: &[BorrowedFd<'_>],
    asked: &[u8],
    policy: Option<&Path>,
) -> Result<Option<Connection>, Failure> {
    let open = || Connection::open(home, door, bring).map_err(Failure::unable);
    let connection = match open()? {
        // Hooks of agents need the daemon: whoever had the gate alone would have every call of theirs refused.
        None if policy.is_none() && setup::is_wired(home) => {
            daemon::start(home)?;
            open()?
        }
        found => found,
    };
    let Some(mut connection) = connection else { return Ok(None) };
    if policy.is_some() {
        return Err(Failure::usage(
            "the daemon runs and decides by the rules of the state directory: put yours into its `policy`, or end it \
             with `lazaret daemon stop`",
        ));
    }
    connection.say(asked).map_err(Failure::unable)?;
    ended(connection.hear())?;
    Ok(Some(connection))
}

/// The directory that a person has named, as the daemon finds it: it stands elsewhere.
pub(crate) fn workspace(named: Option<&Path>) -> Result<Option<PathBuf>, Failure> {
    let found = |it: &Path| {
        let wrong = |why| Failure::usage(format!("--workspace `{}`: {why}", it.display()));
        files::resolved(it).map_err(wrong)
    };
    named.map(found).transpose()
}

/// What the daemon said of something that it did, or did not do.
pub(crate) fn ended(said: Result<Value, FrameError>) -> Result<Value, Failure> {
    let said = said.map_err(|error| Failure::unable(format!("the daemon: {error}")))?;
    let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default();
    for note in said.get("notes").and_then(Value::as_array).into_iter().flatten() {
        output::note(note.as_str().unwrap_or_default());
    }
    if said.get("ok") == Some(&Value::Bool(true)) {
        return Ok(said);
    }
    let why = text("error");
    Err(match text("kind") {
        "usage" => Failure::usage(why),
        "refused" => Failure::refused(why),
        _ => Failure::unable(why),
    })
}
