//! Looking at a whole tree: several at a time, below handles, and only at what may have changed.
//!
//! INVARIANT (Confined): a folder is opened below the handle of the folder that it was found in, and no link
//! is followed. Whoever swaps one for the other while we look gains nothing.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use ::files::{Dir, Kind as Type, Stat};
use aegx::{Digest, Hasher};
use monitor::taint::tokens;

use super::manifest::{
    DEPTH_MAX, Entry, FILES_MAX, HASHED_BYTES_MAX, Kind, Manifest, SeenAs, joined,
};
use super::shape::{SAMPLE_BYTES, is_packed};
use super::sidecar::SIDECAR;

/// How many look at the same time, at most.
const WORKERS_MAX: usize = 8;
/// Files that one of them takes at a time.
const FILES_AT_ONCE: usize = 64;
/// A file that changed so shortly before it was read may be changed again without a new time: a program that
/// holds it in memory sets the time only once until its changes are written back.
const SETTLED_NANOS: i64 = 60_000_000_000;

/// Looks at everything below `root`.
pub(super) fn scan(root: &Path, known: &Manifest) -> io::Result<Manifest> {
    let dir = Dir::open(root).map_err(io::Error::other)?;
    let look = dir.look()?;
    let looking = Looking {
        known,
        settled: dir.keeps_times().then(now).map(|it| it.saturating_sub(SETTLED_NANOS)),
        device: look.id.0,
        bytes_left: AtomicU64::new(HASHED_BYTES_MAX),
        count: AtomicUsize::new(0),
        truncated: AtomicBool::new(false),
        queue: Mutex::default(),
        bell: Condvar::new(),
    };
    // The root must be readable; what is below is taken as it can be had.
    let dir = Arc::new(dir);
    let mut found = looking.folder(&dir, "", 0)?;
    let workers = thread::available_parallelism().map_or(1, NonZero::get).min(WORKERS_MAX);
    let more = thread::scope(|scope| {
        let started = (1..workers)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, || looking.work()).ok());
        let started: Vec<_> = started.collect();
        let mut all = looking.work();
        for worker in started {
            all.extend(worker.join().map_err(|_| io::Error::other("a worker broke off"))?);
        }
        Ok::<_, io::Error>(all)
    })?;
    found.extend(more);
    let truncated = looking.truncated.load(Ordering::Relaxed);
    Ok(Manifest { entries: found.into_iter().collect(), truncated, root: Some(look.id) })
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with times that the kernel wrote, and no others"
)]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

/// What they share.
struct Looking<'a> {
    known: &'a Manifest,
    /// Files that did not change since are what they are; none if times prove nothing here.
    settled: Option<i64>,
    device: u64,
    bytes_left: AtomicU64,
    count: AtomicUsize,
    truncated: AtomicBool,
    queue: Mutex<Queue>,
    bell: Condvar,
}

/// The last in is the first out: so few folders are open at the same time.
#[derive(Default)]
struct Queue {
    work: Vec<Work>,
    busy: usize,
}

enum Work {
    Folder { within: Arc<Dir>, name: OsString, below: String, depth: usize },
    Files { within: Arc<Dir>, files: Vec<(OsString, String, Stat)> },
}

type Entries = Vec<(String, Entry)>;

/// One of them has taken something. However that ends, the others do not wait for it longer.
struct Busy<'a>(&'a Looking<'a>);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.busy = queue.busy.saturating_sub(1);
        drop(queue);
        self.0.bell.notify_all();
    }
}

