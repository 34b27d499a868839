//! A server in a cage: what makes one is this very program, as `lazaret exec`.
//!
//! A server sees the directory that its client started it in, and no network. What npm or uv have fetched before is run from
//! where they keep it, read-only: nothing is fetched at a start, and what runs is what ran last time.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::fetched::Fetched;
use crate::failure::Failure;

/// How a server is caged.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CageArgs {
    /// Run the server without a cage: with all that you may touch.
    #[arg(long, conflicts_with_all = ["network", "readable"])]
    pub(super) no_cage: bool,
    /// A host that the server may reach from its cage (`api.example.com` or `*.example.com`).
    #[arg(long, value_name = "HOST")]
    pub(super) network: Vec<String>,
    /// Something more that the server may read.
    #[arg(long = "read", value_name = "PATH")]
    pub(super) readable: Vec<PathBuf>,
}

impl CageArgs {
    /// The command that runs `server` in a cage, with these variables of ours.
    pub(super) fn command(
        &self,
        server: &[OsString],
        env: &[&str],
        home: &Path,
    ) -> Result<(OsString, Vec<OsString>), Failure> {
        let program = std::env::current_exe().map_err(Failure::unable)?;
        let mut words: Vec<OsString> = vec!["exec".into(), "--home".into(), home.into()];
        words.extend(["--preset", "none"].map(OsString::from));
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
