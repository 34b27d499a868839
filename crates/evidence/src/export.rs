//! Exporting part of a journal as a bundle that stands on its own.
//!
//! A bundle must hold every parent it names, and the filter must not let records of others out. So
//! where a parent does not pass the filter, the record is issued anew for the bundle: without that
//! parent, and with `meta.withheld` telling its original id and full parent list. Whoever has the
//! journal's checkpoint can put the original together again and prove that it is in the journal.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use aegx::bundle::{Builder, BundleError};
use aegx::record::Draft;
use aegx::{Digest, Manifest, Payload, Record};
use serde_json::{Value, json};

use crate::blobs::Blobs;
use crate::chain::{self, Damage};
use crate::checkpoints::{self, CheckpointError};
use crate::reader::{ReadError, Reader};
use crate::search::{self, Filter, Row};

/// Where the bundle goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A directory.
    Directory(&'a Path),
    /// A zip archive.
    Zip(&'a Path),
}

impl<'a> Target<'a> {
    /// A zip if the name ends so, else a directory.
    #[must_use]
    pub fn from_path(path: &'a Path) -> Self {
        let is_zip = path.extension().is_some_and(|it| it.eq_ignore_ascii_case("zip"));
        if is_zip { Self::Zip(path) } else { Self::Directory(path) }
    }

    fn path(self) -> &'a Path {
        match self {
            Self::Directory(path) | Self::Zip(path) => path,
        }
    }
}

/// What was exported.
#[derive(Clone, Debug)]
pub struct Exported {
    /// Records in the bundle.
    pub records: u64,
    /// Blobs in it.
    pub blobs: u64,
    /// Records that were issued anew because a parent was withheld.
    pub reissued: u64,
    /// Hash of the bundle's last audit entry.
    pub audit_head: String,
    /// Is it signed as a whole? Not if the journal's key is not there.
    pub signed: bool,
}

/// Why nothing was exported. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal is not all there, and an export of it would look as if it were.
    #[error("the journal is damaged: {0}; see `lazaret evidence verify`")]
    Damaged(Damage),
    /// The key that signs the bundle, or the checkpoints.
    #[error(transparent)]
    Checkpoints(#[from] CheckpointError),
    /// The bundle.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// A blob that a record names.
    #[error("record {idx} names the blob {blob}: {why}")]
    Blob {
        /// Index of the record.
        idx: u64,
        /// The blob.
        blob: String,
        /// What is wrong.
        why: String,
    },
    /// A bundle in the journal's own directory could be taken for a part of it.
    #[error("`{path}` lies in the journal itself; choose another place")]
    Inside {
        /// The target.
        path: String,
    },
    /// A record that cannot be read or issued anew.
    #[error("record {idx}: {why}")]
    Record {
        /// Its index.
        idx: u64,
        /// What is wrong.
        why: String,
    },
}

/// Writes the records that pass `filter`, and only those, to a bundle, signed with the journal's key.
///
/// # Errors
/// If something is at the target, or the journal is damaged or not all there.
pub fn export(
    reader: &Reader,
    filter: &Filter,
    target: Target<'_>,
    created_at: &str,
) -> Result<Exported, ExportError> {
    refuse_inside(reader, target.path())?;
    let signed_size = checkpoints::read(reader.layout())?.last().map_or(0, |it| it.size);
    check_links(reader)?;
    let mut export = Export {
        builder: Builder::create(target.path(), created_at)?,
        blobs: Blobs::new(reader.layout().blobs()),
        inside: HashSet::new(),
        reissued_ids: HashMap::new(),
        reissued: 0,
    };
    let key = checkpoints::signing_key(reader.layout())?;
    let signed = key.is_some();
    key.into_iter().for_each(|it| export.builder.sign_with(it));
    let mut outcome = Ok(());
    let end = search::query_to_end(reader, filter, &mut |row| {
        outcome = export.take(&row);
        outcome.is_ok()
    })?;
    outcome?;
    if end < signed_size {
        let what = format!("{signed_size} records were signed, {end} are left");
        return Err(ExportError::Damaged(Damage::of_journal(what)));
    }
    let Export { builder, reissued, .. } = export;
    let Manifest { record_count, blob_count, audit_head, .. } = match target {
        Target::Directory(path) => builder.finish_directory(path)?,
        Target::Zip(path) => builder.finish_zip(path)?,
    };
    Ok(Exported { records: record_count, blobs: blob_count, reissued, audit_head, signed })
}

