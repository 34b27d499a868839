//! What the processes of a cage tell each other while it is made and while it runs.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::{Deserialize, Serialize};

use super::ladder::Held;

/// Bytes of one message at most.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// What is said on the way in and out.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Word {
    /// To the first process: its users are known now.
    Mapped,
    /// To the inside: this is to be covered as well.
    Cover(Vec<PathBuf>),
    /// To the outside: this is where the proxy is asked.
    Listening,
    /// To the outside: everything is in place, and this is what holds.
    Held(Held),
    /// To the outside: the first process has done its part, too.
    Settled,
    /// To the inside: what holds is enough and on record; begin.
    Go,
    /// To the outside: a step failed.
    Failed { step: String, why: String },
    /// To the outside: the system refuses a step that takes namespaces.
    Refused(String),
    /// To the outside: the program could not be run.
    NotRun { why: String, code: u8 },
    /// To the inside: pass this signal on.
    Signal(i32),
    /// To the outside: it exited with this code.
    Exited(u8),
    /// To the outside: this signal ended it.
    Killed(i32),
}

/// One end.
pub(crate) struct Channel(OwnedFd);

impl Channel {
    /// Both ends. Messages stay whole, and the end of one process is the end of what it says.
    pub(crate) fn pair() -> io::Result<(Self, Self)> {
        let (one, other) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
        Ok((Self(one), Self(other)))
    }

    pub(crate) fn say(&self, word: &Word) -> io::Result<()> {
        self.say_with(word, None)
    }

    /// Says something and hands something over with it.
    pub(crate) fn say_with(&self, word: &Word, fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let bytes = serde_json::to_vec(word)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds;
        if let Some(fd) = fd {
            fds = [fd];
            control.push(SendAncillaryMessage::ScmRights(&fds));
        }
        sendmsg(&self.0, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// The next word; none if the other side is gone.
    pub(crate) fn hear(&self) -> io::Result<Option<(Word, Option<OwnedFd>)>> {
        let mut bytes = vec![0; MESSAGE_BYTES_MAX];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let got = loop {
            let into = &mut [IoSliceMut::new(&mut bytes)];
            match recvmsg(&self.0, into, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::CONNRESET) => return Ok(None),
                got => break got?.bytes,
            }
        };
        if got == 0 {
            return Ok(None);
        }
        let mut fd = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                fd = fds.last().or(fd);
            }
        }
        let word = serde_json::from_slice(bytes.get(..got).unwrap_or_default())?;
        Ok(Some((word, fd)))
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
