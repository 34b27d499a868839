//! What verification can find, each with a stable code.

use std::fmt;
use std::io;

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use crate::archive::ArchiveError;

/// One thing that is wrong with a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing.
    pub code: Code,
    /// The more precise code of an archive that was refused.
    pub archive: Option<&'static str>,
    /// Where: a file of the bundle, with the line where there is one.
    pub at: String,
    /// What was expected and what stood there.
    pub detail: String,
}

impl Finding {
    /// A finding whose texts are fit to be shown, whatever the bundle put into them.
    #[must_use]
    pub fn new(code: Code, at: impl fmt::Display, detail: impl fmt::Display) -> Self {
        let (at, detail) = (shown(&at.to_string()), shown(&detail.to_string()));
        Self { code, archive: None, at, detail }
    }

    /// An archive that was refused.
    #[must_use]
    pub fn of_archive(at: impl fmt::Display, error: &ArchiveError) -> Self {
        Self { archive: Some(error.code()), ..Self::new(Code::Archive, at, error) }
    }

    /// A file that cannot be read, perhaps because the archive that holds it is to blame.
    pub(crate) fn of_unreadable(at: impl fmt::Display, error: io::Error) -> Self {
        match error.downcast::<ArchiveError>() {
            Ok(error) => Self::of_archive(at, &error),
            Err(error) => Self::new(Code::FileUnreadable, at, error),
        }
    }

    /// The most precise code there is.
    #[must_use]
    pub fn code_text(&self) -> &'static str {
        self.archive.unwrap_or(self.code.as_str())
    }
}

/// Longer texts are cut; a bundle may hold a megabyte where an id should be.
const TEXT_CHARS_MAX: usize = 400;

fn shown(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS_MAX) {
        Some((end, _)) => printable(text.get(..end).unwrap_or_default()) + "…",
        None => printable(text),
    }
}

/// Text of unknown origin for a terminal or a log: what could forge a line, repaint the screen or
/// reverse the reading order is written as an escape.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if is_hidden(char) {
            out.extend(char.escape_unicode());
        } else {
            out.push(char);
        }
    }
    out
}

/// Can this character act on a terminal, hide or turn around the text beside it, or pass for a blank or
/// for nothing?
#[must_use]
pub fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(
            char,
            '\u{a0}'
                | '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{1680}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{2000}'..='\u{200f}'
                | '\u{2028}'..='\u{202f}'
                | '\u{205f}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3000}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} [{}]", self.at, self.detail, self.code_text())
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut object = out.serialize_struct("Finding", 3)?;
        object.serialize_field("code", self.code_text())?;
        object.serialize_field("at", &self.at)?;
        object.serialize_field("detail", &self.detail)?;
        object.end()
    }
}

/// How bad a finding is, in upstream's order; the worst decides the exit code in compat mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Upstream accepts it; strict verification does not.
    Strict,
    /// A hash, a count or a reference is false.
    Integrity,
    /// The right shape of JSON, but not of a record, an entry or a manifest.
    Schema,
    /// Cannot be read at all.
    Unreadable,
}

macro_rules! codes {
    ($($class:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)+ })+) => {
        /// The kind of a finding. The text is stable; others script against it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($($(#[$doc])* $variant,)+)+
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Self] = &[$($(Self::$variant),+),+];

            /// The stable text.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(Self::$variant => $text,)+)+
                }
            }

            /// How bad it is.
            #[must_use]
            pub const fn class(self) -> Class {
                match self {
                    $($(Self::$variant)|+ => Class::$class,)+
                }
            }
        }
    };
}

