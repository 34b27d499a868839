//! Rewrites a bundle of an older format as format A.
//!
//! Nothing is dropped that format A can hold: what has no field of its own goes to `meta.aer_…`.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::detect::{self, Family};
use super::manifest;
use super::record::{LegacyPayload, LegacyPrincipal, LegacyRecord, LegacyType};
use super::text_lines::TextLines;
use super::verify::verify;
use crate::archive::Rules;
use crate::bundle::{Builder, BundleError};
use crate::digest::Digest;
use crate::record::{Draft, DraftError, Payload, Principal, RecordType};
use crate::source::{RECORDS, Source};
use crate::timestamp;
use crate::verify::lines::Line;
use crate::verify::{Finding, Format, Progress, Report};

/// Must the bundle verify before it is converted?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Yes, strictly.
    Verified,
    /// No. Every record is then marked with `meta.aer_unverified`, so that nothing becomes good
    /// evidence by being hashed anew.
    Unverified,
}

/// What was converted.
#[derive(Debug)]
pub struct Converted {
    /// Records written.
    pub records: u64,
    /// Blobs written.
    pub blobs: u64,
    /// The verdict on the bundle that was read.
    pub report: Report,
}

/// Converts the bundle `source` to one at `target`: an archive if the name ends in `.zip`,
/// otherwise a directory. `now` is the new manifest's time if the old one has none to give.
///
/// # Errors
/// If the bundle is of format A already, does not verify, or holds something that format A cannot
/// say. Nothing is left at `target` then.
pub fn convert(
    source: &Source,
    target: &Path,
    trust: Trust,
    now: &str,
) -> Result<Converted, ConvertError> {
    if detect::family(source) == Family::Aegx {
        return Err(ConvertError::NotLegacy);
    }
    let report = verify(source, detect::recipe(source), Rules::Strict, None, &Progress::default());
    if trust == Trust::Verified && !report.ok() {
        return Err(ConvertError::Unverified(Box::new(report)));
    }
    let parent = target.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !parent.is_dir() {
        // The builder would make it, and leave it behind if anything fails.
        return Err(BundleError::io(parent, io::ErrorKind::NotFound.into()).into());
    }
    let exported_at = manifest::read(source).map(|it| it.created_at.to_seconds());
    let created_at = exported_at.filter(|ts| timestamp::is_normal(ts));
    let created_at = created_at.as_deref().unwrap_or(now);
    let builder = Builder::create(target, created_at)?;
    let mut conversion = Conversion {
        source,
        builder,
        ids: HashMap::new(),
        marked: trust == Trust::Unverified,
        records: 0,
    };
    conversion.read_records()?;
    let Conversion { builder, records, .. } = conversion;
    let is_zip = target.extension().is_some_and(|it| it.eq_ignore_ascii_case("zip"));
    let written =
        if is_zip { builder.finish_zip(target) } else { builder.finish_directory(target) };
    Ok(Converted { records, blobs: written?.blob_count, report })
}

/// Why a bundle was not converted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConvertError {
    /// Nothing to do.
    #[error("the bundle is no older format: it already is format A (`{}`)", Format::Aegx01.as_str())]
    NotLegacy,
    /// The bundle does not verify.
    #[error("the bundle does not verify ({} findings); see `aegx verify`", .0.findings_total)]
    Unverified(Box<Report>),
    /// A file cannot be read to its end.
    #[error("{0}")]
    Unreadable(Finding),
    /// A line is no record.
    #[error("{RECORDS}:{line}: not a record: {error}")]
    NotARecord {
        /// Its number.
        line: u64,
        /// What the parser said.
        error: serde_json::Error,
    },
    /// A record cannot be said in format A.
    #[error("{RECORDS}:{line}: the record `{id}` cannot be converted: {error}")]
    Draft {
        /// The number of its line.
        line: u64,
        /// Its old id.
        id: String,
        /// Why.
        error: DraftError,
    },
    /// A parent that would have no new id.
    #[error(
        "{RECORDS}:{line}: the parent `{parent}` does not stand before its child: it comes later, \
         or a filter left it out"
    )]
    Parent {
        /// The number of the child's line.
        line: u64,
        /// The old id.
        parent: String,
    },
    /// A blob that is not there, or is not what the record says.
    #[error("{RECORDS}:{line}: the blob `{blob}`: {why}")]
    Blob {
        /// The number of the record's line.
        line: u64,
        /// What the record calls it.
        blob: String,
        /// What is wrong.
        why: String,
    },
    /// The new bundle could not be written.
    #[error(transparent)]
    Bundle(#[from] BundleError),
}

struct Conversion<'s> {
    source: &'s Source,
    builder: Builder,
    /// New ids by old. Where honest records share an old id, which the unified format allows within
    /// a second, the latest counts.
    ids: HashMap<String, Digest>,
    marked: bool,
    records: u64,
}

