//! The first frame of a connection to the daemon: by which version of the protocol somebody speaks, and to which door.
//!
//! A frame is as everywhere: four bytes of length, the highest first, then so many bytes. The first says
//! `lazaret/1 DOOR WORD…` and may bring descriptors along; the second is what is asked, in the form of the door.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::ipc::HEADER_BYTES;

/// The protocol and its version, as the first word of a connection.
pub const PROTOCOL: &str = "lazaret/1";
/// The longest first frame, in bytes.
const HELLO_BYTES_MAX: usize = 512;
/// How long whoever connects may take to say what they want.
const HELLO_MAX: Duration = Duration::from_secs(5);
/// Descriptors that one connection may bring along.
const DESCRIPTORS_MAX: usize = 3;

/// Why a first frame is none.
#[derive(Debug, thiserror::Error)]
pub enum HelloError {
    /// Not the protocol, or another version of it.
    #[error("the daemon speaks `{PROTOCOL}`, not `{0}`; restart it with `lazaret daemon restart`")]
    Version(String),
    /// Nothing at all: whoever connected only looked whether somebody listens.
    #[error("nothing was said")]
    Nothing,
    /// No frame, or too long.
    #[error("no hello of at most {HELLO_BYTES_MAX} bytes")]
    Malformed,
    /// The connection.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What somebody who connects says first.
#[derive(Debug)]
pub struct Hello {
    /// The door and its words.
    pub words: Vec<String>,
    /// What was brought along.
    pub descriptors: Vec<OwnedFd>,
}

impl Hello {
    /// Reads the first frame.
    ///
    /// # Errors
    /// If it is not there in time, or is none of ours.
    pub fn read(stream: &UnixStream) -> Result<Self, HelloError> {
        stream.set_read_timeout(Some(HELLO_MAX))?;
        let mut descriptors = Vec::new();
        let mut header = [0; HEADER_BYTES];
        match fill(stream, &mut header, &mut descriptors)? {
            0 => return Err(HelloError::Nothing),
            HEADER_BYTES => {}
            _ => return Err(HelloError::Malformed),
        }
        let length = usize::try_from(u32::from_be_bytes(header)).unwrap_or(usize::MAX);
        if length > HELLO_BYTES_MAX {
            return Err(HelloError::Malformed);
        }
        let mut text = vec![0; length];
        if fill(stream, &mut text, &mut descriptors)? < length {
            return Err(HelloError::Malformed);
        }
        stream.set_read_timeout(None)?;
        let text = String::from_utf8(text).map_err(|_| HelloError::Malformed)?;
        let mut words = text.split_ascii_whitespace().map(str::to_owned);
        match words.next() {
            Some(version) if version == PROTOCOL => {}
            Some(other) => return Err(HelloError::Version(other)),
            None => return Err(HelloError::Malformed),
        }
        Ok(Self { words: words.collect(), descriptors })
    }

    /// Says it on a new connection.
    ///
    /// # Errors
    /// If the other side takes nothing.
    pub fn say(stream: &UnixStream, words: &str, bring: &[BorrowedFd<'_>]) -> io::Result<()> {
        let text = format!("{PROTOCOL} {words}\n");
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes();
        let frame = [&length[..], text.as_bytes()].concat();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !bring.is_empty() && !control.push(SendAncillaryMessage::ScmRights(bring)) {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        }
        let sent = sendmsg(stream, &[IoSlice::new(&frame)], &mut control, SendFlags::NOSIGNAL)?;
        // So short a frame goes whole into a socket that is new.
        if sent == frame.len() { Ok(()) } else { Err(io::Error::from(io::ErrorKind::WriteZero)) }
    }
}

/// Reads until `room` is full or nothing more comes, says how much was read, and takes the descriptors that come along.
fn fill(
    stream: &UnixStream,
    room: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> Result<usize, HelloError> {
    let mut got = 0;
    while got < room.len() {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let rest = room.get_mut(got..).unwrap_or_default();
        let flags = RecvFlags::CMSG_CLOEXEC;
        let read = recvmsg(stream, &mut [IoSliceMut::new(rest)], &mut control, flags);
        let count = match read {
            Ok(received) => received.bytes,
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(io::Error::from(error).into()),
        };
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(more) = message {
                descriptors.extend(more.take(DESCRIPTORS_MAX.saturating_sub(descriptors.len())));
            }
        }
        if count == 0 {
            break;
        }
        got += count;
    }
    Ok(got)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    use super::*;

    fn said(bytes: &[u8]) -> Result<Hello, HelloError> {
        let (mut one, other) = UnixStream::pair().unwrap();
        one.write_all(bytes).unwrap();
        drop(one);
        Hello::read(&other)
    }

    #[test]
    fn words_and_descriptors_arrive() {
        let (one, other) = UnixStream::pair().unwrap();
        let (mine, mut theirs) = UnixStream::pair().unwrap();
        Hello::say(&one, "ipc x", &[mine.as_fd()]).unwrap();
        let hello = Hello::read(&other).unwrap();
        assert_eq!(hello.words, ["ipc", "x"]);
        let [descriptor] = <[OwnedFd; 1]>::try_from(hello.descriptors).unwrap();
        UnixStream::from(descriptor).write_all(b"here").unwrap();
        drop(mine);
        let mut text = String::new();
        theirs.read_to_string(&mut text).unwrap();
        assert_eq!(text, "here");
    }

    #[test]
    fn what_is_no_hello_is_refused() {
        let frame = |text: &str| {
            let length = u32::try_from(text.len()).unwrap().to_be_bytes();
            [&length[..], text.as_bytes()].concat()
        };
        assert!(
            matches!(said(&frame("lazaret/2 hook")), Err(HelloError::Version(it)) if it == "lazaret/2")
        );
        assert!(matches!(said(&frame("")), Err(HelloError::Malformed)));
        assert!(matches!(said(b"\0\0\0\x10lazaret/1"), Err(HelloError::Malformed)));
        assert!(matches!(said(&[]), Err(HelloError::Nothing)));
        assert!(matches!(said(&[0, 0]), Err(HelloError::Malformed)));
        assert!(matches!(said(&[0xff; 8]), Err(HelloError::Malformed)));
        assert!(matches!(said(b"\0\0\0\x02\xff\xfe"), Err(HelloError::Malformed)));
        assert_eq!(said(&frame("lazaret/1 status")).unwrap().words, ["status"]);
    }
}
