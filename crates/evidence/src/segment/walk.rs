//! Cuts the bytes of a segment into its parts, without judging them.

use super::format::{Header, NUMBER_MAX, Seal};

/// A cursor over a segment.
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// One part of a segment.
pub(crate) enum Item<'a> {
    /// A batch line, with the index it claims.
    Batch(u64),
    /// A record and its entry, without their newlines.
    Entry {
        /// Where the record begins in the segment.
        offset: u64,
        /// The record's line.
        record: &'a [u8],
        /// The entry's line.
        audit: &'a [u8],
    },
    /// The seal.
    Seal(Seal),
}

/// What stands at the cursor is no part of a segment, or only a piece of one.
#[derive(Debug)]
pub(crate) struct NotAPart;

pub(crate) const BATCH_START: &[u8] = b"{\"batch\":";
const RECORD_START: &[u8] = b"{\"recordId\":\"";
const AUDIT_START: &[u8] = b"{\"idx\":";
pub(crate) const SEAL_START: &[u8] = b"{\"sealed\":";

impl<'a> Walk<'a> {
    /// Reads the header and stands behind it.
    pub(crate) fn begin(bytes: &'a [u8]) -> Result<(Header, Self), NotAPart> {
        let mut walk = Self { bytes, at: 0 };
        let line = walk.line().ok_or(NotAPart)?;
        let header: Header = serde_json::from_slice(line).map_err(|_| NotAPart)?;
        let countable = header.segment <= NUMBER_MAX && header.first <= NUMBER_MAX;
        if countable { Ok((header, walk)) } else { Err(NotAPart) }
    }

    /// Goes on from an offset that a walk stood at before.
    pub(crate) fn resume(bytes: &'a [u8], offset: u64) -> Self {
        Self { bytes, at: usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len()) }
    }

    /// The next part; `None` at the end of the file or where only room is left.
    pub(crate) fn next(&mut self) -> Option<Result<Item<'a>, NotAPart>> {
        let start = self.at;
        match self.bytes.get(start..)?.first()? {
            0 => None,
            _ => {
                let item = self.part();
                if item.is_none() {
                    self.at = start;
                }
                Some(item.ok_or(NotAPart))
            }
        }
    }

    /// Where the cursor stands: behind the last part that was read.
    pub(crate) fn offset(&self) -> u64 {
        self.at as u64
    }

    fn part(&mut self) -> Option<Item<'a>> {
        let offset = self.offset();
        let line = self.line()?;
        if let Some(rest) = line.strip_prefix(BATCH_START) {
            let digits = std::str::from_utf8(rest.strip_suffix(b"}")?).ok()?;
            return Some(Item::Batch(digits.parse().ok()?));
        }
        if line.starts_with(SEAL_START) {
            return Some(Item::Seal(serde_json::from_slice(line).ok()?));
        }
        let audit = self.line()?;
        let whole = line.starts_with(RECORD_START) && audit.starts_with(AUDIT_START);
        let torn = memchr::memchr(0, line).is_some() || memchr::memchr(0, audit).is_some();
        (whole && !torn).then_some(Item::Entry { offset, record: line, audit })
    }

    fn line(&mut self) -> Option<&'a [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let end = memchr::memchr(b'\n', rest)?;
        self.at += end + 1;
        rest.get(..end)
    }
}
