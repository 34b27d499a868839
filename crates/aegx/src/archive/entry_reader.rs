//! Streams the contents of one entry, and vouches for them.

use std::io::{self, BufRead as _, BufReader, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};
use rawzip::{CompressionMethod, FileReader, RangeReader};

use super::{ArchiveError, Entry, Rules};

/// The contents of an entry.
///
/// Yields exactly the declared number of bytes. The last of them come only after length and
/// checksum were found right; otherwise the read fails with
/// [`InvalidData`](io::ErrorKind::InvalidData), and so does every read after it.
pub struct EntryReader<'a> {
    source: BufReader<RangeReader<&'a FileReader>>,
    /// Absent if the entry is stored as it is.
    inflate: Option<Inflate>,
    checksum: Crc,
    remaining: u64,
    state: State,
    entry: &'a Entry,
    rules: Rules,
}

struct Inflate {
    stream: Decompress,
    ended: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Sound,
    Refused,
}

impl<'a> EntryReader<'a> {
    /// Reads the compressed bytes of `entry` from `range`.
    pub(super) fn new(
        range: RangeReader<&'a FileReader>,
        entry: &'a Entry,
        rules: Rules,
    ) -> Result<Self, ArchiveError> {
        entry.check_readable()?;
        let inflate = (entry.method == CompressionMethod::DEFLATE)
            .then(|| Inflate { stream: Decompress::new(false), ended: false });
        Ok(Self {
            source: BufReader::with_capacity(INPUT_BYTES, range),
            inflate,
            checksum: Crc::new(),
            remaining: entry.size(),
            state: State::Reading,
            entry,
            rules,
        })
    }

    fn read_checked(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let wanted = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(out.len());
        // Never more than declared: the rest of `out` stays out of the inflater's reach.
        let out = out.get_mut(..wanted).unwrap_or_default();
        let read = if out.is_empty() { 0 } else { self.fill(out)? };
        if read == 0 && self.remaining > 0 {
            return Err(self.wrong_size());
        }
        self.checksum.update(out.get(..read).unwrap_or_default());
        self.remaining -= read as u64;
        if self.remaining == 0 {
            self.check_end()?;
            self.state = State::Sound;
        }
        Ok(read)
    }

    /// Reads some bytes into `out`, which is not empty; none at the end of the stream.
    fn fill(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.inflate {
            None => {
                let read = self.source.read(out)?;
                if read == 0 && self.source.get_ref().remaining() > 0 {
                    return Err(truncated(self.entry));
                }
                Ok(read)
            }
            Some(inflate) => inflate.fill(&mut self.source, out, self.entry),
        }
    }

    /// Checks that nothing follows the declared bytes and that the checksum holds.
    fn check_end(&mut self) -> io::Result<()> {
        if self.fill(&mut [0])? != 0 {
            return Err(self.wrong_size());
        }
        // Upstream does not look for bytes between the end of the stream and that of the entry.
        if self.rules == Rules::Strict && !self.source.fill_buf()?.is_empty() {
            return Err(refusal(ArchiveError::ContentsCorrupt { name: self.entry.name.clone() }));
        }
        if self.checksum.sum() != self.entry.crc32 {
            return Err(refusal(ArchiveError::Checksum { name: self.entry.name.clone() }));
        }
        Ok(())
    }

    fn wrong_size(&self) -> io::Error {
        let name = self.entry.name.clone();
        refusal(ArchiveError::ContentsSize { name, declared: self.entry.size() })
    }
}

impl Read for EntryReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.state {
            State::Sound => return Ok(0),
            State::Refused => {
                let name = self.entry.name.clone();
                return Err(refusal(ArchiveError::ContentsCorrupt { name }));
            }
            State::Reading if out.is_empty() && self.remaining > 0 => return Ok(0),
            State::Reading => {}
        }
        let result = self.read_checked(out);
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::InvalidData) {
            self.state = State::Refused;
        }
        result
    }
}

impl Inflate {
    fn fill(
        &mut self,
        source: &mut BufReader<RangeReader<&FileReader>>,
        out: &mut [u8],
        entry: &Entry,
    ) -> io::Result<usize> {
        while !self.ended {
            let input = source.fill_buf()?;
            let no_input = input.is_empty();
            let (in_before, out_before) = (self.stream.total_in(), self.stream.total_out());
            let status = self.stream.decompress(input, out, FlushDecompress::None);
            // Both differences are at most the length of a slice.
            let consumed = (self.stream.total_in() - in_before) as usize;
            let produced = (self.stream.total_out() - out_before) as usize;
            source.consume(consumed);
            match status {
                Ok(Status::StreamEnd) => self.ended = true,
                Ok(Status::Ok | Status::BufError) if produced > 0 || consumed > 0 => {}
                Ok(Status::Ok | Status::BufError) if no_input => return Err(truncated(entry)),
                Ok(Status::Ok | Status::BufError) | Err(_) => {
                    let name = entry.name.clone();
                    return Err(refusal(ArchiveError::ContentsCorrupt { name }));
                }
            }
            if produced > 0 {
                return Ok(produced);
            }
        }
        Ok(0)
    }
}

fn truncated(entry: &Entry) -> io::Error {
    refusal(ArchiveError::ContentsTruncated { name: entry.name.clone() })
}

fn refusal(error: ArchiveError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

const INPUT_BYTES: usize = 64 << 10;
