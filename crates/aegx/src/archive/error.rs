//! Why an archive was refused.

use std::io;
use std::path::{Path, PathBuf};

use rawzip::ErrorKind;
use thiserror::Error;

/// Why an archive could not be read, written or extracted.
///
/// Names are the archive's own words and may hold anything; messages escape them.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant is its documentation")]
pub enum ArchiveError {
    #[error("cannot {action} `{}`", shown(.path))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("`{}` is not a regular file", shown(.path))]
    NotAFile { path: PathBuf },

    // The archive as a whole.
    #[error("no end-of-directory record: not a zip archive, or cut short")]
    EndMissing,
    #[error("the archive is cut short: {what}")]
    Truncated { what: &'static str },
    #[error("the archive is corrupt: {what}")]
    Corrupt { what: String },
    #[error("more than {limit} entries")]
    TooManyEntries { limit: u64 },
    #[error("the directory has {bytes} bytes, the limit is {limit}")]
    DirectoryTooBig { bytes: u64, limit: u64 },
    #[error("{declared} entries are declared, {found} found")]
    EntryCount { declared: u64, found: u64 },
    #[error("the entries inflate to {bytes} bytes, the limit is {limit}")]
    TotalTooBig { bytes: u64, limit: u64 },
    #[error("{archive_bytes} bytes would inflate to {bytes}, more than {limit} times as many")]
    Bomb { bytes: u64, archive_bytes: u64, limit: u64 },
    #[error("the archive has a comment")]
    Comment,
    #[error("{bytes} bytes follow the end of the archive")]
    TrailingBytes { bytes: u64 },
    #[error("{bytes} bytes come before the first entry")]
    LeadingBytes { bytes: u64 },
    #[error("{bytes} bytes at offset {offset} belong to no entry")]
    Gap { offset: u64, bytes: u64 },
    #[error("the archive is part of a set")]
    MultiDisk,
    #[error("the end records contradict each other: {what}")]
    EndMismatch { what: &'static str },

    // Names.
    #[error("the name `{}` is not UTF-8, or is not marked as UTF-8", .name.escape_debug())]
    NameEncoding { name: String },
    #[error("a name has {bytes} bytes, the limit is {limit}")]
    NameTooLong { bytes: usize, limit: usize },
    #[error("an entry has an empty name")]
    NameEmpty,
    #[error("the name `{}` is absolute", .name.escape_debug())]
    AbsoluteName { name: String },
    #[error("the name `{}` climbs out with `..`", .name.escape_debug())]
    PathTraversal { name: String },
    #[error("the name `{}` has a NUL", .name.escape_debug())]
    NameNul { name: String },
    #[error("the name `{}` has a control character", .name.escape_debug())]
    NameControl { name: String },
    #[error("the name `{}` has a backslash", .name.escape_debug())]
    NameBackslash { name: String },
    #[error("the name `{}` has a colon", .name.escape_debug())]
    NameColon { name: String },
    #[error("the name `{}` has a `.` component", .name.escape_debug())]
    NameDot { name: String },
    #[error("the name `{}` has an empty component", .name.escape_debug())]
    NameEmptyComponent { name: String },
    #[error("a component of the name `{}` ends in a space or dot", .name.escape_debug())]
    NameTrailing { name: String },
    #[error("the name `{}` has more than {limit} components", .name.escape_debug())]
    NameTooDeep { name: String, limit: usize },
    #[error("the name `{}` occurs twice", .name.escape_debug())]
    DuplicateName { name: String },
    #[error("the name `{}` differs from another only by case or encoding", .name.escape_debug())]
    NameClash { name: String },
    #[error("`{}` is in the way of a directory, or the reverse", .name.escape_debug())]
    FileAndDirectory { name: String },

    // Entries.
    #[error("the entry `{}` is a symbolic link", .name.escape_debug())]
    Symlink { name: String },
    #[error("the entry `{}` is neither a plain file nor a directory, or not the one its name says", .name.escape_debug())]
    FileType { name: String },
    #[error("the directory `{}` has contents of its own", .name.escape_debug())]
    DirectoryWithData { name: String },
    #[error("the entry `{}` has {bytes} bytes, the limit is {limit}", .name.escape_debug())]
    EntryTooBig { name: String, bytes: u64, limit: u64 },
    #[error("the entry `{}` is encrypted", .name.escape_debug())]
    Encrypted { name: String },
    #[error("the entry `{}` has the unknown compression method {method}", .name.escape_debug())]
    Method { name: String, method: u16 },
    #[error("the entry `{}` has the unsupported flags {flags:#06x}", .name.escape_debug())]
    Flags { name: String, flags: u16 },
    #[error("the entry `{}` has an extra field that could change its meaning", .name.escape_debug())]
    ExtraField { name: String },
    #[error("the entry `{}` has another {field} in its own header than in the directory", .name.escape_debug())]
    LocalMismatch { name: String, field: &'static str },
    #[error("the bytes after the entry `{}` contradict the directory", .name.escape_debug())]
    DescriptorMismatch { name: String },
    #[error("the entry `{}` overlaps what follows it", .name.escape_debug())]
    Overlap { name: String },

    // Contents.
    #[error("the contents of `{}` are cut short", .name.escape_debug())]
    ContentsTruncated { name: String },
    #[error("the contents of `{}` are corrupt", .name.escape_debug())]
    ContentsCorrupt { name: String },
    #[error("the contents of `{}` are not the declared {declared} bytes", .name.escape_debug())]
    ContentsSize { name: String, declared: u64 },
    #[error("the contents of `{}` do not match their checksum", .name.escape_debug())]
    Checksum { name: String },

    // Output.
    #[error("`{}` exists already", shown(.path))]
    TargetExists { path: PathBuf },
    #[error("`{}` exists and is not an empty directory", shown(.path))]
    OutputNotEmpty { path: PathBuf },
    #[error("an earlier entry failed, so the archive cannot be finished")]
    WriterBroken,
}

impl ArchiveError {
    /// A stable name of the variant, for programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "zip_io",
            Self::NotAFile { .. } => "zip_not_a_file",
            Self::EndMissing => "zip_end_missing",
            Self::Truncated { .. } | Self::ContentsTruncated { .. } => "zip_truncated",
            Self::Corrupt { .. } | Self::ContentsCorrupt { .. } => "zip_corrupt",
            Self::TooManyEntries { .. } => "zip_too_many_entries",
            Self::DirectoryTooBig { .. } => "zip_directory_too_big",
            Self::EntryCount { .. } => "zip_entry_count",
            Self::TotalTooBig { .. } => "zip_total_too_big",
            Self::Bomb { .. } => "zip_bomb",
            Self::Comment => "zip_comment",
            Self::TrailingBytes { .. } => "zip_trailing_bytes",
            Self::LeadingBytes { .. } => "zip_leading_bytes",
            Self::Gap { .. } => "zip_gap",
            Self::MultiDisk => "zip_multi_disk",
            Self::EndMismatch { .. } => "zip_end_mismatch",
            Self::NameEncoding { .. } => "zip_name_encoding",
            Self::NameTooLong { .. } => "zip_name_too_long",
            Self::NameEmpty => "zip_name_empty",
            Self::AbsoluteName { .. } => "zip_absolute_name",
            Self::PathTraversal { .. } => "zip_path_traversal",
            Self::NameNul { .. } => "zip_name_nul",
            Self::NameControl { .. } => "zip_name_control",
            Self::NameBackslash { .. } => "zip_name_backslash",
            Self::NameColon { .. } => "zip_name_colon",
            Self::NameDot { .. } => "zip_name_dot",
            Self::NameEmptyComponent { .. } => "zip_name_empty_component",
            Self::NameTrailing { .. } => "zip_name_trailing",
            Self::NameTooDeep { .. } => "zip_name_too_deep",
            Self::DuplicateName { .. } => "zip_duplicate_name",
            Self::NameClash { .. } => "zip_name_clash",
            Self::FileAndDirectory { .. } => "zip_file_and_directory",
            Self::Symlink { .. } => "zip_symlink",
            Self::FileType { .. } => "zip_file_type",
            Self::DirectoryWithData { .. } => "zip_directory_with_data",
            Self::EntryTooBig { .. } => "zip_entry_too_big",
            Self::Encrypted { .. } => "zip_encrypted",
            Self::Method { .. } => "zip_method",
            Self::Flags { .. } => "zip_flags",
            Self::ExtraField { .. } => "zip_extra_field",
            Self::LocalMismatch { .. } => "zip_local_mismatch",
            Self::DescriptorMismatch { .. } => "zip_descriptor_mismatch",
            Self::Overlap { .. } => "zip_overlap",
            Self::ContentsSize { .. } => "zip_size_mismatch",
            Self::Checksum { .. } => "zip_checksum",
            Self::TargetExists { .. } => "zip_target_exists",
            Self::OutputNotEmpty { .. } => "zip_output_not_empty",
            Self::WriterBroken => "zip_writer_broken",
        }
    }

    /// For `map_err` after a call on `path`.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// For `map_err` after a call on the archive at `path`.
    pub(super) fn zip(action: &'static str, path: &Path) -> impl FnOnce(rawzip::Error) -> Self {
        let path = path.to_owned();
        move |error| match error.into_kind() {
            // What the system says of an offset that no file can have.
            ErrorKind::IO(e) if e.kind() == io::ErrorKind::InvalidInput => CUT,
            ErrorKind::IO(e) if e.kind() == io::ErrorKind::UnexpectedEof => CUT,
            ErrorKind::Eof => CUT,
            ErrorKind::IO(source) => Self::Io { action, path, source },
            ErrorKind::MissingEndOfCentralDirectory => Self::EndMissing,
            ErrorKind::InvalidEndOfCentralDirectory => {
                Self::EndMismatch { what: "the directory starts after its end" }
            }
            kind @ (ErrorKind::BufferTooSmall { .. }
            | ErrorKind::InvalidSignature { .. }
            | ErrorKind::InvalidChecksum { .. }
            | ErrorKind::InvalidSize { .. }
            | ErrorKind::InvalidUtf8(_)
            | ErrorKind::InvalidInput { .. }
            | _) => Self::Corrupt { what: kind.to_string().to_lowercase() },
        }
    }

    /// For `map_err` after reading from an `EntryReader` of the archive at `path`.
    pub(super) fn contents(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| {
            source.downcast::<Self>().unwrap_or_else(|source| Self::Io {
                action: "read",
                path,
                source,
            })
        }
    }
}

const CUT: ArchiveError = ArchiveError::Truncated { what: "a header points past the end" };

fn shown(path: &Path) -> String {
    path.display().to_string().escape_debug().to_string()
}
