//! Which program is started: one of a fixed list, and only if nobody but root can have put it there.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Where Chromium and its kin lie. No setting and no message adds a place.
pub const KNOWN: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
];
/// The right of group and others to write.
const WRITABLE: u32 = 0o022;
/// The right of anybody to execute.
const EXECUTABLE: u32 = 0o111;

/// A program that can be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program(&'static str);

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// It is not on the list.
    #[error("`{0}` is none of the places where a browser may lie: {places}", places = KNOWN.join(", "))]
    NotKnown(String),
    /// Nothing is at any of the places.
    #[error("there is no browser: install Debian's package `chromium`; looked at {places}", places = KNOWN.join(", "))]
    None,
    /// It is there and not what it should be.
    #[error("`{path}` is not started: {why}")]
    Unfit {
        /// Where.
        path: &'static str,
        /// Why.
        why: String,
    },
}

impl Program {
    /// The program at `wanted`, or the first that is there.
    ///
    /// # Errors
    /// If it is not on the list, not there, or others than root could have written it.
    pub fn find(wanted: Option<&str>) -> Result<Self, ProgramError> {
        if let Some(wanted) = wanted {
            let known = KNOWN.iter().find(|it| **it == wanted);
            let path =
                known.ok_or_else(|| ProgramError::NotKnown(wanted.escape_debug().to_string()))?;
            return check(path);
        }
        let there = KNOWN.iter().find(|it| fs::symlink_metadata(it).is_ok());
        check(there.ok_or(ProgramError::None)?)
    }

    pub(crate) fn path(self) -> &'static str {
        self.0
    }
}

fn check(path: &'static str) -> Result<Program, ProgramError> {
    let unfit = |why: String| ProgramError::Unfit { path, why };
    let found = fs::metadata(path).map_err(|error: io::Error| unfit(error.to_string()))?;
    if !found.is_file() || found.permissions().mode() & EXECUTABLE == 0 {
        return Err(unfit("it is no program".to_owned()));
    }
    let mut at = files::resolved(Path::new(path)).map_err(|error| unfit(error.to_string()))?;
    // Whoever can write one of the folders above it can put another program there.
    loop {
        let found = fs::metadata(&at).map_err(|error| unfit(error.to_string()))?;
        if found.uid() != 0 || found.permissions().mode() & WRITABLE != 0 {
            return Err(unfit(format!("others than root can write `{}`", at.display())));
        }
        match at.parent().map(Path::to_path_buf) {
            Some(parent) => at = parent,
            None => return Ok(Program(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_adds_a_place() {
        for wrong in [
            "",
            "chromium",
            "/bin/sh",
            "/usr/lib/chromium/../chromium/chromium",
            "/usr/lib/chromium/chromium ",
            "/usr/lib/chromium/chromium\0",
            "/USR/lib/chromium/chromium",
        ] {
            let error = Program::find(Some(wrong)).unwrap_err();
            assert!(matches!(error, ProgramError::NotKnown(_)), "{wrong:?}: {error}");
        }
    }

    #[test]
    fn debians_is_found() {
        assert_eq!(Program::find(None).unwrap(), Program::find(Some(KNOWN[0])).unwrap());
    }
}
