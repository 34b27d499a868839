//! Checks that the end records are where they must be and agree with each other.
//!
//! A reader that searches for the end record, trusts one of its two forms, or takes the directory
//! to start where the record says rather than where it must, sees another archive than its
//! neighbour. So all of them have to lead to the same place.

use rawzip::{FileReader, ReaderAt, ZipArchive};

use super::ArchiveError;
use super::fields::Fields;

/// Where the directory starts, if there is only one way to see it.
pub(super) fn check(zip: &ZipArchive<FileReader>, file_bytes: u64) -> Result<u64, ArchiveError> {
    let end_at = zip.eocd_offset();
    if zip.comment().remaining() != 0 {
        return Err(ArchiveError::Comment);
    }
    if zip.end_offset() != file_bytes {
        let bytes = file_bytes.saturating_sub(zip.end_offset());
        return Err(ArchiveError::TrailingBytes { bytes });
    }

    let source = zip.get_ref();
    let end = End::read(source, end_at)?;
    let wide = match end_at.checked_sub(LOCATOR_BYTES as u64) {
        Some(locator_at) => End::read_wide(source, locator_at)?,
        None => None,
    };
    let (whole, directory_end) = match wide {
        Some((wide, wide_at)) => (end.widened_by(wide)?, wide_at),
        None if end.has_sentinel() => return Err(mismatch("a 64-bit record is missing")),
        None => (end, end_at),
    };

    if whole.disk != 0 || whole.directory_disk != 0 || whole.entries_here != whole.entries {
        return Err(ArchiveError::MultiDisk);
    }
    match whole.directory_offset.checked_add(whole.directory_bytes) {
        Some(end) if end == directory_end => {}
        Some(end) if end < directory_end => {
            // Either junk in front, which shifts all offsets, or junk behind the directory.
            return Err(ArchiveError::LeadingBytes { bytes: directory_end - end });
        }
        Some(_) | None => return Err(mismatch("the directory reaches past its end")),
    }
    if zip.directory_offset() != whole.directory_offset || zip.entries_hint() != whole.entries {
        return Err(mismatch("the directory is elsewhere"));
    }
    Ok(whole.directory_offset)
}

/// Either form of the end record.
#[derive(Clone, Copy)]
struct End {
    disk: u64,
    directory_disk: u64,
    entries_here: u64,
    entries: u64,
    directory_bytes: u64,
    directory_offset: u64,
}

impl End {
    fn read(source: &impl ReaderAt, at: u64) -> Result<Self, ArchiveError> {
        let record = read_at::<END_BYTES>(source, at)?;
        let mut fields = Fields(&record);
        fields.skip(4)?;
        Ok(Self {
            disk: fields.u16()?.into(),
            directory_disk: fields.u16()?.into(),
            entries_here: fields.u16()?.into(),
            entries: fields.u16()?.into(),
            directory_bytes: fields.u32()?.into(),
            directory_offset: fields.u32()?.into(),
        })
    }

    /// The 64-bit form and its place, if there is a locator for it.
    fn read_wide(
        source: &impl ReaderAt,
        locator_at: u64,
    ) -> Result<Option<(Self, u64)>, ArchiveError> {
        let locator = read_at::<LOCATOR_BYTES>(source, locator_at)?;
        let mut fields = Fields(&locator);
        if fields.u32()? != LOCATOR_SIGNATURE {
            return Ok(None);
        }
        let wide_disk = fields.u32()?;
        let at = fields.u64()?;
        if wide_disk != 0 || fields.u32()? > 1 {
            return Err(ArchiveError::MultiDisk);
        }
        if at.checked_add(WIDE_END_BYTES as u64) != Some(locator_at) {
            return Err(mismatch("the 64-bit record is elsewhere"));
        }

        let record = read_at::<WIDE_END_BYTES>(source, at)?;
        let mut fields = Fields(&record);
        if fields.u32()? != WIDE_END_SIGNATURE || fields.u64()? != WIDE_END_BYTES as u64 - 12 {
            return Err(mismatch("the 64-bit record is malformed"));
        }
        fields.skip(4)?;
        let end = Self {
            disk: fields.u32()?.into(),
            directory_disk: fields.u32()?.into(),
            entries_here: fields.u64()?,
            entries: fields.u64()?,
            directory_bytes: fields.u64()?,
            directory_offset: fields.u64()?,
        };
        Ok(Some((end, at)))
    }

    /// `wide`, if every field of `self` repeats it or stands aside.
    fn widened_by(self, wide: Self) -> Result<Self, ArchiveError> {
        let agrees = agrees(self.disk, wide.disk, U16)
            && agrees(self.directory_disk, wide.directory_disk, U16)
            && agrees(self.entries_here, wide.entries_here, U16)
            && agrees(self.entries, wide.entries, U16)
            && agrees(self.directory_bytes, wide.directory_bytes, U32)
            && agrees(self.directory_offset, wide.directory_offset, U32);
        if agrees { Ok(wide) } else { Err(mismatch("the two records differ")) }
    }

    const fn has_sentinel(&self) -> bool {
        self.entries == U16 || self.directory_bytes == U32 || self.directory_offset == U32
    }
}

const fn agrees(narrow: u64, wide: u64, sentinel: u64) -> bool {
    narrow == wide || narrow == sentinel
}

fn read_at<const N: usize>(source: &impl ReaderAt, at: u64) -> Result<[u8; N], ArchiveError> {
    let mut bytes = [0; N];
    source
        .read_exact_at(&mut bytes, at)
        .map_err(|_| ArchiveError::Truncated { what: "an end record is incomplete" })?;
    Ok(bytes)
}

const fn mismatch(what: &'static str) -> ArchiveError {
    ArchiveError::EndMismatch { what }
}

const END_BYTES: usize = 22;
const LOCATOR_BYTES: usize = 20;
const LOCATOR_SIGNATURE: u32 = 0x0706_4b50;
const WIDE_END_BYTES: usize = 56;
const WIDE_END_SIGNATURE: u32 = 0x0606_4b50;

const U16: u64 = 0xffff;
const U32: u64 = 0xffff_ffff;
