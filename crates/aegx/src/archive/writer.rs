//! Writes an archive that the strict reader takes, the same bytes for the same contents.
//!
//! INVARIANT (Readable): what [`ArchiveWriter::finish`] puts in place opens under
//! [`Rules::Strict`](super::Rules::Strict). Names, sizes and counts are checked on the way in, and
//! contents that compress too well are partly copied, so that nobody can make evidence
//! unexportable by producing a bomb.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read};
use std::path::{Path, PathBuf};

use flate2::Crc;
use rawzip::time::UtcDateTime;
use rawzip::{CompressionMethod, DataDescriptorOutput, ZipArchiveWriter, ZipEntryWriter};

use super::deflate::{Deflater, Effort};
use super::limits::{DIRECTORY_BYTES_MAX, Limits, NAME_BYTES_MAX, RATIO_FREE_BYTES, RATIO_MAX};
use super::name_tree::NameTree;
use super::temporary::Temporary;
use super::{ArchiveError, names};

/// What to do if the target exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Refuse.
    No,
    /// Replace it, at the very end and at once.
    Yes,
}

/// An archive in the making. Nothing is left of it unless [`finish`](Self::finish) succeeds.
pub struct ArchiveWriter {
    zip: ZipArchiveWriter<BufWriter<File>>,
    temporary: Temporary,
    permissions: fs::Permissions,
    target: PathBuf,
    overwrite: Overwrite,
    names: NameTree,
    limits: Limits,
    entries: u64,
    directory_bytes: u64,
    total: u64,
    broken: bool,
}

impl ArchiveWriter {
    /// Starts an archive that will be at `path`.
    pub fn create(path: &Path, overwrite: Overwrite) -> Result<Self, ArchiveError> {
        if overwrite == Overwrite::No && fs::symlink_metadata(path).is_ok() {
            return Err(ArchiveError::TargetExists { path: path.to_owned() });
        }
        let (temporary, file, permissions) =
            Temporary::file_beside(path).map_err(ArchiveError::io("create", path))?;
        Ok(Self {
            zip: ZipArchiveWriter::new(BufWriter::with_capacity(CHUNK_BYTES, file)),
            temporary,
            permissions,
            target: path.to_owned(),
            overwrite,
            names: NameTree::default(),
            limits: Limits::default(),
            entries: 0,
            directory_bytes: 0,
            total: 0,
            broken: false,
        })
    }

    /// Adds the directory `name`, with or without its trailing slash.
    pub fn add_directory(&mut self, name: &str) -> Result<(), ArchiveError> {
        let name = format!("{}/", name.strip_suffix('/').unwrap_or(name));
        self.admit(&name)?;
        let added = self
            .zip
            .new_dir(&name)
            .unix_permissions(DIRECTORY_MODE)
            .last_modified(UtcDateTime::from_unix(DATE))
            .create()
            .map_err(ArchiveError::zip("write", &self.target));
        self.broken |= added.is_err();
        added.map(|_| ())
    }

    /// Adds the file `name` with all that `contents` yields, and says how many bytes that was.
    ///
    /// After an error the archive cannot be finished.
    pub fn add_file(&mut self, name: &str, contents: impl Read) -> Result<u64, ArchiveError> {
        // The library below would drop the slash.
        if name.ends_with('/') {
            return Err(ArchiveError::NameEmptyComponent { name: name.to_owned() });
        }
        self.admit(name)?;
        let added = self.write_file(name, contents);
        self.broken |= added.is_err();
        added
    }

