//! What of a plugin is run: a copy that was checked while it was made, for one call.
//!
//! INVARIANT (KnownByDigest): the bytes that are compared with what a person added are the bytes that are written, and these
//! are run. Whatever becomes of the plugin's folder after that is not.

use std::io;
use std::path::{Path, PathBuf};

use files::{Relative, private};

use super::Offered;
use super::copy::{self, Lasts, remove};
use super::error::PluginError;
use super::inventory::Inventory;
use super::manifest::Manifest;
use super::registry::{Plugins, list_error};

/// Where copies lie, in the state directory.
const RUNS: &str = "plugin-runs";
/// Bytes of a copy's name that nobody guesses.
const NAME_BYTES: usize = 16;

/// A copy of a plugin that is what was added. It goes with this.
pub struct RunCopy {
    folder: PathBuf,
    main: PathBuf,
}

impl RunCopy {
    /// Its folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where it begins.
    #[must_use]
    pub fn main(&self) -> &Path {
        &self.main
    }
}

impl Drop for RunCopy {
    fn drop(&mut self) {
        // What stays is swept when the next host begins.
        let _ = remove(&self.folder);
    }
}

/// Removes copies that a process left which is gone. Call it when nothing runs.
///
/// # Errors
/// What the system says.
pub fn sweep(home: &Path) -> io::Result<()> {
    remove(&home.join(RUNS))
}

impl Plugins {
    /// Copies a plugin in order to run it, and compares the copy with what was added.
    ///
    /// # Errors
    /// If it is not there any more, is another one than was offered, is not what a person added, or cannot be copied.
    pub fn run_copy(&self, offered: &Offered) -> Result<RunCopy, PluginError> {
        let name = &offered.manifest.name;
        let entry = self.read()?.remove(name);
        let entry = entry.ok_or_else(|| PluginError::NotThere(name.clone()))?;
        if entry.digest != offered.digest {
            let why = "another one was added since this session began";
            return Err(PluginError::Unsound(why.to_owned()));
        }
        let runs = self.home().join(RUNS);
        let mut random = [0; NAME_BYTES];
        getrandom::fill(&mut random).map_err(|error| list_error(&runs, error))?;
        let random = format!("{:032x}", u128::from_be_bytes(random));
        let folder = files::safe_path(&runs, &[random]).map_err(|it| list_error(&runs, it))?;
        private::create_dir(&runs).map_err(|error| list_error(&runs, error))?;
        let main = Relative::parse(&offered.manifest.main);
        let main = main.map_err(|it| PluginError::Unsound(it.to_string()))?.under(&folder);
        let copy = RunCopy { folder, main };
        let from = self.folder(name);
        let copied = copy::fill(&from, copy.folder(), &entry.inventory, Lasts::No)?;
        match copied.unsound(&entry.inventory) {
            Some(why) => Err(PluginError::Unsound(why)),
            None => Ok(copy),
        }
    }

    /// A plugin with tools can be started, and shares its name with nobody.
    pub(super) fn may_run(
        &self,
        manifest: &Manifest,
        inventory: &Inventory,
    ) -> Result<(), PluginError> {
        if manifest.tools.is_empty() {
            return Ok(());
        }
        if !inventory.entries.get(&manifest.main).is_some_and(|(runs, _)| *runs) {
            return Err(PluginError::NotExecutable(manifest.main.clone()));
        }
        let offered = self.check().offered;
        let shares = |it: &&Offered| {
            !it.manifest.tools.is_empty() && it.manifest.provides == manifest.provides
        };
        match offered.iter().find(shares) {
            Some(other) => Err(PluginError::Taken {
                name: manifest.provides.clone(),
                by: other.manifest.name.clone(),
            }),
            None => Ok(()),
        }
    }
}
