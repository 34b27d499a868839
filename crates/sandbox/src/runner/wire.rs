//! What the host and the launcher say to each other: a length, then JSON.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::aside::Aside;
use crate::cage::{Ending, Held};

/// Bytes of one message at most. A command and an environment are far smaller.
pub(super) const MESSAGE_BYTES_MAX: usize = 4 << 20;
const LENGTH_BYTES: usize = 4;

/// What the launcher says.
#[derive(Serialize, Deserialize)]
pub(super) enum Report {
    /// This holds; the command begins when it is told to. Where there is a way to the network, its listener comes along.
    Held(Held),
    /// Nothing ran, for this reason.
    Refused(String),
    /// Nothing of the command runs any more.
    Ended(Ended),
}

/// The end of a command that had begun.
#[derive(Serialize, Deserialize)]
pub(super) struct Ended {
    /// How it ended, or why the cage broke.
    pub(super) ending: Result<Ending, String>,
    /// What it made where it would be obeyed.
    pub(super) aside: Aside,
}

/// A host that is gone is an error and no signal. Elsewhere whoever links this ignores that signal, as Rust's programs do.
#[cfg(target_os = "linux")]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: SendFlags = SendFlags::empty();
/// What is handed over is not for whatever is started. Elsewhere it is marked a moment later.
#[cfg(target_os = "linux")]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSED_ON_EXEC: RecvFlags = RecvFlags::empty();

/// What the host says when somebody answers for the command, and it may begin.
#[derive(Serialize, Deserialize)]
pub(super) struct Go;

/// Says something. Secrets may be in it, so nothing of it stays in memory.
pub(super) fn say<T: Serialize>(to: &mut impl Write, value: &T) -> io::Result<()> {
    to.write_all(&framed(value)?)
}

/// Says something and hands something over with it.
pub(super) fn say_with<T: Serialize>(
    mut to: &UnixStream,
    value: &T,
    fd: BorrowedFd<'_>,
) -> io::Result<()> {
    let bytes = framed(value)?;
    let fds = [fd];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    let sent = sendmsg(to, &[IoSlice::new(&bytes)], &mut control, NO_SIGNAL)?;
    to.write_all(bytes.get(sent..).unwrap_or_default())
}

fn framed<T: Serialize>(value: &T) -> io::Result<Zeroizing<Vec<u8>>> {
    let said = Zeroizing::new(serde_json::to_vec(value)?);
    let length = u32::try_from(said.len()).ok().filter(|_| said.len() <= MESSAGE_BYTES_MAX);
    let length = length.ok_or_else(|| invalid("there is too much to say"))?;
    // Room for all of it at once: what grows leaves copies behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(LENGTH_BYTES + said.len()));
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(&said);
    Ok(bytes)
}

/// Reads what has come, and what was handed over with it. The number of bytes; none at the end.
pub(super) fn receive(
    from: &UnixStream,
    piece: &mut [u8],
    handed: &mut Option<OwnedFd>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let into = &mut [IoSliceMut::new(piece)];
    let got = recvmsg(from, into, &mut control, CLOSED_ON_EXEC)?.bytes;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            *handed = fds.last().or(handed.take());
            if let Some(fd) = handed {
                rustix::io::fcntl_setfd(fd, rustix::io::FdFlags::CLOEXEC)?;
            }
        }
    }
    Ok(got)
}

/// Hears one message, waiting for it.
pub(super) fn hear<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; LENGTH_BYTES];
    from.read_exact(&mut length)?;
    let length = checked(length)?;
    let mut bytes = Zeroizing::new(vec![0; length]);
    from.read_exact(&mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

/// Takes the first whole message out of what came so far.
pub(super) fn take<T: DeserializeOwned>(came: &mut Vec<u8>) -> io::Result<Option<T>> {
    let Some(length) = came.first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let end = LENGTH_BYTES + checked(*length)?;
    let Some(message) = came.get(LENGTH_BYTES..end) else { return Ok(None) };
    let value = serde_json::from_slice(message)?;
    came.drain(..end);
    Ok(Some(value))
}

fn checked(length: [u8; LENGTH_BYTES]) -> io::Result<usize> {
    let length = usize::try_from(u32::from_be_bytes(length)).ok();
    length.filter(|it| *it <= MESSAGE_BYTES_MAX).ok_or_else(|| invalid("it is too long"))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_or_not_yet_and_never_too_long() {
        let mut bytes = Vec::new();
        for ending in [Ending::Exited(3), Ending::TimedOut] {
            let aside = Aside::default();
            say(&mut bytes, &Report::Ended(Ended { ending: Ok(ending), aside })).unwrap();
        }
        let mut came = Vec::new();
        let mut seen = Vec::new();
        for byte in bytes {
            came.push(byte);
            match take::<Report>(&mut came).unwrap() {
                Some(Report::Ended(Ended { ending: Ok(ending), .. })) => seen.push(ending),
                Some(_) => panic!("another one"),
                None => {}
            }
        }
        assert_eq!((seen, came.len()), (vec![Ending::Exited(3), Ending::TimedOut], 0));
        assert!(take::<Report>(&mut vec![0xff; 8]).is_err());
        assert!(hear::<Report>(&mut [0xff; 8].as_slice()).is_err());
    }
}
