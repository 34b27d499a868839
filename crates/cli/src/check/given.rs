//! Files that a person names on the command line.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::failure::Failure;

/// Reads a file of text of at most so many bytes.
pub(super) fn text(path: &Path, bytes_max: u64) -> Result<String, Failure> {
    let wrong =
        |why: &dyn std::fmt::Display| Failure::usage(format!("`{}`: {why}", path.display()));
    let file = File::open(path).map_err(|error| wrong(&error))?;
    let mut text = String::new();
    // One more, so that a file that is too long is told from one that just fits.
    file.take(bytes_max + 1).read_to_string(&mut text).map_err(|error| wrong(&error))?;
    if text.len() as u64 > bytes_max {
        return Err(wrong(&format!("it has more than {bytes_max} bytes")));
    }
    Ok(text)
}
