//! What an archive may cost.

use super::ArchiveError;

/// Most entries of an archive.
pub const ENTRIES_MAX: u64 = 100_000;
/// Most bytes of one entry, inflated. Ten million records fit twice.
pub const ENTRY_BYTES_MAX: u64 = 16 << 30;
/// Most bytes of all entries together, inflated.
pub const TOTAL_BYTES_MAX: u64 = 64 << 30;
/// Most inflated bytes per byte of archive. JSON lines reach about 50.
pub const RATIO_MAX: u64 = 200;
/// Inflated bytes up to which the ratio does not matter.
pub const RATIO_FREE_BYTES: u64 = 64 << 20;
/// Most bytes of an entry's name.
pub const NAME_BYTES_MAX: usize = 1024;
/// Most bytes of the central directory: every name is kept in memory, so this bounds them all.
pub const DIRECTORY_BYTES_MAX: u64 = 64 << 20;
/// Most components of a name: each of them is remembered to find clashes.
pub const DEPTH_MAX: usize = 16;

/// Limits on what an archive declares. The bounds on names and on the directory are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most entries.
    pub entries: u64,
    /// Most bytes of one entry, inflated.
    pub entry_bytes: u64,
    /// Most bytes of all entries, inflated.
    pub total_bytes: u64,
    /// Most inflated bytes per byte of archive, once [`RATIO_FREE_BYTES`] are exceeded.
    pub ratio: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            entries: ENTRIES_MAX,
            entry_bytes: ENTRY_BYTES_MAX,
            total_bytes: TOTAL_BYTES_MAX,
            ratio: RATIO_MAX,
        }
    }
}

impl Limits {
    /// The limits of the upstream program, which knows no ratio.
    #[must_use]
    pub const fn upstream() -> Self {
        Self { entries: ENTRIES_MAX, entry_bytes: 1 << 30, total_bytes: 10 << 30, ratio: u64::MAX }
    }

    pub(super) fn check_entries(&self, entries: u64) -> Result<(), ArchiveError> {
        if entries > self.entries {
            return Err(ArchiveError::TooManyEntries { limit: self.entries });
        }
        Ok(())
    }

    pub(super) fn check_entry(&self, name: &str, bytes: u64) -> Result<(), ArchiveError> {
        if bytes > self.entry_bytes {
            let name = name.to_owned();
            return Err(ArchiveError::EntryTooBig { name, bytes, limit: self.entry_bytes });
        }
        Ok(())
    }

    pub(super) fn check_total(&self, bytes: u64) -> Result<(), ArchiveError> {
        if bytes > self.total_bytes {
            return Err(ArchiveError::TotalTooBig { bytes, limit: self.total_bytes });
        }
        Ok(())
    }

    pub(super) fn check_ratio(&self, bytes: u64, archive_bytes: u64) -> Result<(), ArchiveError> {
        if bytes > RATIO_FREE_BYTES && bytes > archive_bytes.saturating_mul(self.ratio) {
            return Err(ArchiveError::Bomb { bytes, archive_bytes, limit: self.ratio });
        }
        Ok(())
    }
}
