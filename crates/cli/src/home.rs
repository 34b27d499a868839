//! Where the state lies.

use std::path::PathBuf;

use crate::run::Failure;

/// The option that every command with state has.
#[derive(clap::Args)]
pub(crate) struct Home {
    /// The state directory [default: ~/.lazaret]
    #[arg(long = "home", value_name = "DIR", env = "LAZARET_HOME", hide_env_values = true)]
    dir: Option<PathBuf>,
}

impl Home {
    /// The directory of the journal.
    pub(crate) fn journal(&self) -> Result<PathBuf, Failure> {
        Ok(self.dir()?.join("evidence"))
    }

    /// The store's file.
    pub(crate) fn store(&self) -> Result<PathBuf, Failure> {
        Ok(self.dir()?.join("store.sqlite"))
    }

    /// The state directory.
    pub(crate) fn dir(&self) -> Result<PathBuf, Failure> {
        match &self.dir {
            Some(dir) => Ok(dir.clone()),
            None => std::env::home_dir()
                .map(|it| it.join(".lazaret"))
                .ok_or_else(|| Failure::usage("no home directory; set LAZARET_HOME")),
        }
    }
}
