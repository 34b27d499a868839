//! What is kept of a user beside the books of a server: memory with its tasks and notes, jobs, proposed skills, workspaces,
//! and what was said in sessions. To be taken along, and to be deleted.
//!
//! INVARIANT (RecordThenAct): both want the receipt of their record. Evidence stays; so do labels, which hold digests and
//! no words.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use evidence::Receipt;
use files::{Dir, Kind as FileKind, Relative};
use model::{Caller, Kind, UserId};
use serde_json::{Value, json};
use store::{Memory, MemoryRow, Oversight as _, SessionRow};

use crate::gate::{Gate, GateError};
use crate::scheduler;
use crate::skills::Repository;
use crate::worker::History;
use crate::workspace::{OWN, take_away};

/// Bytes of one file of a workspace that is taken along.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Folders of one workspace that are gone through.
const FOLDERS_MAX: usize = 100_000;

/// Finds what belongs to a user.
pub struct Belongings {
    gate: Arc<Gate>,
    home: PathBuf,
}

/// How much was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gone {
    /// Rows of memory, with tasks and notes.
    pub memory: u64,
    /// Jobs.
    pub jobs: usize,
    /// Proposed skills that are not active.
    pub proposals: usize,
    /// Files and folders of workspaces.
    pub workspace_entries: u64,
}

/// Takes a file, or says why it takes no more.
pub type Put<'a> = dyn FnMut(&str, &[u8]) -> Result<(), String> + 'a;

impl Belongings {
    /// Those that are kept in the state directory `home`, behind `gate`.
    #[must_use]
    pub fn new(gate: &Arc<Gate>, home: &Path) -> Self {
        Self { gate: Arc::clone(gate), home: home.to_owned() }
    }

    /// Forgets what was said and noted in one session.
    ///
    /// # Errors
    /// If something of it could not be removed.
    pub fn forget_session(&self, who: &Caller) -> Result<(), GateError> {
        let history = History::of(&self.home, who).map_err(GateError::unable)?;
        forget(who, history, &self.memories()?)
    }

    /// Hands everything of a user to `put`, as files.
    ///
    /// # Errors
    /// If something cannot be read, or `put` takes no more.
    pub fn export(
        &self,
        user: &UserId,
        receipt: &Receipt,
        put: &mut Put<'_>,
    ) -> Result<(), GateError> {
        for (place, memory) in self.memories()? {
            let mut after = 0;
            for page in 1.. {
                let rows = memory.rows_of(user, after, receipt).map_err(GateError::unable)?;
                let Some((last, _)) = rows.last() else { break };
                after = *last;
                let lines: Vec<String> = rows.iter().map(|(_, it)| row(it).to_string()).collect();
                let name = format!("memory/{place}-{page}.jsonl");
                put(&name, lines.join("\n").as_bytes()).map_err(GateError::unable)?;
            }
        }
        let jobs = scheduler::jobs_of(&self.home, user).map_err(GateError::unable)?;
        put("jobs.json", Value::from(jobs).to_string().as_bytes()).map_err(GateError::unable)?;
        let proposals = self.skills().proposals_of(user).map_err(GateError::unable)?;
        let proposals: Vec<Value> = proposals
            .iter()
            .map(|(state, it)| {
                json!({
                    "state": state.as_str(),
                    "skill": it.skill.to_string(),
                    "content": it.content,
                    "reason": it.reason,
                    "agent": it.agent,
                    "created": it.created,
                })
            })
            .collect();
        let proposals = Value::from(proposals).to_string();
        put("proposals.json", proposals.as_bytes()).map_err(GateError::unable)?;
        for conversation in self.conversations(Some(user))? {
            let (who, history) = conversation?;
            if let Some(lines) = history.lines().map_err(GateError::unable)? {
                let name = format!("conversations/{}/{}.jsonl", who.agent, who.session);
                put(&name.replace(':', "+"), &lines).map_err(GateError::unable)?;
            }
        }
        self.export_workspaces(user, put)
    }

