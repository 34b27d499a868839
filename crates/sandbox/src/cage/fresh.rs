//! A directory of the host's for what a program writes, where the file tree is the host's.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::error::{CageError, Step};
use super::given::real;

/// A directory of the host's for what a program writes, that only we can enter, and gone with this.
pub struct Fresh(PathBuf);

impl Fresh {
    /// A new one.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn make() -> Result<Self, CageError> {
        let number = random().step("make a fresh directory")?;
        let name = format!("lazaret-cage-{number:016x}");
        let dir = std::env::temp_dir().join(name);
        fs::DirBuilder::new().mode(0o700).create(&dir).step("make a fresh directory")?;
        real(&dir).map(Self).ok_or_else(|| CageError::step("fresh directory", "gone"))
    }

    /// Where it is, without links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.0.clone()
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        take_away(&self.0);
    }
}

/// A number for a name that nobody can take before us.
pub(crate) fn random() -> io::Result<u64> {
    let mut random = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(u64::from_ne_bytes(random))
}

/// Removes a directory, also where what was in it has closed its own. What cannot be taken away lies in a directory that
/// only we can enter.
pub(crate) fn take_away(dir: &Path) {
    let _left = files::remove_tree(dir);
}
