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
        let home = match &self.dir {
            Some(dir) => dir.clone(),
            None => std::env::home_dir()
                .ok_or_else(|| Failure::usage("no home directory; set LAZARET_HOME"))?
                .join(".lazaret"),
        };
        Ok(home.join("evidence"))
    }
}
