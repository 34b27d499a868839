//! The end of a pipe that lines are written to, also without waiting for whoever reads them.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

/// What lines are written to.
pub trait Sink: Write + Send {
    /// Writes as much as there is room for, and says how much that was. It waits for nobody.
    ///
    /// # Errors
    /// If nobody reads any more.
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize>;
}

/// An end of a pipe or socket of the system.
#[derive(Debug)]
pub struct Pipe {
    file: File,
    /// Whether the system says when there is room for so much that a write does not wait.
    tells_room: bool,
}

/// Bytes that have room where there is any at all.
#[cfg(target_os = "linux")]
const ROOM_BYTES: usize = 4096;
/// Bytes that have room where there is any at all: what POSIX demands.
#[cfg(not(target_os = "linux"))]
const ROOM_BYTES: usize = 512;

/// Bytes that are written by whoever has them, before the rest is left to the thread that writes.
const NOW_BYTES_MAX: usize = 256 * 1024;

impl Pipe {
    /// Takes an end that is written to.
    pub fn new(end: impl Into<OwnedFd>) -> Self {
        let file = File::from(end.into());
        let kind = fstat(&file).map(|it| FileType::from_raw_mode(it.st_mode));
        // A terminal may have less room.
        let tells_room = matches!(kind, Ok(FileType::Fifo | FileType::Socket));
        Self { file, tells_room }
    }

    /// Whether there is room now, or nobody who reads: either way a write does not wait.
    fn has_room(&self) -> bool {
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut ends = [PollFd::new(&self.file, PollFlags::OUT)];
        poll(&mut ends, Some(&at_once)).is_ok_and(|ready| ready > 0)
    }
}

impl Sink for Pipe {
    fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut done = 0;
        while self.tells_room && done < bytes.len().min(NOW_BYTES_MAX) && self.has_room() {
            let rest = bytes.get(done..).unwrap_or_default();
            match self.file.write(rest.get(..ROOM_BYTES).unwrap_or(rest)) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => done += count,
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock)
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, pipe};

    #[test]
    fn what_has_no_room_is_left_and_nothing_is_lost() {
        let (mut reader, writer) = pipe().unwrap();
        let mut pipe = Pipe::new(writer);
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(NOW_BYTES_MAX).collect();
        // More than a pipe holds, and nobody reads.
        let done = pipe.write_now(&bytes).unwrap();
        assert!((1..bytes.len()).contains(&done), "{done}");
        assert_eq!(pipe.write_now(&bytes).unwrap(), 0);
        let mut read = vec![0; done];
        reader.read_exact(&mut read).unwrap();
        assert_eq!(read, bytes[..done]);
        drop(reader);
        assert!(pipe.write_now(&bytes).is_err());
    }

    #[test]
    fn a_file_is_left_to_whoever_may_wait() {
        let mut file = Pipe::new(tempfile::tempfile().unwrap());
        assert_eq!(file.write_now(b"x").unwrap(), 0);
        assert_eq!(file.write(b"x").unwrap(), 1);
    }
}
