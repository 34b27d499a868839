//! A socket of one session, which nobody but its owner can reach.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

const SOCKET_MODE: u32 = 0o600;
const OTHERS: u32 = 0o077;

/// A socket that listens. Its name goes when it does.
#[derive(Debug)]
pub struct Socket {
    listener: UnixListener,
    path: PathBuf,
}

/// Why there is no socket. What was at the name is still there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SocketError {
    /// Others could put something in its place.
    #[error("`{dir}` must be a directory that only you can enter (mode 0700)")]
    NotPrivate {
        /// The directory.
        dir: String,
    },
    /// Something else, or somebody else's.
    #[error("`{path}` is there already and is no socket that was left behind")]
    Taken {
        /// The name.
        path: String,
    },
    /// Somebody listens.
    #[error("`{path}` is in use by another process")]
    InUse {
        /// The name.
        path: String,
    },
    /// The system.
    #[error("`{path}`: {error}")]
    Io {
        /// The name.
        path: String,
        /// What it says.
        error: io::Error,
    },
}

impl Socket {
    /// Listens at `path`, in a directory that is private already or is made so. A socket that an
    /// earlier process of the same owner left behind is replaced; nothing else is.
    ///
    /// # Errors
    /// If the directory is open to others, or there is something at the name.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let io = |error| SocketError::Io { path: path.display().to_string(), error };
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        check_directory(parent.unwrap_or(Path::new("."))).map_err(io)??;
        clear(path).map_err(io)??;
        let listener = UnixListener::bind(path).map_err(io)?;
        let socket = Self { listener, path: path.to_owned() };
        fs::set_permissions(path, Permissions::from_mode(SOCKET_MODE)).map_err(io)?;
        // Whoever connects may be gone again before it is looked at.
        socket.listener.set_nonblocking(true).map_err(io)?;
        Ok(socket)
    }

    /// One that another process of the same user listens at, and has handed over. Its name stays theirs.
    ///
    /// # Errors
    /// If the system does not let it be waited for.
    pub(crate) fn handed(listener: UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self { listener, path: PathBuf::new() })
    }

    /// The socket itself, for another process to listen at.
    #[must_use]
    pub fn listener(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }

    /// Where it listens.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Somebody who has connected: of the same user, or with the number of another.
    pub(crate) fn accept(&self) -> io::Result<Result<UnixStream, u32>> {
        let (stream, _) = self.listener.accept()?;
        stream.set_nonblocking(false)?;
        Ok(match stranger(&stream)? {
            None => Ok(stream),
            Some(uid) => Err(uid),
        })
    }
}

/// The user at the other end, if it is not our own. The modes keep others out already; this holds
/// also where somebody has widened them.
#[cfg(target_os = "linux")]
pub(crate) fn stranger(stream: &UnixStream) -> io::Result<Option<u32>> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?.uid;
    Ok((peer != rustix::process::geteuid()).then(|| peer.as_raw()))
}

/// The folder in which the process at the other end works, where the system says it.
pub(crate) fn folder_of_peer(stream: &UnixStream) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{}/cwd", pid_of_peer(stream)?)).ok()
}

/// The number of the process at the other end, as it is here, where the system says it.
pub fn pid_of_peer(stream: &UnixStream) -> Option<i32> {
    #[cfg(target_os = "linux")]
    {
        let peer = rustix::net::sockopt::socket_peercred(stream).ok()?;
        Some(peer.pid.as_raw_nonzero().get())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = stream;
        None
    }
}

/// Elsewhere the modes of socket and directory alone keep others out.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stranger(_: &UnixStream) -> io::Result<Option<u32>> {
    Ok(None)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if !self.path.as_os_str().is_empty() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn check_directory(dir: &Path) -> io::Result<Result<(), SocketError>> {
    match fs::metadata(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            files::private::create_dir(dir).map(Ok)
        }
        Err(error) => Err(error),
        // One that is there is not closed for its owner: it may be everybody's.
        Ok(found) if found.is_dir() && is_ours(&found) && found.mode() & OTHERS == 0 => Ok(Ok(())),
        Ok(_) => Ok(Err(SocketError::NotPrivate { dir: dir.display().to_string() })),
    }
}

/// Removes what an earlier process of ours left at the name.
fn clear(path: &Path) -> io::Result<Result<(), SocketError>> {
    let shown = || path.display().to_string();
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ok(())),
        Err(error) => return Err(error),
        Ok(found) if found.file_type().is_socket() && is_ours(&found) => {}
        Ok(_) => return Ok(Err(SocketError::Taken { path: shown() })),
    }
    match UnixStream::connect(path) {
        Ok(_) => Ok(Err(SocketError::InUse { path: shown() })),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map(Ok)
        }
        Err(error) => Err(error),
    }
}

fn is_ours(found: &fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}
