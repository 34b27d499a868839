//! Reading a journal while it is written: a consistent prefix, without a lock and without waiting.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use aegx::{Digest, Payload};
use serde_json::Value;

use crate::blobs::Blobs;
use crate::checkpoints::{self, CheckpointError, Kept};
use crate::journal::Journal;
use crate::layout::Layout;
use crate::receipt::Receipt;
use crate::segment::{self, Header, Item, Walk};

/// The longest content that is read back, in bytes.
const CONTENT_BYTES_MAX: u64 = 64 << 20;

/// Reads the records of a journal. Never blocks its writer.
#[derive(Clone, Debug)]
pub struct Reader {
    layout: Layout,
}

/// A place between two records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The segment.
    pub segment: u64,
    /// Where in it; 0 is its beginning.
    pub offset: u64,
    /// Index of the record that comes next, once it is known.
    pub idx: u64,
}

/// One record as it lies in the journal.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its index.
    pub idx: u64,
    /// Its id, as its line claims.
    pub id: Digest,
    /// Its segment.
    pub segment: u64,
    /// Where in the segment its line begins.
    pub offset: u64,
    /// The stored line of the record.
    pub record: &'a [u8],
    /// The stored line of its audit entry.
    pub audit: &'a [u8],
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is none.
    #[error(
        "there is no journal in `{dir}` yet; `lazaret demo --dir DIR` makes one to look at, with `--home DIR`"
    )]
    NoJournal {
        /// The directory.
        dir: String,
    },
    /// A segment that should be there is not.
    #[error("segment {segment:012} is gone; it was deleted by retention, or is lost")]
    Gone {
        /// Its number.
        segment: u64,
    },
    /// A segment cannot be read.
    #[error("segment {segment:012} at byte {offset} is damaged; see `lazaret evidence verify`")]
    Damaged {
        /// Its number.
        segment: u64,
        /// Where.
        offset: u64,
    },
    /// The disk.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

impl ReadError {
    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.display().to_string(), error }
    }
}

