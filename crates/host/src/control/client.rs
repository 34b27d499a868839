//! The person's side of the door.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;

use serde_json::{Map, Value};

use super::request::Request;
use super::{REQUEST_BYTES_MAX, limits, patience};
use crate::ipc::{Ends, FrameError, Limits, Stop, read, socket::stranger, write};

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// No gate runs there, or it has no door.
    #[error("no gate is running there")]
    Nobody,
    /// The gate did not do it, for a reason of what was asked.
    #[error("{0}")]
    Refused(String),
    /// The gate could not do it.
    #[error("{0}")]
    Unable(String),
    /// The connection.
    #[error("the gate that is running there: {0}")]
    Connection(#[from] FrameError),
    /// The system.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Asks the gate whose door is at `path`, and gives what it answered.
///
/// # Errors
/// If nobody is there, or it was not done.
pub fn ask(path: &Path, request: &Request) -> Result<Map<String, Value>, AskError> {
    let stream = UnixStream::connect(path).map_err(|error| {
        // A name that is too long cannot have been bound either.
        let nobody = matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::ConnectionRefused
                | io::ErrorKind::InvalidInput
        );
        if nobody { AskError::Nobody } else { AskError::Io(error) }
    })?;
    if let Some(uid) = stranger(&stream)? {
        return Err(FrameError::Stranger { uid }.into());
    }
    let (_stopper, stop) = Stop::pair()?;
    let mut wire = Ends::new(stream.try_clone()?, stream, stop);
    let limits = Limits { idle: patience(request), ..limits() };
    let request = request.to_value().to_string();
    if request.len() > REQUEST_BYTES_MAX {
        let bytes = request.len();
        let why = format!("a request has {bytes} bytes, at most {REQUEST_BYTES_MAX} are read");
        return Err(AskError::Refused(why));
    }
    write(&mut wire, request.as_bytes(), &limits)?;
    let answer = read(&mut wire, &limits)?.ok_or(FrameError::Torn { bytes: 0 })?;
    let Ok(Value::Object(answer)) = serde_json::from_slice(&answer) else {
        return Err(AskError::Unable("the gate's answer is no object".to_owned()));
    };
    if answer.get("ok") == Some(&Value::Bool(true)) {
        return Ok(answer);
    }
    let error = answer.get("error").and_then(Value::as_str).unwrap_or("no reason given").to_owned();
    let refused = answer.get("refused") == Some(&Value::Bool(true));
    Err(if refused { AskError::Refused(error) } else { AskError::Unable(error) })
}