    /// What agents remember of the sessions of a user, or of everybody, however they were begun: at a server, by a job, by a
    /// command.
    fn conversations(&self, of: Option<&UserId>) -> Result<Vec<Conversation>, GateError> {
        let rows = self.gate.store.sessions(u32::MAX).map_err(GateError::unable)?;
        let its = rows.into_iter().filter(|it| of.is_none_or(|user| it.user == *user));
        let conversation = |it: SessionRow| {
            let door = Kind::of_static("serve");
            let who = Caller { user: it.user, agent: it.agent, session: it.id, door };
            let history = History::of(&self.home, &who).map_err(GateError::unable)?;
            Ok((who, history))
        };
        Ok(its.map(conversation).collect())
    }

    /// Forgets what was said and noted in sessions in which nothing was said for so long, whosever they are, also those of
    /// users who stand in no file. Gives how many.
    ///
    /// # Errors
    /// If something could not be removed. It goes as far as it can first.
    pub fn forget_quiet(&self, longer_than: Duration) -> Result<usize, GateError> {
        let memories = self.memories()?;
        let (mut gone, mut failed) = (0, None);
        for conversation in self.conversations(None)? {
            let forgotten = conversation.and_then(|(who, history)| {
                let quiet = history.quiet_for().map_err(GateError::unable)?;
                let is_quiet = quiet.is_some_and(|it| it > longer_than);
                if is_quiet { forget(&who, history, &memories).map(|()| 1) } else { Ok(0) }
            });
            match forgotten {
                Ok(count) => gone += count,
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(gone), Err)
    }

    /// Takes what was forgotten out of what memory keeps beside its rows. Is all of it gone? Not while somebody reads.
    ///
    /// # Errors
    /// If something could not be taken out.
    pub fn wipe(&self) -> Result<bool, GateError> {
        let mut is_whole = true;
        for (_, memory) in self.memories()? {
            is_whole &= memory.wipe().map_err(GateError::unable)?;
        }
        Ok(is_whole)
    }

    /// Deletes everything of a user. Skills that a person made active stay: they are the operator's.
    ///
    /// # Errors
    /// If something of it is still there. It goes as far as it can first, and may be asked for again.
    pub fn delete(&self, user: &UserId, receipt: &Receipt) -> Result<Gone, GateError> {
        let mut gone = Gone::default();
        for (_, memory) in self.memories()? {
            gone.memory += memory.forget_user(user, receipt).map_err(GateError::unable)?;
        }
        gone.jobs = scheduler::forget(&self.home, user, receipt).map_err(GateError::unable)?;
        gone.proposals = self.skills().forget(user, receipt).map_err(GateError::unable)?;
        for conversation in self.conversations(Some(user))? {
            conversation?.1.forget().map_err(GateError::unable)?;
        }
        let mut stays = None;
        for (_, path) in self.workspaces(user)? {
            match take_away(&path).and_then(crate::workspace::Gone::whole) {
                Ok(entries) => gone.workspace_entries += entries,
                Err(error) => stays = stays.or(Some(error)),
            }
        }
        stays.map_or(Ok(gone), |error| Err(GateError::unable(error)))
    }

    /// The workspaces of a user that are there, with the agents' folders in which they lie. A link that somebody put there
    /// is none.
    ///
    /// # Errors
    /// If they cannot be looked for.
    pub fn workspaces(&self, user: &UserId) -> Result<Vec<(String, PathBuf)>, GateError> {
        let name = user.as_str().replace(':', "+");
        let name = files::segment(&name).map_err(GateError::unable)?;
        let mut found = Vec::new();
        for (agent, folder) in folders(&self.home.join(OWN))? {
            let path = files::safe_path(&folder, &[name]).map_err(GateError::unable)?;
            if path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                found.push((agent, path));
            }
        }
        Ok(found)
    }

    /// The workspaces of everybody, also of users who stand in no file.
    ///
    /// # Errors
    /// If they cannot be looked for.
    pub fn all_workspaces(&self) -> Result<Vec<PathBuf>, GateError> {
        let mut found = Vec::new();
        for (_, folder) in folders(&self.home.join(OWN))? {
            found.extend(folders(&folder)?.into_iter().map(|(_, path)| path));
        }
        Ok(found)
    }

