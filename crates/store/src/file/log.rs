//! The log: one private file of JSON lines, each with the hash of all before it.
//!
//! A line that a crash left half is no line; whatever else is not as it was written is damage, and
//! nothing is read past it: a line that is taken out of the middle may have been a label.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use aegx::{Digest, Sorted};
use evidence::Durability;
use files::private;
use serde_json::{Value, json};

use super::event::Event;
use crate::error::{Broken, OpenError};

/// The longest log, in bytes. All of it is kept in memory.
pub(super) const LOG_BYTES_MAX: u64 = 256 << 20;
/// A log is written anew when it is opened and has so many lines more than are needed.
const SUPERFLUOUS_LINES_MAX: usize = 10_000;
/// Whoever is about to end is waited for.
const LOCK_TRIES: usize = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);
/// The first line: what the file is, and its version.
const HEAD: &str = "{\"lazaret\":\"memory\",\"version\":1}\n";

/// A log that is open for writing.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Held as long as the log is open.
    _lock: File,
    durability: Durability,
    bytes: u64,
    last: Digest,
    /// A write that failed may have left anything: nothing is written after it.
    broken: Option<Broken>,
}

impl Log {
    /// Opens the log in `dir`, or makes it, and hands every event to `see`. Answers with how many lines
    /// there are.
    pub(super) fn open(
        dir: &Path,
        durability: Durability,
        see: &mut dyn FnMut(Event),
    ) -> Result<(Self, usize), OpenError> {
        let path = dir.join("memory.jsonl");
        let failed = |error: io::Error| OpenError::io(&path, error);
        private::create_dir(dir).map_err(failed)?;
        let lock = lock(&dir.join("memory.lock")).map_err(failed)?;
        if path.symlink_metadata().is_err_and(|it| it.kind() == io::ErrorKind::NotFound) {
            private::replace(&path, HEAD.as_bytes()).map_err(failed)?;
        }
        let bytes = private::read(&path, LOG_BYTES_MAX).map_err(failed)?;
        let read = read(&bytes, see).map_err(|why| damaged(&path, why))?;
        let file = private::open_with(&path, OpenOptions::new().append(true)).map_err(failed)?;
        if read.whole < bytes.len() as u64 {
            file.set_len(read.whole).and_then(|()| file.sync_all()).map_err(failed)?;
        }
        let (bytes, last) = (read.whole, read.last);
        let log = Self { path, file, _lock: lock, durability, bytes, last, broken: None };
        Ok((log, read.lines))
    }

    /// Looks at a log without being able to change it, also while another process writes it.
    pub(super) fn look(dir: &Path, see: &mut dyn FnMut(Event)) -> Result<(), OpenError> {
        let path = dir.join("memory.jsonl");
        let bytes = private::read_if_there(&path, LOG_BYTES_MAX)
            .map_err(|error| OpenError::io(&path, error))?;
        let Some(bytes) = bytes else { return Ok(()) };
        read(&bytes, see).map_err(|why| damaged(&path, why))?;
        Ok(())
    }

    /// Is there room for this many bytes more?
    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.bytes.saturating_add(bytes as u64) <= LOG_BYTES_MAX
    }

    /// Appends one change. It is durable when this returns.
    pub(super) fn append(&mut self, events: &[Event]) -> Result<(), Broken> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let (line, hash) = line(&self.last, events);
        let written = self.file.write_all(line.as_bytes()).and_then(|()| match self.durability {
            Durability::Synced => self.file.sync_data(),
            Durability::DangerouslyUnsynced => Ok(()),
        });
        if let Err(error) = written {
            let broken = Broken::new(error);
            self.broken = Some(broken.clone());
            return Err(broken);
        }
        self.bytes = self.bytes.saturating_add(line.len() as u64);
        self.last = hash;
        Ok(())
    }

    /// Writes the log anew with these changes alone, if it has many more lines than that.
    pub(super) fn compact(&mut self, lines: usize, needed: &[Event]) -> Result<(), OpenError> {
        if lines <= needed.len() + SUPERFLUOUS_LINES_MAX {
            return Ok(());
        }
        self.write_anew(needed)
    }

    /// Writes the log anew with these changes alone.
    pub(super) fn write_anew(&mut self, needed: &[Event]) -> Result<(), OpenError> {
        let mut text = HEAD.to_owned();
        let mut last = Digest::of(HEAD.as_bytes());
        for event in needed {
            let (line, hash) = line(&last, std::slice::from_ref(event));
            text.push_str(&line);
            last = hash;
        }
        let failed = |error| OpenError::io(&self.path, error);
        private::replace(&self.path, text.as_bytes()).map_err(failed)?;
        let options = &mut OpenOptions::new();
        self.file = private::open_with(&self.path, options.append(true)).map_err(failed)?;
        (self.bytes, self.last) = (text.len() as u64, last);
        Ok(())
    }
}

/// What was read.
struct Read {
    /// Bytes that are whole lines.
    whole: u64,
    lines: usize,
    last: Digest,
}

fn read(bytes: &[u8], see: &mut dyn FnMut(Event)) -> Result<Read, String> {
    let mut lines = private::whole_lines(bytes);
    let head = lines.next().unwrap_or_default();
    if head != HEAD.as_bytes() {
        return Err("its first line is not that of a memory of this version".to_owned());
    }
    let mut read = Read { whole: head.len() as u64, lines: 0, last: Digest::of(head) };
    for found in lines {
        let wrong = || format!("line {} is not as it was written", read.lines + 2);
        let value: Value = serde_json::from_slice(found).map_err(|_| wrong())?;
        let events = value.get("events").and_then(Value::as_array).ok_or_else(wrong)?;
        let events: Option<Vec<Event>> = events.iter().map(Event::from_json).collect();
        let events = events.ok_or_else(wrong)?;
        // Written again, it must be the same byte for byte, hash and all.
        let (expected, hash) = line(&read.last, &events);
        if expected.as_bytes() != found {
            return Err(wrong());
        }
        events.into_iter().for_each(&mut *see);
        read.whole += found.len() as u64;
        read.lines += 1;
        read.last = hash;
    }
    Ok(read)
}

fn line(last: &Digest, events: &[Event]) -> (String, Digest) {
    let events: Value = events.iter().map(Event::to_json).collect();
    let hash = Digest::of_parts(&[last.as_bytes(), Sorted(&events).to_string().as_bytes()]);
    let line = json!({ "events": events, "hash": hash.to_string() });
    (format!("{}\n", Sorted(&line)), hash)
}

/// One process at a time.
fn lock(path: &Path) -> io::Result<File> {
    let file = private::open_with(path, OpenOptions::new().append(true).create(true))?;
    for _ in 0..LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
            Err(std::fs::TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "another process has the memory open"))
}

fn damaged(path: &Path, why: String) -> OpenError {
    OpenError::Damaged { path: path.display().to_string(), why }
}
