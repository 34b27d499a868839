//! Making an agent: its file, and those without which nobody would be admitted.

use std::io;
use std::path::{Path, PathBuf};

use model::{AgentId, SessionId};

use crate::manifests::manifest_path;

/// Bytes of the name of a new session.
const NAME_BYTES: usize = 8;

/// What stands in the file of a new agent.
const IDENTITY: &str = "---
tools:
  allow: [memory, workspace, web]
# Keys of the vault that its tools get: none. See docs/vault.md, who gets which key.
credentials:
  grants: {}
---
You are a helpful assistant. Do what the user asks with the tools that you have, and say plainly what you did and what
you could not do.
";
/// Settings that choose the model which needs no key.
const SETTINGS: &str = "# See docs/agents-of-our-own.md.
providers:
  llm: mock
";

/// The person at this machine, who has no token.
const USERS: &str = "users:
  - name: me
    agents: \"*\"
    budget: unlimited
    admin: true
";

/// Makes the file of an agent, and settings and users where there are none: as soon as there is an agent in a file,
/// sessions are admitted by files. Gives what was made.
///
/// # Errors
/// If there is such an agent, or the files cannot be made.
pub fn create(home: &Path, agent: &AgentId) -> io::Result<Vec<PathBuf>> {
    let path = manifest_path(home, agent);
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    files::private::create_dir(home)?;
    let folder = path.parent().unwrap_or(home);
    files::private::create_dir(&home.join("agents"))?;
    files::private::create_dir(folder)?;
    // The manifest last: before the others are there, nobody is admitted by it.
    let mut made = Vec::new();
    for (path, text) in [(home.join("config.yaml"), SETTINGS), (home.join("users.yaml"), USERS)] {
        if path.symlink_metadata().is_err() {
            files::private::replace(&path, text.as_bytes())?;
            made.push(path);
        }
    }
    files::private::replace(&path, IDENTITY.as_bytes())?;
    made.push(path);
    Ok(made)
}

/// A name for a new session that nobody has used.
///
/// # Errors
/// If the system gives no randomness.
pub fn new_session() -> io::Result<SessionId> {
    let mut random = [0; NAME_BYTES];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let name = format!("s-{:016x}", u64::from_be_bytes(random));
    SessionId::parse(&name).map_err(io::Error::other)
}
