//! Where the state lies.

use std::path::PathBuf;

use crate::failure::Failure;

/// The option that every command with state has.
#[derive(clap::Args)]
pub(crate) struct Home {
    /// The state directory [env: LAZARET_HOME] [default: ~/.lazaret]
    // The variable is read below: one that clap reads stands in every usage, as if the option had to be given.
    #[arg(id = "home", long = "home", value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Says where the state lies, where no option does.
const VARIABLE: &str = "LAZARET_HOME";

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
        match self.dir.clone().or_else(|| std::env::var_os(VARIABLE).map(PathBuf::from)) {
            Some(dir) if dir.as_os_str().is_empty() => Err(Failure::usage(format!(
                "the state directory has no name: `--home` or {VARIABLE} is empty"
            ))),
            Some(dir) => Ok(dir),
            None => std::env::home_dir()
                .map(|it| it.join(".lazaret"))
                .ok_or_else(|| Failure::usage(format!("no home directory; set {VARIABLE}"))),
        }
    }
}