impl Looking<'_> {
    /// Until there is nothing left to look at.
    fn work(&self) -> Entries {
        let mut found = Vec::new();
        let mut reader = Reader::default();
        while let Some(work) = self.next() {
            let _busy = Busy(self);
            match work {
                Work::Folder { within, name, below, depth } => {
                    let folder = within.raw_dir(&name).map(Arc::new);
                    drop(within);
                    match folder.and_then(|it| self.folder(&it, &below, depth)) {
                        Ok(entries) => found.extend(entries),
                        Err(_) => self.truncated.store(true, Ordering::Relaxed),
                    }
                }
                Work::Files { within, files } => {
                    for (name, below, stat) in files {
                        let entry = self.file(&mut reader, &within, &name, &stat);
                        found.push((below, entry));
                    }
                }
            }
        }
        found
    }

    fn next(&self) -> Option<Work> {
        let mut queue = self.queue();
        loop {
            if let Some(work) = queue.work.pop() {
                queue.busy += 1;
                return Some(work);
            }
            if queue.busy == 0 {
                return None;
            }
            queue = self.bell.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What lies in a folder; its folders, and the files that must be read, are left to whoever is free.
    fn folder(&self, dir: &Arc<Dir>, name: &str, depth: usize) -> io::Result<Entries> {
        let mut names = dir.raw_names()?;
        names.sort_unstable();
        let (mut found, mut folders, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for own in names {
            if self.count.fetch_add(1, Ordering::Relaxed) >= FILES_MAX {
                self.truncated.store(true, Ordering::Relaxed);
                break;
            }
            let below = joined(name, own.as_bytes());
            let Ok(stat) = dir.raw_stat(&own) else {
                found.push((below, unread(0)));
                continue;
            };
            match stat.kind {
                Type::File if below == SIDECAR => {}
                Type::File => match self.same(&below, &stat) {
                    Some(entry) => found.push((below, entry)),
                    None => files.push((own, below, stat)),
                },
                Type::Folder => {
                    found.push((below.clone(), of_folder(&own)));
                    folders.push((own, below));
                }
                Type::Link => found.push((below, of_link(dir.raw_link(&own).unwrap_or_default()))),
                Type::Special => found.push((below, plain(Kind::Special, Digest::ZERO, 1))),
            }
        }
        if depth >= DEPTH_MAX && !folders.is_empty() {
            self.truncated.store(true, Ordering::Relaxed);
            folders.clear();
        }
        let mut queue = self.queue();
        for (own, below) in folders {
            let within = Arc::clone(dir);
            queue.work.push(Work::Folder { within, name: own, below, depth: depth + 1 });
        }
        while !files.is_empty() {
            let rest = files.split_off(files.len().min(FILES_AT_ONCE));
            queue.work.push(Work::Files { within: Arc::clone(dir), files });
            files = rest;
        }
        drop(queue);
        self.bell.notify_all();
        Ok(found)
    }

    /// What is known of a file that the kernel says is the same.
    fn same(&self, below: &str, stat: &Stat) -> Option<Entry> {
        let entry = self.settled.and_then(|_| self.known.entries.get(below))?;
        let same = entry.kind == Kind::File && entry.seen_as == Some(seen_as(stat));
        same.then(|| entry.clone())
    }

    fn file(&self, reader: &mut Reader, dir: &Dir, name: &OsStr, stat: &Stat) -> Entry {
        self.read(reader, dir, name).unwrap_or_else(|_| unread(stat.bytes))
    }

    /// Hashes a file piece by piece.
    fn read(&self, reader: &mut Reader, dir: &Dir, name: &OsStr) -> io::Result<Entry> {
        let mut file = dir.raw_file(name)?;
        let before = Dir::raw_look(&file)?;
        if before.kind != Type::File {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
        }
        let first = fill(&mut file, &mut reader.sample)?;
        let sample = reader.sample.get(..first).unwrap_or_default();
        let mut hasher = Hasher::new();
        let mut length = 0_u64;
        let mut piece = sample;
        while !piece.is_empty() {
            let bytes = piece.len() as u64;
            let take = |left: u64| left.checked_sub(bytes);
            if self.bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
                return Ok(unread(before.bytes));
            }
            hasher.update(piece);
            length += bytes;
            let read =
                if piece.len() < SAMPLE_BYTES { 0 } else { fill(&mut file, &mut reader.piece)? };
            piece = reader.piece.get(..read).unwrap_or_default();
        }
        let after = Dir::raw_look(&file)?;
        let still = self.settled.is_some_and(|it| before.changed < it && before.modified < it);
        let same = seen_as(&before) == seen_as(&after) && before.id.0 == self.device;
        Ok(Entry {
            kind: Kind::File,
            digest: hasher.finish(),
            tokens: estimate(sample, length),
            packed: is_packed(sample),
            seen_as: (still && same).then(|| seen_as(&after)),
        })
    }
}

/// What each of them reads into.
struct Reader {
    sample: Vec<u8>,
    piece: Vec<u8>,
}

impl Default for Reader {
    fn default() -> Self {
        Self { sample: vec![0; SAMPLE_BYTES], piece: vec![0; SAMPLE_BYTES] }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|it| !it.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn seen_as(stat: &Stat) -> SeenAs {
    (stat.id.0, stat.id.1, stat.bytes, stat.modified, stat.changed)
}

fn plain(kind: Kind, digest: Digest, tokens: u64) -> Entry {
    Entry { kind, digest, tokens, packed: false, seen_as: None }
}

fn of_link(target: OsString) -> Entry {
    plain(Kind::Link, Digest::of(target.as_bytes()), 1)
}

fn of_folder(name: &OsStr) -> Entry {
    let name = name.as_bytes();
    plain(Kind::Folder, Digest::of(name), estimate(name, name.len() as u64))
}

fn unread(bytes: u64) -> Entry {
    plain(Kind::Unread, Digest::ZERO, tokens::tainted_bytes(bytes))
}

/// The entry of a file with this content.
pub(super) fn of_content(bytes: &[u8]) -> Entry {
    let sample = bytes.get(..SAMPLE_BYTES.min(bytes.len())).unwrap_or_default();
    let tokens = estimate(sample, bytes.len() as u64);
    Entry { packed: is_packed(sample), ..plain(Kind::File, Digest::of(bytes), tokens) }
}

/// Tokens of a file, from how dense its beginning is.
fn estimate(sample: &[u8], length: u64) -> u64 {
    let text = match std::str::from_utf8(sample) {
        Ok(text) => text,
        // A sample may end inside a character.
        Err(error) if error.error_len().is_none() && sample.len() == SAMPLE_BYTES => {
            let whole = sample.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(whole).unwrap_or_default()
        }
        Err(_) => return tokens::tainted_bytes(length),
    };
    let scaled = u128::from(tokens::tainted(text)) * u128::from(length);
    let tokens = scaled.div_ceil((text.len() as u128).max(1));
    u64::try_from(tokens).unwrap_or(u64::MAX).max(1)
}
