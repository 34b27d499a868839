//! Workspaces that a session has to itself: made when it begins, and gone with all labels of its files when it ends.

use std::io;
use std::path::{Path, PathBuf};

use aegx::Digest;
use model::Caller;
use store::workspace::{Registry, WorkspaceError};

use super::away::{again, take_away};
use super::{LABELS, OWN, VisitError, Workspace};

/// The folder of them, which no agent has: `+` stands for a sign that no name begins with.
const FOLDER: &str = "+ephemeral";

/// A folder for a program that a session has to itself, beside the state directory, which no such program may see. Dropped, it
/// is gone.
pub struct Room(PathBuf);

/// Bytes of the name of one.
const ROOM_BYTES: usize = 16;

impl Room {
    /// An empty folder.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make() -> io::Result<Self> {
        let mut random = [0; ROOM_BYTES];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("lazaret-server-{:032x}", u128::from_be_bytes(random));
        let path = ::files::safe_path(&std::env::temp_dir(), &[&name]).map_err(io::Error::other)?;
        ::files::private::create_dir(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // What does not go now lies where the system removes it one day.
        let _ = take_away(&self.0);
    }
}

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
        // What a process left that died is nobody's any more. What of it does not go is not in the way.
        for path in [&root, &labels] {
            take_away(path).map_err(|error| WorkspaceError::Io { path: path.clone(), error })?;
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

    /// Removes those that processes left which died, and what else was to go and did not. Nobody may have one open. Gives
    /// what stays, and why: it lies aside, in nobody's way.
    #[must_use]
    pub fn sweep(home: &Path) -> Vec<(PathBuf, io::Error)> {
        let mut stays = again(&home.join(OWN));
        stays.extend(again(&home.join(LABELS)));
        for folder in folders(home) {
            match take_away(&folder) {
                Ok(gone) => stays.extend(gone.stays),
                Err(error) => stays.push((folder, error)),
            }
        }
        stays
    }

    /// Removes it, if it is to end with its session. Was it?
    pub(crate) fn remove_ephemeral(&self) -> io::Result<bool> {
        let Some(labels) = &self.ends else { return Ok(false) };
        let (root, labels) = (take_away(&self.root), take_away(labels));
        root?.whole()?;
        labels?.whole()?;
        Ok(true)
    }
}

/// Where they lie, and where their labels do.
fn folders(home: &Path) -> [PathBuf; 2] {
    [home.join(OWN).join(FOLDER), home.join(LABELS).join(FOLDER)]
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

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
        // What a command has closed goes as well, and so does what could not go the last time.
        let left = home.path().join(OWN).join("a").join("+gone-1").join("deep");
        fs::create_dir_all(&left).unwrap();
        fs::set_permissions(again.root(), fs::Permissions::from_mode(0o0)).unwrap();
        fs::set_permissions(&left, fs::Permissions::from_mode(0o0)).unwrap();
        assert!(Workspace::sweep(home.path()).is_empty());
        assert!(!again.root().exists() && !left.exists());
        let kept = home.path().join(OWN).join("a").join("u");
        fs::create_dir_all(&kept).unwrap();
        assert!(!Workspace::open(home.path(), &kept).unwrap().remove_ephemeral().unwrap());
        assert!(kept.exists());
    }
}
