//! How a server on this line is caged.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use host::tool_servers::ServerCage;
use scan::net::Domains;

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
        Domains::parse(&self.network)
            .map_err(|error| Failure::usage(format!("--network: {error}")))?;
        let cage = ServerCage { network: &self.network, readable: &self.readable, workspace: None };
        cage.command(server, env, home)
            .map_err(|why| Failure::unable(format!("{why}, or start the server with --no-cage")))
    }
}
