//! What of a user lies in files: workspaces, and what agents remember of sessions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::serve::{Deleted, Personal};
use host::worker::History;
use host::workspace::Workspace;
use model::{AgentId, Caller, Kind, SessionId, UserId};

/// Files of the state directory.
pub(super) struct Files {
    home: PathBuf,
}

/// Files of one workspace that are counted and looked at.
const FILES_MAX: usize = 1_000_000;

impl Files {
    pub(super) fn new(home: &Path) -> Self {
        Self { home: home.to_owned() }
    }

    fn caller(&self, user: &str, agent: &str, session: &str) -> Result<Caller, String> {
        let text = |it: &dyn std::fmt::Display| it.to_string();
        Ok(Caller {
            user: UserId::parse(user).map_err(|it| text(&it))?,
            agent: AgentId::parse(agent).map_err(|it| text(&it))?,
            session: SessionId::parse(session).map_err(|it| text(&it))?,
            door: Kind::of_static("serve"),
        })
    }

    /// The workspaces of a user that are there.
    fn workspaces(&self, user: &str) -> Result<Vec<PathBuf>, String> {
        let mut found = Vec::new();
        for agent in host::agents(&self.home).map_err(|it| it.to_string())? {
            let who = self.caller(user, agent.as_str(), "none")?;
            let path = Workspace::own(&self.home, &who).map_err(|it| it.to_string())?;
            // A link that somebody put there is not followed.
            if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                found.push(path);
            }
        }
        Ok(found)
    }
}

impl Personal for Files {
    fn forget(&self, user: &str, agent: &str, session: &str) -> Result<(), String> {
        let who = self.caller(user, agent, session)?;
        let history = History::of(&self.home, &who).map_err(|it| it.to_string())?;
        history.forget().map(drop).map_err(|it| it.to_string())
    }

    fn delete(&self, user: &str) -> Result<Deleted, String> {
        let mut deleted = Deleted::default();
        for path in self.workspaces(user)? {
            deleted.workspace_files += files_in(&path).map_err(|it| it.to_string())?.0;
            fs::remove_dir_all(&path).map_err(|it| it.to_string())?;
        }
        Ok(deleted)
    }

    fn retain(&self, seconds: u64) -> Result<usize, String> {
        let users = host::users(&self.home, &policy::access::KnownTools::default());
        let Some(users) = users.map_err(|it| it.to_string())? else { return Ok(0) };
        let mut gone = 0;
        for user in users.iter() {
            for path in self.workspaces(user.name.as_str())? {
                let (_, quiet) = files_in(&path).map_err(|it| it.to_string())?;
                if quiet > Duration::from_secs(seconds) {
                    fs::remove_dir_all(&path).map_err(|it| it.to_string())?;
                    gone += 1;
                }
            }
        }
        Ok(gone)
    }
}

/// How many files are beneath a folder, and how long nothing was changed there.
fn files_in(folder: &Path) -> io::Result<(usize, Duration)> {
    let age = |at: &fs::Metadata| {
        at.modified().ok().and_then(|it| it.elapsed().ok()).unwrap_or(Duration::ZERO)
    };
    let mut quiet = age(&fs::symlink_metadata(folder)?);
    let (mut count, mut waiting) = (0, vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            quiet = quiet.min(age(&about));
            count += 1;
            if count > FILES_MAX {
                return Err(io::Error::other(format!("there are more than {FILES_MAX} files")));
            }
            if about.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok((count, quiet))
}
