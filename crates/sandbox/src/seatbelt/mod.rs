//! Profiles for macOS' Seatbelt, as text.
//!
//! Of several rules that match, Seatbelt takes the last one, so that the order is the meaning:
//!
//! 1. nothing is allowed; then what a program needs to start at all,
//! 2. every file may be read, which the loader of libraries needs,
//! 3. but no place of secrets, each by the path that leads there and by the path that it really has,
//! 4. but what the operator lets read by name (`allow_read`),
//! 5. what may be written (`workspace`, `allow_write`); a place of secrets in it stays closed unless it is named itself,
//! 6. network,
//! 7. and at the end what stays as it is whatever was said before: our own state, but for an agent's workspace in it;
//!    secret files of a workspace; git's hooks, and files that shells run.
//!
//! What is read from the disk is read by [`Policy::look`]; [`Policy::profile`] is a pure function of it.
//!
//! A cage is one such profile ([`Plan`]), behind which macOS' `sandbox-exec` puts a command ([`SandboxExec`]). All of that
//! is built and tested on Linux, too, where another program stands in for `sandbox-exec`.

mod launch;
mod plan;
mod policy;
mod profile;
mod quote;
mod running;
mod start;
mod sys;

use std::num::NonZeroU16;
use std::path::PathBuf;

pub use launch::{command_line, write};
pub use plan::Plan;
pub use policy::{Policy, PolicyError};
pub use running::Running;
pub use start::{SandboxExec, Waiting};

/// The kinds of profile (seed 002).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Nothing is written.
    ReadOnly,
    /// The workspace is written.
    #[default]
    Workspace,
    /// The same, and the network is open.
    NetworkAllowAll,
    /// No profile: the command runs as it is.
    Off,
}

impl Kind {
    /// Reads a kind as settings write it.
    ///
    /// # Errors
    /// If there is no such kind.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        match text {
            "read-only" => Ok(Self::ReadOnly),
            "workspace" => Ok(Self::Workspace),
            "network-allow-all" | "network" => Ok(Self::NetworkAllowAll),
            "off" => Ok(Self::Off),
            other => Err(PolicyError::Kind(other.to_owned())),
        }
    }
}

/// Which way leads out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// None.
    #[default]
    None,
    /// Our proxy on this port of this machine, which judges every byte; names are looked up there as well.
    Proxy(NonZeroU16),
    /// Every way.
    All,
}

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Which kind of profile.
    pub kind: Kind,
    /// The home whose secrets are closed. Without one there is no profile.
    pub home: Option<PathBuf>,
    /// Our own state directory, where it lies elsewhere than in the home.
    pub state: Option<PathBuf>,
    /// Where the command works.
    pub workspace: Option<PathBuf>,
    /// What may be read although it is a secret.
    pub allow_read: Vec<PathBuf>,
    /// What may be written besides the workspace.
    pub allow_write: Vec<PathBuf>,
    /// The one of what may be written that lies in our own state: an agent's workspace.
    pub own: Option<PathBuf>,
    /// What is closed besides the secrets of the home, and cannot be opened by any of the above.
    pub covered: Vec<PathBuf>,
    /// What stays as it is besides the places that every workspace has.
    pub kept: Vec<PathBuf>,
    /// Which way leads out.
    pub network: Network,
    /// Names that must not be reached. Seatbelt knows no names, so that they need the proxy.
    pub denied_domains: Vec<String>,
}
