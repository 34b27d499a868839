//! Opening what a command is given.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use aegx::archive::ArchiveError;
use aegx::{Rules, Source};

use super::{Failure, output};

/// Opens a bundle; an archive that is refused is no failure of the machine.
pub(crate) fn open(path: &Path, rules: Rules) -> Result<Source, Failure> {
    Source::open(path, rules).map_err(|error| {
        if matches!(error, ArchiveError::Io { .. }) {
            Failure::unable(output::chain(&error))
        } else {
            Failure::refused(format!("`{}`: {error} [{}]", path.display(), error.code()))
        }
    })
}

/// Reads a small file whole.
pub(crate) fn read_file(path: &Path, bytes_max: usize) -> Result<Vec<u8>, Failure> {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(bytes_max as u64 + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes =
        read().map_err(|error| Failure::unable(format!("`{}`: {error}", path.display())))?;
    if bytes.len() > bytes_max {
        let message = format!("`{}` is longer than {bytes_max} bytes", path.display());
        return Err(Failure::refused(message));
    }
    Ok(bytes)
}
