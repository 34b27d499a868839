//! Workspaces that a session has to itself: made when it begins, and gone with all labels of its files when it ends.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use aegx::Digest;
use model::Caller;
use store::workspace::{Registry, WorkspaceError};

use super::{LABELS, OWN, VisitError, Workspace};

/// The folder of them, which no agent has: `+` stands for a sign that no name begins with.
const FOLDER: &str = "+ephemeral";

impl Workspace {
    /// A workspace for the session of `who` alone, empty.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn ephemeral(home: &Path, who: &Caller) -> Result<Self, VisitError> {
        let name = format!("{}\0{}\0{}", who.user, who.agent, who.session);
        let name = Digest::of(name.as_bytes()).to_hex();
        let [files, folder] = folders(home);
        let beneath = |it: &Path| {
            let path = ::files::safe_path(it, &[name.as_str()]);
            path.map_err(|refused| VisitError::NoName { refused })
        };
        let (root, labels) = (beneath(&files)?, beneath(&folder)?);
        // What a process left that died is nobody's any more.
        for path in [&root, &labels] {
            remove(path).map_err(|error| WorkspaceError::Io { path: path.clone(), error })?;
        }
        let above = [home.join(OWN), home.join(LABELS)];
        for path in above.iter().chain([&files, &folder, &root]) {
            let made = ::files::private::create_dir(path);
            made.map_err(|error| WorkspaceError::Io { path: path.clone(), error })?;
        }
        let mut workspace = Self::open(home, &root)?;
        workspace.registry = Registry::open(&labels)?;
        workspace.ends = Some(labels);
        Ok(workspace)
    }

    /// Removes those that processes left which died. Nobody may have one open.
    ///
    /// # Errors
    /// If one of them cannot be removed.
    pub fn sweep_ephemeral(home: &Path) -> io::Result<()> {
        folders(home).iter().try_for_each(|it| remove(it))
    }

    /// Removes it, if it is to end with its session. Was it?
    pub(crate) fn remove_ephemeral(&self) -> io::Result<bool> {
        let Some(labels) = &self.ends else { return Ok(false) };
        remove(&self.root)?;
        remove(labels)?;
        Ok(true)
    }
}

/// Where they lie, and where their labels do.
fn folders(home: &Path) -> [PathBuf; 2] {
    [home.join(OWN).join(FOLDER), home.join(LABELS).join(FOLDER)]
}

/// A link that somebody put in its place is removed itself.
fn remove(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(it) if it.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentId, Kind, SessionId, UserId};

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a file of the test's own")]
    fn nothing_of_it_outlives_the_session() {
        let home = tempfile::tempdir().unwrap();
        let who = Caller {
            session: SessionId::parse("s").unwrap(),
            user: UserId::parse("u").unwrap(),
            agent: AgentId::parse("a").unwrap(),
            door: Kind::of_static("ipc"),
        };
        let workspace = Workspace::ephemeral(home.path(), &who).unwrap();
        fs::write(workspace.root().join("left"), "x").unwrap();
        // Whoever comes back after a crash finds nothing.
        let again = Workspace::ephemeral(home.path(), &who).unwrap();
        assert_eq!(fs::read_dir(again.root()).unwrap().count(), 0);
        assert!(again.remove_ephemeral().unwrap());
        assert!(!again.root().exists());
        Workspace::ephemeral(home.path(), &who).unwrap();
        Workspace::sweep_ephemeral(home.path()).unwrap();
        assert!(!again.root().exists());
        let kept = home.path().join(OWN).join("a").join("u");
        fs::create_dir_all(&kept).unwrap();
        assert!(!Workspace::open(home.path(), &kept).unwrap().remove_ephemeral().unwrap());
        assert!(kept.exists());
    }
}
