//! What of a user lies beside the books of the server: memory, jobs, proposed skills, workspaces, and what agents remember of
//! sessions.

use std::fs;
use std::io;
use std::path::Path;
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
}

impl Files {
    pub(super) fn new(gate: &Arc<Gate>, home: &Path) -> Self {
        Self { belongings: Belongings::new(gate, home) }
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
        let forgotten = self.belongings.forget_quiet(sessions).map_err(told);
        let (mut gone, mut failed) = (0, None);
        let mut count = |done: Result<usize, String>| match done {
            Ok(it) => gone += it,
            Err(error) => failed = failed.take().or(Some(error)),
        };
        count(forgotten);
        for path in self.belongings.all_workspaces().map_err(told)? {
            // What one user has left there keeps nobody else's from going.
            let removed = is_quiet(&path, workspaces).and_then(|it| match it {
                true => take_away(&path).and_then(Gone::whole).map(|_| 1),
                false => Ok(0),
            });
            count(removed.map_err(|error| format!("`{}`: {error}", path.display())));
        }
        failed.map_or(Ok(gone), Err)
    }

    fn wipe(&self) -> Result<bool, String> {
        self.belongings.wipe().map_err(told)
    }
}

/// Was nothing changed beneath a folder for so long? What is closed to us is not looked into. However much there is: to take
/// it away goes through all of it as well.
fn is_quiet(folder: &Path, longer_than: Duration) -> io::Result<bool> {
    let is_old = |at: &fs::Metadata| {
        let age = at.modified().ok().and_then(|it| it.elapsed().ok());
        age.is_some_and(|it| it > longer_than)
    };
    if !is_old(&fs::symlink_metadata(folder)?) {
        return Ok(false);
    }
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            let Ok(about) = entry.metadata() else { continue };
            if !is_old(&about) {
                return Ok(false);
            }
            if about.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use evidence::Durability;
    use monitor::provenance::Catalogue;
    use policy::Policy;

    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of the test's own")]
    fn what_is_quiet_goes_also_where_no_file_lists_users() {
        let home = tempfile::tempdir().unwrap();
        let (unsynced, policy) = (Durability::DangerouslyUnsynced, Policy::embedded().unwrap());
        let gate = Gate::open(home.path(), unsynced, policy, Catalogue::default()).unwrap();
        let files = Files::new(&Arc::new(gate), home.path());
        let own = home.path().join("workspaces-data/main");
        for it in [own.join("carol"), own.join("dan")] {
            fs::create_dir_all(&it).unwrap();
            fs::write(it.join("letter"), "dear").unwrap();
        }
        for quiet in [own.join("carol/letter"), own.join("carol"), own.join("dan")] {
            let it = fs::File::open(quiet).unwrap();
            it.set_modified(SystemTime::now() - 10 * DAY).unwrap();
        }
        assert_eq!(files.retain(20 * DAY, DAY).unwrap(), 0);
        assert_eq!(files.retain(5 * DAY, DAY).unwrap(), 1);
        assert!(!own.join("carol").exists() && own.join("dan/letter").exists());
    }
}
