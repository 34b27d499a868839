//! A server in a cage: what makes one is this very program, as `lazaret exec`.
//!
//! A server sees one directory, and no network. What npm or uv have fetched before is run from where they keep it,
//! read-only: nothing is fetched at a start, and what runs is what ran last time.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::fetched::Fetched;

/// What a server is given beside the system's programs.
#[derive(Clone, Copy, Debug)]
pub struct ServerCage<'a> {
    /// Hosts that it may reach.
    pub network: &'a [String],
    /// What it may read.
    pub readable: &'a [PathBuf],
    /// The directory that it starts in and may change; that of whoever starts it, if none is named.
    pub workspace: Option<&'a Path>,
}

impl ServerCage<'_> {
    /// The command that runs `server` in such a cage, with these variables of ours. Runs are recorded beside the state
    /// directory `home`.
    ///
    /// # Errors
    /// If the server was not fetched yet, or the system does not say what runs here.
    pub fn command(
        &self,
        server: &[OsString],
        env: &[&str],
        home: &Path,
    ) -> Result<(OsString, Vec<OsString>), String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut words: Vec<OsString> = vec!["exec".into(), "--home".into(), home.into()];
        words.extend(["--preset", "none"].map(OsString::from));
        if let Some(workspace) = self.workspace {
            words.extend(["--workspace".into(), workspace.into()]);
            words.extend(["--dir".into(), workspace.into()]);
        }
        if !self.network.is_empty() {
            words.push("--network".into());
            words.extend(self.network.iter().flat_map(|it| ["--allow".into(), it.into()]));
        }
        words.extend(env.iter().flat_map(|it| ["--env".into(), it.into()]));
        let (server, mut readable) = match Fetched::read(server) {
            Some(fetched) if self.network.is_empty() => fetched.kept()?,
            Some(_) | None => (server.to_vec(), Vec::new()),
        };
        readable.extend(self.readable.iter().cloned());
        readable.extend(of_home(server.first().map(OsString::as_os_str).unwrap_or_default()));
        words.extend(readable.into_iter().flat_map(|it| ["--read".into(), it.into()]));
        words.push("--".into());
        words.extend(server);
        Ok((program.into_os_string(), words))
    }
}

/// What a program of the user's home needs to be seen at all: the folder that it is installed in.
pub(super) fn of_home(program: &OsStr) -> Option<PathBuf> {
    let user_home = files::resolved(&std::env::home_dir()?).ok()?;
    let path = std::env::var_os("PATH")?;
    let found = match Path::new(program) {
        it if it.components().count() > 1 => it.to_owned(),
        name => std::env::split_paths(&path)
            .filter_map(|it| files::safe_path(&it, &[name.to_str()?]).ok())
            .find(|it| it.is_file())?,
    };
    let found = files::resolved(&found).ok()?;
    let folder = found.parent()?;
    // `…/v20/bin/node` needs what lies beside `bin`; `~/.local/bin` is no such folder of its own.
    let above = folder.parent().filter(|_| folder.ends_with("bin"))?;
    let is_own = above.starts_with(&user_home)
        && above.components().count() > user_home.components().count() + 1;
    is_own.then(|| above.to_owned())
}