codes! {
    Unreadable {
        /// A file of the bundle is missing or cannot be read.
        FileUnreadable = "file_unreadable",
        /// `manifest.json` is not JSON.
        ManifestParse = "manifest_parse",
        /// A line of `records.jsonl` is not a record.
        RecordParse = "record_parse",
        /// A line of `audit-log.jsonl` is not an entry.
        AuditParse = "audit_parse",
        /// A line is longer than the limit.
        LineTooLong = "line_too_long",
        /// The archive cannot be trusted to hold what it lists.
        Archive = "archive",
    }
    Schema {
        /// A manifest field is missing, unknown or of the wrong kind.
        ManifestSchema = "manifest_schema",
        /// A record field is of the wrong kind.
        RecordSchema = "record_schema",
        /// An audit field is of the wrong kind.
        AuditSchema = "audit_schema",
    }
    Integrity {
        /// The content of a record does not have the id it claims.
        RecordId = "record_id",
        /// A parent is no record of the bundle.
        ParentMissing = "parent_missing",
        /// A blob that a record names is not there.
        BlobMissing = "blob_missing",
        /// A blob that a record names does not have the hash of its name.
        BlobHash = "blob_hash",
        /// An entry does not stand where its `idx` says.
        AuditIdx = "audit_idx",
        /// An entry does not hold the hash of the one before.
        AuditPrev = "audit_prev",
        /// An entry does not have the hash it claims.
        AuditHash = "audit_hash",
        /// The manifest's `audit_head` is not the hash of the last entry.
        AuditHead = "audit_head",
        /// The manifest's `record_count` is false.
        RecordCount = "record_count",
        /// The manifest's `blob_count` is false.
        BlobCount = "blob_count",
        /// The manifest names a root that is no record.
        RootMissing = "root_missing",
        /// An older format: whatever its own verifier rejects.
        Legacy = "legacy",
    }
    Strict {
        /// A record and the audit entry at its place are not about the same thing.
        AuditRecordMismatch = "audit_record_mismatch",
        /// The time of an audit entry is not the time of its record.
        AuditTime = "audit_time",
        /// A record without an audit entry.
        RecordUnaudited = "record_unaudited",
        /// An audit entry without a record.
        AuditWithoutRecord = "audit_without_record",
        /// A parent that stands after its child.
        ParentAfterChild = "parent_after_child",
        /// A field that no hash covers because the format does not know it.
        UnknownField = "unknown_field",
        /// A key that stands twice in one object: readers disagree on which counts.
        DuplicateKey = "duplicate_key",
        /// A payload with both shapes: one hides the other.
        PayloadShadowed = "payload_shadowed",
        /// `extensions` of a record, which no hash covers.
        ExtensionsUnhashed = "extensions_unhashed",
        /// A record without `schema`, which the writer always writes.
        SchemaMissing = "schema_missing",
        /// Text that is not in Unicode normal form C, in which it is hashed.
        TextNotNfc = "text_not_nfc",
        /// Text with a code point that the pinned version of Unicode does not know.
        TextUnassigned = "text_unassigned",
        /// A number that is not spelled as it would be stored, or does not stay what it is.
        NumberUnstable = "number_unstable",
        /// White space in or around a line.
        LineWhitespace = "line_whitespace",
        /// A line that ends with a carriage return.
        LineEnding = "line_ending",
        /// A line with nothing on it.
        BlankLine = "blank_line",
        /// The last line does not end.
        FinalNewline = "final_newline",
        /// Keys out of the stored order.
        KeyOrder = "key_order",
        /// Any other way in which a line is not what the writer stores.
        StoredForm = "stored_form",
        /// A time that looks right but is no date.
        TimeImpossible = "time_impossible",
        /// `size` of a payload is not the length of the blob.
        BlobSize = "blob_size",
        /// A blob that no record names, so that nothing would notice if it came or went.
        BlobUnreferenced = "blob_unreferenced",
        /// A blob that no record names and that does not have the hash of its name.
        BlobUnreferencedHash = "blob_unreferenced_hash",
        /// Something in `blobs/` that is no blob.
        BlobName = "blob_name",
        /// A file that does not belong to a bundle.
        FileUnexpected = "file_unexpected",
        /// A link or a special file where a plain file is expected.
        FileNotRegular = "file_not_regular",
        /// `record_count` or `blob_count` is a double, which upstream never compares.
        CountNotInteger = "count_not_integer",
        /// `meta` or `extensions` of the manifest, which no hash covers.
        ManifestUnhashed = "manifest_unhashed",
        /// `bundle.note` does not state what the bundle holds.
        BundleNote = "bundle_note",
        /// The bundle is not signed as a whole with the key that was given.
        BundleSignature = "bundle_signature",
        /// `root_records` is not the list of all records without parents.
        RootsIncomplete = "roots_incomplete",
        /// An older format: what its own verifier wrongly accepts.
        LegacyStrict = "legacy_strict",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_for_a_blank_or_for_nothing_is_escaped() {
        for char in
            "\u{2800}\u{3164}\u{34f}\u{fe0f}\u{a0}\u{3000}\u{e0101}\u{e0041}\u{202e}".chars()
        {
            assert_eq!(printable(&char.to_string()), char.escape_unicode().to_string());
        }
        assert_eq!(printable("a é 漢 ß …"), "a é 漢 ß …");
    }
}
