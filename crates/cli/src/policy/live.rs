//! The policy that is in force: the program's own rules, and what the state directory says.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::folder::{self, Flaw, Loaded, Reading};
use crate::failure::Failure;
use crate::home::Home;

/// The folder of the state directory with rules of one's own.
pub(crate) const RULES: &str = "policy";
const SETTINGS: &str = "config.yaml";
const USERS: &str = "users.yaml";
const AGENTS: &str = "agents";

/// Where a policy was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The program brings it along, and nothing else was looked at.
    Program,
    /// A folder that was named.
    Folder(PathBuf),
    /// The state directory, and what there speaks of policy.
    State { dir: PathBuf, found: Vec<&'static str> },
}

/// Reads the folder that is named, or else what the state directory says.
pub(crate) fn load(
    home: &Home,
    named: Option<&Path>,
) -> Result<Result<Loaded, Vec<Flaw>>, Failure> {
    match named {
        Some(dir) => Ok(folder::load(Some(dir))),
        None => Ok(of(&home.dir()?)),
    }
}

/// What a gate on `home` decides by.
fn of(home: &Path) -> Result<Loaded, Vec<Flaw>> {
    let mut reading = Reading::embedded();
    let found: Vec<&'static str> = [RULES, SETTINGS, USERS, AGENTS]
        .into_iter()
        .filter(|it| home.join(it).symlink_metadata().is_ok())
        .collect();
    if found.contains(&RULES) {
        let dir = home.join(RULES);
        reading.folder(&dir);
        // The gate takes only rules from there.
        let layers = [
            (reading.global.take().is_some(), SETTINGS),
            (reading.users.take().is_some(), USERS),
            (reading.manifests.take().is_some(), AGENTS),
        ];
        for (_, name) in layers.iter().filter(|it| it.0) {
            reading.flaw(&dir.join(name), "stands beside this folder, not in it; move it up");
        }
    }
    // As the gate admits: users and agents come together, and with settings.
    let by_files = found.contains(&USERS) || found.contains(&AGENTS);
    for name in [SETTINGS, USERS, AGENTS] {
        let path = home.join(name);
        match name {
            _ if !found.contains(&name) && by_files => {
                reading.flaw(&path, "is missing: users, agents and settings come together");
            }
            _ if !found.contains(&name) => {}
            SETTINGS => reading.settings(&path),
            USERS => reading.users(&path),
            _ => reading.agents(&path),
        }
    }
    reading.done(Source::State { dir: home.to_owned(), found })
}

impl Source {
    /// For programs.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Program => json!({ "kind": "program" }),
            Self::Folder(dir) => json!({ "kind": "folder", "dir": dir.to_string_lossy() }),
            Self::State { dir, found } => {
                json!({ "kind": "state", "dir": dir.to_string_lossy(), "found": found })
            }
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program => f.write_str("by the program's own rules alone"),
            Self::Folder(dir) => write!(f, "by the program's rules and `{}`", dir.display()),
            Self::State { dir, found } if found.is_empty() => write!(
                f,
                "by the program's own rules: the state directory `{}` says nothing of policy",
                dir.display()
            ),
            Self::State { dir, found } => {
                let found = found.join(", ");
                write!(f, "by the program's rules and {found} of `{}`", dir.display())
            }
        }
    }
}
