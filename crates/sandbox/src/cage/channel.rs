//! What the processes of a cage tell each other while it is made and while it runs.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recv, recvmsg, sendmsg, socketpair,
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
    /// To the first process: everything is in its place, and this was covered as well. It is to see that it stays so.
    Watch(Vec<PathBuf>),
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
        let Some(length) = self.next_length()? else { return Ok(None) };
        let mut bytes = vec![0; length];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let into = &mut [IoSliceMut::new(&mut bytes)];
        recvmsg(&self.0, into, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        let mut fd = None;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                fd = fds.last().or(fd);
            }
        }
        Ok(Some((serde_json::from_slice(&bytes)?, fd)))
    }

    /// Waits for the next message; none if the other side is gone. Most are a few bytes long.
    fn next_length(&self) -> io::Result<Option<usize>> {
        loop {
            match recv(&self.0, &mut [0; 0], RecvFlags::PEEK | RecvFlags::TRUNC) {
                Ok((_, 0)) | Err(rustix::io::Errno::CONNRESET) => return Ok(None),
                Ok((_, length)) if length > MESSAGE_BYTES_MAX => {
                    return Err(io::Error::other("a message that is too long"));
                }
                Ok((_, length)) => return Ok(Some(length)),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_whole_and_one_by_one() {
        let (one, other) = Channel::pair().unwrap();
        let long = "x".repeat(MESSAGE_BYTES_MAX / 2);
        one.say(&Word::Go).unwrap();
        one.say(&Word::Refused(long.clone())).unwrap();
        one.say_with(&Word::Listening, Some(one.as_fd())).unwrap();
        assert!(matches!(other.hear().unwrap(), Some((Word::Go, None))));
        assert!(matches!(other.hear().unwrap(), Some((Word::Refused(it), None)) if it == long));
        assert!(matches!(other.hear().unwrap(), Some((Word::Listening, Some(_)))));
        drop(one);
        assert!(other.hear().unwrap().is_none());
    }

    #[test]
    fn what_is_too_long_or_no_word_is_an_error() {
        let (one, other) = Channel::pair().unwrap();
        one.say(&Word::Refused("x".repeat(MESSAGE_BYTES_MAX))).unwrap();
        assert!(other.hear().unwrap_err().to_string().contains("too long"));
        let (one, other) = Channel::pair().unwrap();
        rustix::net::send(&one, b"nonsense", SendFlags::NOSIGNAL).unwrap();
        assert!(other.hear().is_err());
    }
}
