//! What a cage is asked to be.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::CageError;
use super::ladder::Rung;

/// What is inside, what it may change and how far it may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cage {
    /// Directories that may be changed. Absolute, without links.
    pub workspaces: Vec<PathBuf>,
    /// More that may be read, beside the system's programs.
    pub readable: Vec<PathBuf>,
    /// Secret files of a workspace that a person has shown to the command.
    pub shown: Vec<PathBuf>,
    /// Places of a workspace that are kept otherwise, and that a person lets the command change.
    pub changed: Vec<PathBuf>,
    /// Files of an agent's own that lie in the home and that a person gives to its program.
    pub belongings: Vec<Belonging>,
    /// Sockets of ours that whoever is inside may connect to.
    pub lines: Vec<Line>,
    /// The home whose secrets stay outside.
    pub home: Option<PathBuf>,
    /// Our own state, which nobody inside sees.
    pub state: Option<PathBuf>,
    /// The one of what is given that lies in our state: an agent's own workspace, or a skill.
    pub own: Option<PathBuf>,
    /// The way to the network.
    pub network: Network,
    /// How much of the machine it may take.
    pub limits: Limits,
    /// Rungs without which nothing runs.
    pub needed: Vec<Rung>,
    /// Rungs that are left out, for those who test the others.
    pub without: Vec<Rung>,
    /// Who makes the namespaces.
    pub maker: Maker,
}

impl Default for Cage {
    /// With nothing in it, and without what is always required nothing runs.
    fn default() -> Self {
        Self {
            workspaces: Vec::new(),
            readable: Vec::new(),
            shown: Vec::new(),
            changed: Vec::new(),
            belongings: Vec::new(),
            lines: Vec::new(),
            home: None,
            state: None,
            own: None,
            network: Network::default(),
            limits: Limits::default(),
            needed: Rung::ALWAYS.to_vec(),
            without: Vec::new(),
            maker: Maker::default(),
        }
    }
}

impl Cage {
    /// Rungs without which nothing runs: whoever bounds processor time has only one that can.
    pub(crate) fn needed(&self) -> Vec<Rung> {
        let mut needed = self.needed.clone();
        needed.extend(self.limits.cpu_percent.map(|_| Rung::Cgroup));
        needed
    }
}

/// Something of an agent's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Belonging {
    /// Where it is, outside and inside.
    pub at: PathBuf,
    /// What may be done with it.
    pub access: Access,
}

/// A socket of ours, and where it is found inside: alone in a directory that is closed to others and cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The socket, outside.
    pub from: PathBuf,
    /// Its name inside.
    pub at: PathBuf,
}

/// What may be done with something of an agent's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// It is read.
    Read,
    /// It is read and changed. Nobody inside can put another file in its place.
    Write,
    /// The file that is seen is a copy: what becomes of it is forgotten.
    Copy,
}

impl Access {
    /// As people read it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
        }
    }
}

/// Who makes the namespaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Maker {
    /// We do; where the system lets only bubblewrap, it does.
    #[default]
    Either,
    /// We do, or nobody.
    Own,
    /// Bubblewrap does, or nobody.
    Bubblewrap,
}

/// The way to the network.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Network {
    /// There is none.
    #[default]
    None,
    /// A proxy of ours, and nothing else: the credentials by which it knows the command, as they stand in a URL.
    Proxy(String),
}

impl fmt::Debug for Network {
    /// Without the credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Proxy(_) => "Proxy",
        })
    }
}

/// The port inside at which our proxy listens.
pub const PROXY_PORT: u16 = 3128;

/// How much of the machine the command and everything that it starts may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Until everything is ended; none for as long as it likes.
    pub wall_time: Option<Duration>,
    /// Processes and threads, all together.
    pub processes: u32,
    /// Bytes of memory: all together where there are cgroups, of each process otherwise.
    pub memory_bytes: u64,
    /// Bytes of one file that it writes.
    pub file_bytes: u64,
    /// Bytes of each of the fresh directories (`/tmp`, the home).
    pub fresh_bytes: u64,
    /// Open files of one process.
    pub open_files: u64,
    /// Processors at a time, in hundredths; none for all.
    pub cpu_percent: Option<u32>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall_time: None,
            processes: 1024,
            memory_bytes: 4 << 30,
            file_bytes: 4 << 30,
            fresh_bytes: 1 << 30,
            open_files: 4096,
            cpu_percent: None,
        }
    }
}

/// What is run in a cage.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inmate {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// Where it starts.
    pub directory: PathBuf,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// A terminal of its own.
    pub terminal: bool,
}

impl Inmate {
    /// The program, if there is one to run.
    pub(crate) fn program(&self) -> Result<&OsStr, CageError> {
        let program = self.words.first().filter(|it| !it.is_empty());
        let none = || CageError::Settings("there is no program to run".to_owned());
        program.map(OsString::as_os_str).ok_or_else(none)
    }
}
