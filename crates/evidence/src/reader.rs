//! Reading a journal while it is written: a consistent prefix, without a lock and without waiting.

use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use aegx::Digest;

use crate::checkpoints::{self, CheckpointError, Kept};
use crate::layout::Layout;
use crate::segment::{self, Item, Walk};

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
    #[error("there is no journal in `{dir}` yet; `lazaret demo` makes one to look at")]
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
        match reader.segments() {
            Ok(numbers) if !numbers.is_empty() => Ok(reader),
            _ => Err(ReadError::NoJournal { dir: dir.display().to_string() }),
        }
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
        loop {
            let bytes = self.load(at.segment)?;
            let (next, sealed, broke) = read_segment(&bytes, at, &mut see)?;
            at = next;
            if broke.is_some() || !sealed {
                return Ok((at, broke));
            }
            let following = segment::path(&self.layout.segments(), at.segment + 1);
            if !following.exists() {
                // The writer is between two segments.
                return Ok((at, None));
            }
            at = Position { segment: at.segment + 1, offset: 0, idx: at.idx };
        }
    }

    /// The stored line of the record at a place that a read has shown.
    ///
    /// # Errors
    /// If it is not there any more.
    pub fn line_at(&self, segment: u64, offset: u64, bytes: u64) -> Result<Vec<u8>, ReadError> {
        use std::io::{Read, Seek, SeekFrom};
        let path = segment::path(&self.layout.segments(), segment);
        let read = || -> io::Result<Vec<u8>> {
            let mut file = fs::File::open(&path)?;
            file.seek(SeekFrom::Start(offset))?;
            let mut line = Vec::new();
            file.take(bytes).read_to_end(&mut line)?;
            Ok(line)
        };
        match read() {
            Ok(line) if line.len() as u64 == bytes => Ok(line),
            Ok(_) => Err(ReadError::Damaged { segment, offset }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(ReadError::Gone { segment })
            }
            Err(error) => Err(ReadError::io(&path, error)),
        }
    }

    /// The checkpoints that are kept, oldest first.
    ///
    /// # Errors
    /// If a line of them is none.
    pub fn checkpoints(&self) -> Result<Vec<Kept>, CheckpointError> {
        checkpoints::read(&self.layout)
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

    fn load(&self, segment: u64) -> Result<Vec<u8>, ReadError> {
        let path = segment::path(&self.layout.segments(), segment);
        fs::read(&path).map_err(|error| {
            let gone = error.kind() == io::ErrorKind::NotFound;
            if gone { ReadError::Gone { segment } } else { ReadError::io(&path, error) }
        })
    }
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
            Item::Seal(_) => {
                at.offset = walk.offset();
                return Ok((at, true, None));
            }
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
