//! What of a user lies beside the books of the server: memory, jobs, proposed skills, workspaces, and what agents remember of
//! sessions.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::serve::{Deleted, Personal, Put};
use evidence::Receipt;
use host::workspace::{Gone, take_away};
use host::{Belongings, GateError};
use model::{AgentId, Caller, Kind, SessionId, UserId};

use crate::gate::setup::Gate;

/// Files of the state directory, and memory behind the gate.
pub(super) struct Files {
    belongings: Belongings,
    home: PathBuf,
}

/// Files of one workspace that are counted and looked at.
const FILES_MAX: usize = 1_000_000;

impl Files {
    pub(super) fn new(gate: &Arc<Gate>, home: &Path) -> Self {
        Self { belongings: Belongings::new(gate, home), home: home.to_owned() }
    }
}

fn caller(user: &str, agent: &str, session: &str) -> Result<Caller, String> {
    let text = |it: &dyn std::fmt::Display| it.to_string();
    Ok(Caller {
        user: UserId::parse(user).map_err(|it| text(&it))?,
        agent: AgentId::parse(agent).map_err(|it| text(&it))?,
        session: SessionId::parse(session).map_err(|it| text(&it))?,
        door: Kind::of_static("serve"),
    })
}

fn named(user: &str) -> Result<UserId, String> {
    UserId::parse(user).map_err(|it| it.to_string())
}

fn told(error: GateError) -> String {
    error.to_string()
}

impl Personal for Files {
    fn forget(&self, user: &str, agent: &str, session: &str) -> Result<(), String> {
        self.belongings.forget_session(&caller(user, agent, session)?).map_err(told)
    }

    fn export(&self, user: &str, receipt: &Receipt, put: &mut Put<'_>) -> Result<(), String> {
        self.belongings.export(&named(user)?, receipt, put).map_err(told)
    }

    fn delete(&self, user: &str, receipt: &Receipt) -> Result<Deleted, String> {
        let gone = self.belongings.delete(&named(user)?, receipt).map_err(told)?;
        let count = |it: u64| usize::try_from(it).unwrap_or(usize::MAX);
        Ok(Deleted {
            memory_files: count(gone.memory),
            workspace_files: count(gone.workspace_entries),
            jobs: gone.jobs,
            proposals: gone.proposals,
        })
    }

    fn retain(&self, workspaces: Duration, sessions: Duration) -> Result<usize, String> {
        let users = host::users(&self.home, &policy::access::KnownTools::default());
        let Some(users) = users.map_err(|it| it.to_string())? else { return Ok(0) };
        let (mut gone, mut failed) = (0, None);
        for user in users.iter() {
            match self.belongings.forget_quiet(&user.name, sessions) {
                Ok(it) => gone += it,
                Err(error) => failed = failed.or(Some(told(error))),
            }
            for (_, path) in self.belongings.workspaces(&user.name).map_err(told)? {
                // What one user has left there keeps nobody else's from going.
                let removed = quiet(&path).and_then(|it| match it > workspaces {
                    true => take_away(&path).and_then(Gone::whole).map(|_| 1),
                    false => Ok(0),
                });
                match removed {
                    Ok(it) => gone += it,
                    Err(error) => {
                        failed = failed.or(Some(format!("`{}`: {error}", path.display())));
                    }
                }
            }
        }
        failed.map_or(Ok(gone), Err)
    }
}

/// How long nothing was changed beneath a folder. What is closed to us is not looked into.
fn quiet(folder: &Path) -> io::Result<Duration> {
    let age = |at: &fs::Metadata| {
        at.modified().ok().and_then(|it| it.elapsed().ok()).unwrap_or(Duration::ZERO)
    };
    let mut quiet = age(&fs::symlink_metadata(folder)?);
    let (mut count, mut waiting) = (0, vec![folder.to_owned()]);
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let Ok(about) = entry.metadata() else { continue };
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
    Ok(quiet)
}
