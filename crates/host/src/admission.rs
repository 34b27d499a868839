//! Who is admitted: the files of the five layers, for one session.
//!
//! INVARIANT (FailClosed): a machine without users and agents in files is one person's, with or without settings. As
//! soon as one of those is there, all that the session needs must be there and be understood, or there is no session. A
//! program of the person's own (a coding agent, a client of MCP servers) is none of the host's agents and needs no manifest.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Caller, Objection, ToolDef, UserId};
use monitor::Admission;
use policy::access::{
    Agents, FILE_BYTES_MAX, FileError, Glob, Global, KnownTools, Manifest, Origin, User, Users,
};

use crate::providers::{NotBuilt, Providers};

/// The person at this machine, as doors name them that nobody else reaches, and as the users file may.
pub(crate) const LOCAL_USER: &str = "me";
const SETTINGS: &str = "config.yaml";
const USERS: &str = "users.yaml";
pub(crate) const AGENTS: &str = "agents";
pub(crate) const MANIFEST: &str = "IDENTITY.md";

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdmissionError {
    /// One of the files, where others are there.
    #[error("`{path}` is missing; `{because}` is there, so sessions are admitted by files")]
    Missing {
        /// What is not there.
        path: String,
        /// What is.
        because: String,
    },
    /// A file that is not understood.
    #[error("`{path}`: {error}")]
    File {
        /// The file.
        path: String,
        /// What is wrong, and on which line.
        error: FileError,
    },
    /// A file that cannot be read.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// The settings choose what this version does not have.
    #[error("`{path}`: {error}")]
    Provider {
        /// The settings.
        path: String,
        /// What they choose.
        error: NotBuilt,
    },
    /// The users file does not know the user.
    #[error("there is no user `{user}` in `{path}`")]
    UnknownUser {
        /// The user.
        user: UserId,
        /// The users file.
        path: String,
    },
    /// The user may not use the agent.
    #[error("{}", .0.for_person)]
    NotOpen(Box<Objection>),
}

impl AdmissionError {
    /// Is it about who asks, and not about the files?
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::UnknownUser { .. } | Self::NotOpen(_) => true,
            Self::Missing { .. } | Self::File { .. } | Self::Io { .. } | Self::Provider { .. } => {
                false
            }
        }
    }
}

/// By which files of the state directory `home` the session of `who` is admitted. `tools` are those
/// of others that the users file may name.
///
/// # Errors
/// If a file is missing beside others, is not understood, or does not admit `who`.
pub fn admission(
    home: &Path,
    who: &Caller,
    tools: &[ToolDef],
) -> Result<Admission, AdmissionError> {
    admission_from(home, who, tools, Origin::Local)
}

/// The same for a session that comes from `origin`.
///
/// # Errors
/// As [`admission`].
pub fn admission_from(
    home: &Path,
    who: &Caller,
    tools: &[ToolDef],
    origin: Origin,
) -> Result<Admission, AdmissionError> {
    let [users, agents] = [USERS, AGENTS].map(|it| home.join(it));
    let Some(because) = first_there(&[users, agents.clone()])? else {
        return of_one_person(home, who, origin);
    };
    let manifest = agents.join(who.agent.as_str()).join(MANIFEST);
    let ByFiles { global, user } = by_files(home, who, tools, &because)?;
    let manifest = Manifest::parse(&who.agent, &text(&manifest, &because)?)
        .map_err(|it| wrong(&manifest, it))?;
    user.may_use(&manifest).map_err(|it| AdmissionError::NotOpen(Box::new(it)))?;
    Ok(layered(global, manifest, user, origin))
}

/// The same for a program of the person at this machine, at a door that only they can reach: a hook, a client of MCP servers, what
/// asks by a proxy. Beside agents that the host runs it goes on as before: it has no manifest, and the settings, the
/// person's own entry in the users file and the policy count.
///
/// A name that an agent of the host has is not had without its manifest; whoever the users file does not name has no session.
///
/// # Errors
/// As [`admission`].
pub fn admission_of_program(
    home: &Path,
    who: &Caller,
    tools: &[ToolDef],
) -> Result<Admission, AdmissionError> {
    let [users, agents] = [USERS, AGENTS].map(|it| home.join(it));
    let is_hosted = first_there(&[agents.join(who.agent.as_str())])?.is_some();
    let because = first_there(&[users, agents])?.filter(|_| !is_hosted);
    let Some(because) = because else { return admission(home, who, tools) };
    let ByFiles { global, mut user } = by_files(home, who, tools, &because)?;
    let manifest = Manifest::silent(&who.agent);
    if who.user.as_str() == LOCAL_USER {
        // The list in the users file is of agents that the host runs; this one the person starts themselves.
        user.agents = Agents::Only(vec![who.agent.clone()]);
    }
    user.may_use(&manifest).map_err(|it| AdmissionError::NotOpen(Box::new(it)))?;
    Ok(layered(global, manifest, user, Origin::Local))
}

