//! The two ends that stand for a server's pipes.

use super::link::Remote;
use crate::stdio::Sink;
use std::io::{self, Read, Write};
use std::sync::mpsc::Receiver;

/// Stands for the server's standard input: each line is a message for it.
pub(super) struct Input {
    pub(super) remote: Remote,
    pub(super) line: Vec<u8>,
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.line);
                self.remote.take(&line);
            } else {
                self.line.push(byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Input {
    /// Nothing: a server far away is waited for by the thread that writes.
    fn write_now(&mut self, _: &[u8]) -> io::Result<usize> {
        Ok(0)
    }
}

/// Stands for the server's standard output.
pub(super) struct Output {
    pub(super) lines: Receiver<Vec<u8>>,
    pub(super) current: Vec<u8>,
    pub(super) at: usize,
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.current.len() {
            // Nobody is left to send: the server has ended.
            let Ok(line) = self.lines.recv() else { return Ok(0) };
            (self.current, self.at) = (line, 0);
        }
        let rest = self.current.get(self.at..).unwrap_or_default();
        let some = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..some), rest.get(..some)) {
            to.copy_from_slice(from);
        }
        self.at += some;
        Ok(some)
    }
}
