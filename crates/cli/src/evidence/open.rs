//! Opening the journal, for reading or for writing.

use std::path::Path;

use evidence::{Config, Journal, OpenError, ReadError, Reader};
use host::control::{self, AskError, Request};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::home::Home;
use crate::output;

/// Opens the journal for reading.
pub(crate) fn reader(dir: &Path) -> Result<Reader, Failure> {
    Reader::open(dir).map_err(failure)
}

/// Opens the journal for writing and says what recovery did.
pub(crate) fn writer(config: &Config) -> Result<Journal, Failure> {
    let opened = writer_unless_busy(config)?;
    opened.map_err(|busy| {
        Failure::unable(format!("{busy}; if it is the daemon: `lazaret daemon stop`"))
    })
}

/// The same, with who has it, if somebody else does.
pub(crate) fn writer_unless_busy(config: &Config) -> Result<Result<Journal, OpenError>, Failure> {
    let (journal, recovery) = match Journal::open(config) {
        Ok(opened) => opened,
        Err(busy @ OpenError::Locked { .. }) => return Ok(Err(busy)),
        Err(error @ OpenError::Damaged(_)) => return Err(Failure::refused(error)),
        Err(error) => return Err(Failure::unable(error)),
    };
    if let Some(cut) = &recovery.cut {
        output::note(&format!(
            "recovered: {} bytes that were never acknowledged were cut from segment {:012} and \
             kept in {}",
            cut.bytes,
            cut.segment,
            cut.aside.display()
        ));
    }
    if recovery.unknown > 0 {
        let count = recovery.unknown;
        output::note(&format!(
            "recovered: {count} records that were never acknowledged had been seen and are gone"
        ));
    }
    if recovery.interrupted > 0 {
        let count = recovery.interrupted;
        output::note(&format!("recovered: {count} open entries were closed as interrupted"));
    }
    Ok(Ok(journal))
}

/// Lets the gate that runs do something with the journal, which it has; none if no gate runs.
pub(crate) fn by_gate(
    home: &Home,
    request: &Request,
) -> Result<Option<Map<String, Value>>, Failure> {
    match control::ask(&control::socket_path(&home.dir()?), request) {
        Ok(said) => Ok(Some(said)),
        Err(AskError::Nobody) => Ok(None),
        Err(AskError::Refused(error)) => Err(Failure::refused(error)),
        Err(error) => Err(Failure::unable(error)),
    }
}

/// Whoever has the gate is of another version.
pub(crate) fn not_understood() -> Failure {
    Failure::unable("the answer of the gate that runs is not understood")
}

/// What an unreadable journal means for the user.
pub(crate) fn failure(error: ReadError) -> Failure {
    let damaged = matches!(error, ReadError::Damaged { .. } | ReadError::Gone { .. });
    if damaged { Failure::refused(error) } else { Failure::unable(error) }
}