impl Conversion<'_> {
    fn read_records(&mut self) -> Result<(), ConvertError> {
        let missing = |error| ConvertError::Bundle(BundleError::io(Path::new(RECORDS), error));
        let lines = TextLines::open(self.source, RECORDS).map_err(missing)?;
        let mut lines = lines.ok_or_else(|| missing(io::ErrorKind::NotFound.into()))?;
        while let Some(chunk) = lines.next_chunk().map_err(ConvertError::Unreadable)? {
            for line in chunk.lines().filter(|line| !line.text.trim_ascii().is_empty()) {
                self.convert(&line)?;
            }
        }
        Ok(())
    }

    fn convert(&mut self, line: &Line<'_>) -> Result<(), ConvertError> {
        let number = line.number;
        let old: LegacyRecord = serde_json::from_slice(line.text)
            .map_err(|error| ConvertError::NotARecord { line: number, error })?;
        let parents = old.parents.iter().map(|parent| {
            let missing = || ConvertError::Parent { line: number, parent: parent.clone() };
            self.ids.get(parent).copied().ok_or_else(missing)
        });
        let parents = parents.collect::<Result<_, _>>()?;
        self.copy_blob(&old, number)?;
        let old_id = old.record_id.clone();
        let record = draft(old, parents, self.marked)
            .seal()
            .map_err(|error| ConvertError::Draft { line: number, id: old_id.clone(), error })?;
        self.builder.add_record(&record)?;
        self.ids.insert(old_id, record.compute_id());
        self.records += 1;
        Ok(())
    }

    fn copy_blob(&mut self, old: &LegacyRecord, line: u64) -> Result<(), ConvertError> {
        let LegacyPayload::Blob { hash, size, .. } = &old.payload else { return Ok(()) };
        let wrong = |why: String| ConvertError::Blob { line, blob: hash.clone(), why };
        // Only a digest may become part of a path.
        let blob = Digest::from_hex(hash.as_bytes())
            .ok_or_else(|| wrong("the name is not 64 lower-case hex digits".to_owned()))?;
        let member = format!("blobs/{blob}");
        let actual = self.source.member_bytes(&member);
        let actual = actual.ok_or_else(|| wrong("not in the bundle".to_owned()))?;
        if actual != *size {
            return Err(wrong(format!("has {actual} bytes, not {size}")));
        }
        let input = self.source.open_member(&member).map_err(|error| wrong(error.to_string()))?;
        Ok(self.builder.add_blob(&blob, input)?)
    }
}

fn draft(old: LegacyRecord, parents: Vec<Digest>, marked: bool) -> Draft {
    let (record_type, kind) = record_type(old.record_type);
    let (principal, was) = principal(old.principal);
    let text = |text: &str| Value::String(text.to_owned());
    let mut meta: Map<_, _> =
        old.meta.texts().map(|(name, value)| (name.to_owned(), text(value))).collect();
    meta.insert("ts".to_owned(), Value::String(old.meta.ts.to_seconds()));
    if old.meta.ts.has_fraction() {
        meta.insert("aer_ts".to_owned(), Value::String(old.meta.ts.to_string()));
    }
    meta.insert("aer_record_id".to_owned(), Value::String(old.record_id));
    if let Some(was) = was {
        meta.insert("aer_principal".to_owned(), text(was));
    }
    if let Some(kind) = kind {
        meta.insert("kind".to_owned(), text(kind));
    }
    if marked {
        meta.insert("aer_unverified".to_owned(), Value::Bool(true));
    }
    let taint = old.taint.names().into_iter().map(str::to_owned).collect();
    Draft { record_type, principal, taint, parents, meta, payload: payload(old.payload) }
}

fn payload(old: LegacyPayload) -> Payload {
    match old {
        LegacyPayload::Inline { data } => Payload::Inline { inline: data },
        LegacyPayload::Blob { hash, size, mime } => {
            // Upstream makes blobs of JSON that is too long, and of nothing else.
            let mime = mime.unwrap_or_else(|| "application/json".to_owned());
            Payload::Blob { blob: hash, mime, size }
        }
    }
}

/// The type, and a finer kind where format A has no type of its own.
fn record_type(old: LegacyType) -> (RecordType, Option<&'static str>) {
    let new = match old {
        LegacyType::SessionStart => RecordType::SessionStart,
        LegacyType::SessionMessage => RecordType::SessionMessage,
        LegacyType::ToolCall => RecordType::ToolCall,
        LegacyType::ToolResult => RecordType::ToolResult,
        LegacyType::FileRead => RecordType::FileRead,
        LegacyType::FileWrite => RecordType::FileWrite,
        LegacyType::FileDelete => RecordType::FileDelete,
        LegacyType::FileRename => return (RecordType::FileWrite, Some(old.as_str())),
        LegacyType::ControlPlaneChangeRequest => RecordType::ControlPlaneChangeRequest,
        LegacyType::MemoryCommitRequest => RecordType::MemoryCommitRequest,
        LegacyType::GuardDecision => RecordType::GuardDecision,
        LegacyType::Snapshot => RecordType::Snapshot,
        LegacyType::Rollback => RecordType::Rollback,
    };
    (new, None)
}

/// The principal, and the old name where format A draws no such distinction.
fn principal(old: LegacyPrincipal) -> (Principal, Option<&'static str>) {
    let new = match old {
        LegacyPrincipal::Sys => Principal::Sys,
        LegacyPrincipal::User => Principal::User,
        LegacyPrincipal::ToolAuth | LegacyPrincipal::ToolUnauth => {
            return (Principal::Tool, Some(old.as_str()));
        }
        LegacyPrincipal::Web => Principal::Web,
        LegacyPrincipal::Skill => Principal::Skill,
        LegacyPrincipal::Channel => Principal::Channel,
        LegacyPrincipal::External => Principal::External,
    };
    (new, None)
}