impl Reader {
    /// Reads the journal in `dir`.
    ///
    /// # Errors
    /// If there is none.
    pub fn open(dir: &Path) -> Result<Self, ReadError> {
        let reader = Self { layout: Layout::new(dir) };
        let none = match reader.segments() {
            // Where something was signed there was a journal, and it is for others to say so.
            Ok(numbers) => numbers.is_empty() && !reader.layout.checkpoints().exists(),
            Err(ReadError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(error),
        };
        if none { Err(ReadError::NoJournal { dir: dir.display().to_string() }) } else { Ok(reader) }
    }

    /// Reads a journal that is open for writing.
    pub(crate) fn of(journal: &Journal) -> Self {
        Self { layout: journal.layout().clone() }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Numbers of the segments that are there, sorted.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn segments(&self) -> Result<Vec<u64>, ReadError> {
        let dir = self.layout.segments();
        segment::list(&dir).map_err(|error| ReadError::io(&dir, error))
    }

    /// The place before the oldest record that is there.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn start(&self) -> Result<Position, ReadError> {
        let first = self.segments()?.first().copied().unwrap_or(0);
        Ok(Position { segment: first, offset: 0, idx: 0 })
    }

    /// Shows every whole record from `from` on to `see`, until it breaks off or there are no more.
    /// Gives the place where reading can go on.
    ///
    /// # Errors
    /// If a segment is gone or damaged.
    pub fn read<B>(
        &self,
        from: Position,
        mut see: impl FnMut(Entry<'_>) -> ControlFlow<B>,
    ) -> Result<(Position, Option<B>), ReadError> {
        let mut at = from;
        let mut must_be_sealed = false;
        loop {
            let bytes = self.load(at.segment)?;
            let (next, sealed, broke) = read_segment(&bytes, at, &mut see)?;
            at = next;
            if broke.is_some() {
                return Ok((at, broke));
            }
            let following = at.segment.saturating_add(1);
            let followed = segment::path(&self.layout.segments(), following).exists();
            match (sealed, followed) {
                (true, true) => {
                    at = Position { segment: following, offset: 0, idx: at.idx };
                    must_be_sealed = false;
                }
                // The writer is at work here, or between two segments.
                (_, false) => return Ok((at, None)),
                // It was sealed since it was read, or something in it cannot be read.
                (false, true) if must_be_sealed => {
                    return Err(ReadError::Damaged { segment: at.segment, offset: at.offset });
                }
                (false, true) => must_be_sealed = true,
            }
        }
    }

    /// Shows every whole record of one segment to `see`, until it breaks off.
    pub(crate) fn read_one<B>(
        &self,
        segment: u64,
        mut see: impl FnMut(Entry<'_>) -> ControlFlow<B>,
    ) -> Result<Option<B>, ReadError> {
        let from = Position { segment, offset: 0, idx: 0 };
        let (_, _, broke) = read_segment(&self.load(segment)?, from, &mut see)?;
        Ok(broke)
    }

    /// Proof that the record at `idx` with this id is in the journal, which another process writes. It had said
    /// that it is durable; here it is seen to be there. None if it is not.
    ///
    /// # Errors
    /// If the newest segments cannot be read.
    pub fn receipt(&self, idx: u64, id: Digest) -> Result<Option<Receipt>, ReadError> {
        let segments = self.segments()?;
        // A record that was just written is in the last segment, or in the one before if that was sealed meanwhile.
        for segment in segments.iter().rev().take(2) {
            let at = Position { segment: *segment, offset: 0, idx: 0 };
            let (_, found) = self.read(at, |entry| {
                if entry.idx < idx {
                    return ControlFlow::Continue(());
                }
                let seq = (entry.idx == idx && entry.id == id).then(|| claimed_seq(entry.record));
                ControlFlow::Break(seq.flatten())
            })?;
            if let Some(Some(seq)) = found {
                return Ok(Some(Receipt::new(idx, id, seq)));
            }
        }
        Ok(None)
    }

    /// The checkpoints that are kept, oldest first.
    ///
    /// # Errors
    /// If a line of them is none.
    pub fn checkpoints(&self) -> Result<Vec<Kept>, CheckpointError> {
        checkpoints::read(&self.layout)
    }

    /// The root that a kept checkpoint states, if the journal's own key signed it.
    ///
    /// # Errors
    /// If it did not.
    pub fn signed_root(&self, kept: &Kept) -> Result<Digest, CheckpointError> {
        let key = checkpoints::own_key(&self.layout).ok_or("there is no `checkpoint.pub`");
        let verified =
            key.map_err(str::to_owned).and_then(|key| checkpoints::verify(&kept.note, &key));
        verified.map(|it| it.root()).map_err(CheckpointError::Unverified)
    }

    /// What a record says, wherever it lies: in the record, or in a blob, whose bytes must be what its name says.
    ///
    /// # Errors
    /// If a blob is not there, is too long, or is no JSON.
    pub fn content(&self, payload: &Payload) -> io::Result<Value> {
        let blob = match payload {
            Payload::Inline { inline } => return Ok(inline.clone()),
            Payload::Blob { blob, .. } => blob,
        };
        let name = Digest::from_hex(blob.as_bytes())
            .ok_or_else(|| io::Error::other("a blob has no such name"))?;
        let file = Blobs::new(self.layout.blobs()).open(&name)?;
        let bytes = files::private::read_open(&file, CONTENT_BYTES_MAX)?;
        if Digest::of(&bytes) != name {
            return Err(io::Error::other("a blob is not what its name says"));
        }
        serde_json::from_slice(&bytes).map_err(io::Error::from)
    }

    /// Length of all segments together, room made in advance included.
    ///
    /// # Errors
    /// If the directory cannot be listed.
    pub fn bytes(&self) -> Result<u64, ReadError> {
        let dir = self.layout.segments();
        let length = |number| fs::metadata(segment::path(&dir, number)).map_or(0, |it| it.len());
        Ok(self.segments()?.into_iter().map(length).sum())
    }

    /// The header of a segment.
    pub(crate) fn header(&self, segment: u64) -> Result<Header, ReadError> {
        let path = segment::path(&self.layout.segments(), segment);
        let header = segment::read_header(&path).map_err(|error| unread(segment, &path, error))?;
        header.ok_or(ReadError::Damaged { segment, offset: 0 })
    }

    fn load(&self, segment: u64) -> Result<Vec<u8>, ReadError> {
        let path = segment::path(&self.layout.segments(), segment);
        segment::read(&path).map_err(|error| unread(segment, &path, error))
    }
}

fn unread(segment: u64, path: &Path, error: io::Error) -> ReadError {
    let gone = error.kind() == io::ErrorKind::NotFound;
    if gone { ReadError::Gone { segment } } else { ReadError::io(path, error) }
}

fn read_segment<B>(
    bytes: &[u8],
    mut at: Position,
    see: &mut impl FnMut(Entry<'_>) -> ControlFlow<B>,
) -> Result<(Position, bool, Option<B>), ReadError> {
    let damaged = |offset| ReadError::Damaged { segment: at.segment, offset };
    let mut walk = if at.offset == 0 {
        let (header, walk) = Walk::begin(bytes).map_err(|_| damaged(0))?;
        at.idx = header.first;
        walk
    } else {
        Walk::resume(bytes, at.offset)
    };
    at.offset = walk.offset();
    // A part that is not whole is the writer's pen on the paper: the prefix ends before it.
    while let Some(Ok(item)) = walk.next() {
        match item {
            Item::Batch(_) => {}
            // The place stays before the seal: who comes again when the next segment is there must
            // find it once more.
            Item::Seal(_) => return Ok((at, true, None)),
            Item::Entry { offset, record, audit } => {
                let id = claimed_id(record).ok_or_else(|| damaged(offset))?;
                let entry = Entry { idx: at.idx, id, segment: at.segment, offset, record, audit };
                at.idx += 1;
                at.offset = walk.offset();
                if let ControlFlow::Break(value) = see(entry) {
                    return Ok((at, false, Some(value)));
                }
            }
        }
    }
    Ok((at, false, None))
}

/// The id that a record's line begins with.
pub(crate) fn claimed_id(record: &[u8]) -> Option<Digest> {
    Digest::from_hex(record.strip_prefix(b"{\"recordId\":\"")?.get(..64)?)
}

/// The number that a record's line claims to have.
fn claimed_seq(record: &[u8]) -> Option<u64> {
    let record: aegx::Record = serde_json::from_slice(record).ok()?;
    record.meta.get("seq").and_then(serde_json::Value::as_u64)
}
