//! Little-endian fields of a fixed header, in order.

use super::ArchiveError;

/// The rest of a header.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl Fields<'_> {
    /// The next two bytes.
    pub(super) fn u16(&mut self) -> Result<u16, ArchiveError> {
        self.take().map(u16::from_le_bytes)
    }

    /// The next four bytes.
    pub(super) fn u32(&mut self) -> Result<u32, ArchiveError> {
        self.take().map(u32::from_le_bytes)
    }

    /// The next eight bytes.
    pub(super) fn u64(&mut self) -> Result<u64, ArchiveError> {
        self.take().map(u64::from_le_bytes)
    }

    /// Passes over `bytes`.
    pub(super) fn skip(&mut self, bytes: usize) -> Result<(), ArchiveError> {
        self.0 = self.0.get(bytes..).ok_or(SHORT)?;
        Ok(())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ArchiveError> {
        let (head, rest) = self.0.split_first_chunk().ok_or(SHORT)?;
        self.0 = rest;
        Ok(*head)
    }
}

const SHORT: ArchiveError = ArchiveError::Truncated { what: "a header is incomplete" };