    /// Puts the archive in place, and on the disk.
    pub fn finish(self) -> Result<(), ArchiveError> {
        if self.broken {
            return Err(ArchiveError::WriterBroken);
        }
        let target = self.target;
        let archive_bytes = self.zip.stream_offset();
        // Cannot fail by INVARIANT (Readable); kept as its other half.
        self.limits.check_ratio(self.total, archive_bytes)?;

        let buffered = self.zip.finish().map_err(ArchiveError::zip("write", &target))?;
        let in_place = || -> io::Result<()> {
            let file = buffered.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.set_permissions(self.permissions)?;
            file.sync_all()?;
            match self.overwrite {
                Overwrite::No => self.temporary.place(&target),
                Overwrite::Yes => self.temporary.replace(&target),
            }
        };
        in_place().map_err(|error| {
            if error.kind() == io::ErrorKind::AlreadyExists {
                return ArchiveError::TargetExists { path: target.clone() };
            }
            ArchiveError::io("write", &target)(error)
        })
    }

    /// Upholds INVARIANT (Readable) for names and counts.
    fn admit(&mut self, name: &str) -> Result<(), ArchiveError> {
        if self.broken {
            return Err(ArchiveError::WriterBroken);
        }
        if name.len() > NAME_BYTES_MAX {
            return Err(ArchiveError::NameTooLong { bytes: name.len(), limit: NAME_BYTES_MAX });
        }
        names::decode(name.as_bytes())?;
        names::check(name)?;
        names::check_strict(name)?;

        let entries = self.entries + 1;
        self.limits.check_entries(entries)?;
        let directory_bytes = self.directory_bytes + RECORD_BYTES_MAX + name.len() as u64;
        if directory_bytes > DIRECTORY_BYTES_MAX {
            let limit = DIRECTORY_BYTES_MAX;
            return Err(ArchiveError::DirectoryTooBig { bytes: directory_bytes, limit });
        }
        self.names.insert(name)?;
        self.entries = entries;
        self.directory_bytes = directory_bytes;
        Ok(())
    }

    fn write_file(&mut self, name: &str, mut contents: impl Read) -> Result<u64, ArchiveError> {
        let target = &self.target;
        let (mut entry, _) = self
            .zip
            .new_file(name)
            .compression_method(CompressionMethod::DEFLATE)
            .unix_permissions(FILE_MODE)
            .last_modified(UtcDateTime::from_unix(DATE))
            .start()
            .map_err(ArchiveError::zip("write", target))?;

        let mut deflater = Deflater::new();
        let mut checksum = Crc::new();
        let mut size = 0;
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        loop {
            // Full chunks, however the source cuts its own: the bytes written depend on it.
            chunk.clear();
            contents
                .by_ref()
                .take(CHUNK_BYTES as u64)
                .read_to_end(&mut chunk)
                .map_err(ArchiveError::io("read what goes into", target))?;
            if chunk.is_empty() {
                break;
            }
            size += chunk.len() as u64;
            self.total += chunk.len() as u64;
            // Upholds INVARIANT (Readable) for sizes.
            self.limits.check_entry(name, size)?;
            self.limits.check_total(self.total)?;
            checksum.update(&chunk);
            deflater
                .write(&chunk, effort(self.total, &entry), &mut entry)
                .map_err(ArchiveError::io("write", target))?;
        }
        deflater.finish(&mut entry).map_err(ArchiveError::io("write", target))?;
        entry
            .finish(DataDescriptorOutput::new(checksum.sum(), size))
            .map_err(ArchiveError::zip("write", target))?;
        Ok(size)
    }
}

/// Upholds INVARIANT (Readable) for the ratio: well before it is reached, bytes are copied.
fn effort<W>(total: u64, entry: &ZipEntryWriter<'_, W>) -> Effort {
    let compresses_too_well = total > entry.stream_offset().saturating_mul(RATIO_MAX / 2);
    if total > RATIO_FREE_BYTES / 2 && compresses_too_well { Effort::None } else { Effort::Usual }
}

const CHUNK_BYTES: usize = 64 << 10;
/// A directory record without its name: fixed part, timestamp, 64-bit fields.
const RECORD_BYTES_MAX: u64 = 46 + 9 + 28;
/// 1980-01-01, the first day the format knows: contents alone decide the bytes.
const DATE: i64 = 315_532_800;
const FILE_MODE: u32 = 0o100_644;
const DIRECTORY_MODE: u32 = 0o040_755;
