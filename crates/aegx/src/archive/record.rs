//! One entry as the central directory describes it.

use rawzip::extra_fields::{ExtraFieldId, ExtraFields};
use rawzip::{
    CompressionMethod, EntryFlags, ReaderAt, ZipArchiveEntryWayfinder, ZipFileHeaderRecord,
};

use super::fields::Fields;
use super::{ArchiveError, names};

/// A file or directory of an archive.
#[derive(Clone, Debug)]
pub struct Entry {
    pub(super) name: String,
    pub(super) crc32: u32,
    pub(super) flags: EntryFlags,
    pub(super) method: CompressionMethod,
    pub(super) local_offset: u64,
    pub(super) wayfinder: ZipArchiveEntryWayfinder,
    /// The file type bits of the unix mode; 0 if the entry does not say.
    file_type: u32,
}

impl Entry {
    /// The name, with a trailing slash if it is a directory.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Declared number of bytes. Reading yields exactly as many, or an error.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.wayfinder.uncompressed_size_hint()
    }

    /// Number of bytes in the archive.
    #[must_use]
    pub fn compressed_size(&self) -> u64 {
        self.wayfinder.compressed_size_hint()
    }

    /// Whether the entry is a directory.
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.name.ends_with('/')
    }

    pub(super) fn read(record: &ZipFileHeaderRecord<'_>) -> Result<Self, ArchiveError> {
        Ok(Self {
            name: names::decode(record.file_path().as_bytes())?.to_owned(),
            crc32: record.crc32(),
            flags: record.flags(),
            method: record.compression_method(),
            local_offset: record.local_header_offset(),
            wayfinder: record.wayfinder(),
            // Whatever system it claims to come from: only unix has a use for these bits.
            file_type: (record.external_attributes() >> 16) & S_IFMT,
        })
    }

    pub(super) fn is_symlink(&self) -> bool {
        self.file_type == S_IFLNK
    }

    /// Type, flags and method, without looking at anything but the entry.
    pub(super) fn check_strict(&self) -> Result<(), ArchiveError> {
        let name = || self.name.clone();
        let wanted = if self.is_dir() { S_IFDIR } else { S_IFREG };
        if self.file_type != 0 && self.file_type != wanted {
            return Err(ArchiveError::FileType { name: name() });
        }
        if self.is_dir() && (self.size() != 0 || self.compressed_size() != 0) {
            return Err(ArchiveError::DirectoryWithData { name: name() });
        }
        self.check_readable()?;
        let stored = self.method == CompressionMethod::STORE;
        // A program that reads from the front cannot tell where such an entry ends.
        let endless = stored && self.flags.has_data_descriptor();
        if endless || self.flags.bits() & !FLAGS_KNOWN != 0 {
            return Err(ArchiveError::Flags { name: name(), flags: self.flags.bits() });
        }
        if stored && self.size() != self.compressed_size() {
            return Err(ArchiveError::ContentsSize { name: name(), declared: self.size() });
        }
        if !self.name.is_ascii() && !self.flags.is_utf8() {
            return Err(ArchiveError::NameEncoding { name: name() });
        }
        Ok(())
    }

    /// Whether the contents can be read at all.
    pub(super) fn check_readable(&self) -> Result<(), ArchiveError> {
        let flags = self.flags;
        if flags.is_encrypted() || flags.has_strong_encryption() || flags.is_masked() {
            return Err(ArchiveError::Encrypted { name: self.name.clone() });
        }
        if self.method != CompressionMethod::STORE && self.method != CompressionMethod::DEFLATE {
            let method = self.method.as_u16();
            return Err(ArchiveError::Method { name: self.name.clone(), method });
        }
        Ok(())
    }
}

/// Checks what the parsed record no longer shows: disk number and 64-bit fields.
pub(super) fn check_raw(
    source: &impl ReaderAt,
    record: &ZipFileHeaderRecord<'_>,
    entry: &Entry,
) -> Result<(), ArchiveError> {
    let mut header = [0; RECORD_BYTES];
    source
        .read_exact_at(&mut header, record.central_directory_offset())
        .map_err(|_| ArchiveError::Truncated { what: "the directory is incomplete" })?;
    let mut fields = Fields(&header);
    fields.skip(20)?;
    let compressed_size = fields.u32()?;
    let size = fields.u32()?;
    fields.skip(6)?;
    let disk = fields.u16()?;
    fields.skip(6)?;
    let local_offset = fields.u32()?;

    if disk != 0 {
        return Err(ArchiveError::MultiDisk);
    }
    let wide = [compressed_size, size, local_offset].iter().filter(|&&v| v == u32::MAX).count();
    check_extra(record.extra_fields(), wide, entry)
}

/// Checks that the extra fields say nothing about the entry but its `wide` 64-bit fields.
pub(super) fn check_extra(
    mut extra: ExtraFields<'_>,
    wide: usize,
    entry: &Entry,
) -> Result<(), ArchiveError> {
    let refused = || ArchiveError::ExtraField { name: entry.name.clone() };

    let mut zip64 = None;
    for (id, data) in extra.by_ref() {
        if CHANGES_MEANING.contains(&id) {
            return Err(refused());
        }
        if id == ExtraFieldId::ZIP64 && zip64.replace(data.len()).is_some() {
            return Err(refused());
        }
    }
    let expected = if wide == 0 { None } else { Some(wide * size_of::<u64>()) };
    if zip64 != expected || !extra.remaining_bytes().is_empty() {
        return Err(refused());
    }
    Ok(())
}

const RECORD_BYTES: usize = 46;

/// Another name for the entry, or encryption.
const CHANGES_MEANING: [ExtraFieldId; 4] = [
    ExtraFieldId::INFO_ZIP_UNICODE_PATH,
    ExtraFieldId::EXTENDED_LANGUAGE_ENCODING,
    ExtraFieldId::AES,
    ExtraFieldId::STRONG_ENCRYPTION_HEADER,
];

/// Deflate's effort (1, 2), data descriptor (3), UTF-8 (11).
const FLAGS_KNOWN: u16 = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 11;

const S_IFMT: u32 = 0o170_000;
const S_IFLNK: u32 = 0o120_000;
const S_IFREG: u32 = 0o100_000;
const S_IFDIR: u32 = 0o040_000;