    fn export_workspaces(&self, user: &UserId, put: &mut Put<'_>) -> Result<(), GateError> {
        let mut left_out = Vec::new();
        for (agent, path) in self.workspaces(user)? {
            let dir = match Dir::open(&path) {
                Ok(dir) => dir,
                Err(error) => {
                    left_out.push(json!({ "path": agent, "why": error.to_string() }));
                    continue;
                }
            };
            let mut waiting = vec![Relative::base()];
            let mut folders = 0;
            while let Some(folder) = waiting.pop() {
                folders += 1;
                let mut missed = |path: String, why: String| {
                    left_out.push(json!({ "path": format!("{agent}/{path}"), "why": why }));
                };
                let (found, whole) = match dir.list(&folder) {
                    Ok(found) => found,
                    Err(error) => {
                        missed(folder.to_string(), error.to_string());
                        continue;
                    }
                };
                if !whole || folders > FOLDERS_MAX {
                    missed(folder.to_string(), "there is more than is taken along".to_owned());
                }
                for it in found {
                    let path = it.name.as_deref().map(|name| match folder.as_str() {
                        "" => Relative::parse(name),
                        above => Relative::parse(&format!("{above}/{name}")),
                    });
                    let Some(Ok(path)) = path else {
                        missed(folder.to_string(), "a name that no path may have".to_owned());
                        continue;
                    };
                    match it.stat.kind {
                        FileKind::Folder if folders <= FOLDERS_MAX => waiting.push(path),
                        FileKind::File => match dir.read_of_one_name(&path, FILE_BYTES_MAX) {
                            Ok(bytes) => put(&format!("workspaces/{agent}/{path}"), &bytes)
                                .map_err(GateError::unable)?,
                            Err(error) => missed(path.to_string(), error.to_string()),
                        },
                        FileKind::Folder | FileKind::Link | FileKind::Special => {
                            missed(path.to_string(), "it is no file".to_owned());
                        }
                    }
                }
            }
        }
        if left_out.is_empty() {
            return Ok(());
        }
        let left_out = Value::from(left_out).to_string();
        put("workspaces-left-out.json", left_out.as_bytes()).map_err(GateError::unable)
    }

    /// Wherever memory is or was kept: what the settings chose earlier counts, too.
    fn memories(&self) -> Result<Vec<Kept>, GateError> {
        let store = Arc::clone(&self.gate.store);
        let mut found: Vec<Kept> = vec![("store", store)];
        if self.home.join("memory").symlink_metadata().is_ok() {
            found.push(("file", self.gate.file_memory(&self.home)?));
        }
        Ok(found)
    }

    fn skills(&self) -> Repository {
        Repository::new(&self.home.join("skills.git"))
    }
}

/// A place where memory is kept, with a word for it.
type Kept = (&'static str, Arc<dyn Memory>);
/// What an agent remembers of a session.
type Conversation = Result<(Caller, History), GateError>;

/// Forgets what was said and noted in a session.
fn forget(who: &Caller, history: History, memories: &[Kept]) -> Result<(), GateError> {
    // What was said goes last: a session of which that is there is found again.
    for (_, memory) in memories {
        memory.forget_notes(&who.user, &who.session).map_err(GateError::unable)?;
    }
    history.forget().map(drop).map_err(GateError::unable)
}

/// The folders in one that are ours, with their names; none if it is not there.
fn folders(above: &Path) -> Result<Vec<(String, PathBuf)>, GateError> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(above) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        entries => entries.map_err(GateError::unable)?,
    };
    for entry in entries {
        let entry = entry.map_err(GateError::unable)?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        if !name.starts_with('+') && entry.file_type().is_ok_and(|it| it.is_dir()) {
            found.push((name, entry.path()));
        }
    }
    Ok(found)
}

fn row(it: &MemoryRow) -> Value {
    json!({
        "id": it.id.to_string(),
        "agent": it.agent.as_str(),
        "scope": it.scope,
        "type": it.kind.as_str(),
        "content": it.content,
        "source": it.source,
        "created": it.created,
    })
}

#[cfg(test)]
mod tests;