/// Is every segment there, from the first or the last that was retired?
fn check_links(reader: &Reader) -> Result<(), ExportError> {
    let numbers = reader.segments()?;
    let last = numbers.last().copied().unwrap_or(0);
    let linked = chain::check_links(reader.layout(), &numbers, &reader.header(last)?);
    match linked {
        // Retention or rotation may have been at work.
        Err(_) if reader.segments()? != numbers => check_links(reader),
        linked => linked.map_err(ExportError::Damaged),
    }
}

fn refuse_inside(reader: &Reader, target: &Path) -> Result<(), ExportError> {
    let parent = target.parent().filter(|it| !it.as_os_str().is_empty());
    let parent = files::resolved(parent.unwrap_or(Path::new(".")));
    let root = files::resolved(reader.layout().root());
    match (parent, root) {
        (Ok(parent), Ok(root)) if parent.starts_with(&root) => {
            Err(ExportError::Inside { path: target.display().to_string() })
        }
        _ => Ok(()),
    }
}

struct Export {
    builder: Builder,
    blobs: Blobs,
    /// Ids in the bundle, as they are there.
    inside: HashSet<Digest>,
    /// Original and new id of records that were issued anew; their children follow them.
    reissued_ids: HashMap<Digest, Digest>,
    reissued: u64,
}

impl Export {
    fn take(&mut self, row: &Row) -> Result<(), ExportError> {
        let bad = |why: String| ExportError::Record { idx: row.idx, why };
        let record: Record =
            serde_json::from_slice(&row.line).map_err(|error| bad(error.to_string()))?;
        if record.compute_id() != row.id {
            return Err(bad("its content does not have its id".to_owned()));
        }
        let parents: Vec<Digest> =
            record.parents.iter().filter_map(|it| Digest::from_hex(it.as_bytes())).collect();
        let mapped: Vec<Digest> = parents.iter().filter_map(|it| self.in_bundle(it)).collect();
        if let Payload::Blob { blob, .. } = &record.payload {
            self.take_blob(row.idx, blob)?;
        }
        if mapped == parents {
            self.inside.insert(row.id);
            let ts = record.ts().unwrap_or_default();
            self.builder.add_line(&row.line, &row.id, ts, parents.is_empty())?;
            return Ok(());
        }
        let issued = reissue(record, &row.id, mapped).map_err(bad)?;
        let id = issued.compute_id();
        self.reissued += 1;
        self.reissued_ids.insert(row.id, id);
        self.inside.insert(id);
        self.builder.add_record(&issued)?;
        Ok(())
    }

    /// The id that a record of the journal has in the bundle, if it is there.
    fn in_bundle(&self, id: &Digest) -> Option<Digest> {
        let reissued = self.reissued_ids.get(id).copied();
        reissued.or_else(|| self.inside.contains(id).then_some(*id))
    }

    fn take_blob(&mut self, idx: u64, blob: &str) -> Result<(), ExportError> {
        let bad = |why: String| ExportError::Blob { idx, blob: blob.to_owned(), why };
        let name = Digest::from_hex(blob.as_bytes()).ok_or_else(|| bad("no hash".to_owned()))?;
        let input = self.blobs.open(&name).map_err(|error| bad(error.to_string()))?;
        self.builder.add_blob(&name, input).map_err(|error| bad(error.to_string()))
    }
}

/// The same record with only `parents`, telling what it was.
fn reissue(record: Record, original: &Digest, parents: Vec<Digest>) -> Result<Record, String> {
    let Value::Object(mut meta) = record.meta else { return Err("`meta` is no object".to_owned()) };
    let withheld = json!({ "id": original.to_string(), "parents": record.parents });
    meta.insert("withheld".to_owned(), withheld);
    let draft = Draft {
        record_type: record.record_type,
        principal: record.principal,
        taint: record.taint,
        parents,
        meta,
        payload: record.payload,
    };
    draft.seal().map_err(|error| error.to_string())
}