/// What a machine that admits by files says of a user.
struct ByFiles {
    global: Global,
    user: User,
}

fn by_files(
    home: &Path,
    who: &Caller,
    tools: &[ToolDef],
    because: &Path,
) -> Result<ByFiles, AdmissionError> {
    let [settings, users] = [SETTINGS, USERS].map(|it| home.join(it));
    let global = Global::parse(&text(&settings, because)?).map_err(|it| wrong(&settings, it))?;
    let known = KnownTools::default().with(tools.iter().map(|it| it.name.as_str()));
    let all = Users::parse(&text(&users, because)?, &known).map_err(|it| wrong(&users, it))?;
    let user = all.get(who.user.as_str()).cloned().ok_or_else(|| AdmissionError::UnknownUser {
        user: who.user.clone(),
        path: shown(&users),
    })?;
    Ok(ByFiles { global, user })
}

fn layered(global: Global, manifest: Manifest, user: User, origin: Origin) -> Admission {
    Admission::Layered {
        global: Arc::new(global),
        manifest: Arc::new(manifest),
        user: Arc::new(user),
        origin,
        sub_agents: Vec::new(),
    }
}

/// One person's machine: the settings count, and nothing else is said of who may do what.
fn of_one_person(home: &Path, who: &Caller, origin: Origin) -> Result<Admission, AdmissionError> {
    let Some(global) = settings(home)? else { return Ok(Admission::OnePerson) };
    let manifest = Manifest::silent(&who.agent);
    Ok(layered(global, manifest, User::local(who.user.clone()), origin))
}

/// The settings in the state directory `home`, if there are any.
///
/// # Errors
/// If they are not understood.
pub fn settings(home: &Path) -> Result<Option<Global>, AdmissionError> {
    let path = home.join(SETTINGS);
    match first_there(std::slice::from_ref(&path))? {
        Some(_) => Global::parse(&text(&path, &path)?).map(Some).map_err(|it| wrong(&path, it)),
        None => Ok(None),
    }
}

/// What no agent reads, by the settings in the state directory `home`.
///
/// # Errors
/// If they are not understood.
pub(crate) fn unread(home: &Path) -> Result<Vec<Glob>, AdmissionError> {
    let settings = settings(home)?;
    Ok(settings.map(|it| it.security().files.deny_read.clone()).unwrap_or_default())
}

/// The users of the state directory `home`, if there is a file of them.
///
/// # Errors
/// If it is not understood.
pub fn users(home: &Path, known: &KnownTools) -> Result<Option<Users>, AdmissionError> {
    let path = home.join(USERS);
    match first_there(std::slice::from_ref(&path))? {
        Some(_) => {
            Users::parse(&text(&path, &path)?, known).map(Some).map_err(|it| wrong(&path, it))
        }
        None => Ok(None),
    }
}

/// Which providers the settings in the state directory `home` choose; without settings, what there is.
///
/// # Errors
/// If they are not understood, or choose what this version does not have.
pub fn providers(home: &Path) -> Result<Providers, AdmissionError> {
    let path = shown(&home.join(SETTINGS));
    Providers::choose(settings(home)?.as_ref())
        .map_err(|error| AdmissionError::Provider { path, error })
}

/// The first that is there, whatever it is.
fn first_there(files: &[PathBuf]) -> Result<Option<PathBuf>, AdmissionError> {
    for path in files {
        match fs::symlink_metadata(path) {
            Ok(_) => return Ok(Some(path.clone())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(io(path, error)),
        }
    }
    Ok(None)
}

pub(crate) fn text(path: &Path, because: &Path) -> Result<String, AdmissionError> {
    let file = match files::private::open_with(path, fs::OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(AdmissionError::Missing { path: shown(path), because: shown(because) });
        }
        file => file.map_err(|error| io(path, error))?,
    };
    // One byte more than is read, so that a longer file is seen to be one.
    let mut bytes = Vec::new();
    let most = u64::try_from(FILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    file.take(most).read_to_end(&mut bytes).map_err(|error| io(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let good = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        let line = good.iter().filter(|it| **it == b'\n').count() + 1;
        wrong(path, FileError { line: Some(line), what: "not UTF-8".to_owned() })
    })
}

pub(crate) fn wrong(path: &Path, error: FileError) -> AdmissionError {
    AdmissionError::File { path: shown(path), error }
}

pub(crate) fn io(path: &Path, error: io::Error) -> AdmissionError {
    AdmissionError::Io { path: shown(path), error }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
