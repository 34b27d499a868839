//! Taking in bundles of others.
//!
//! They are verified and kept beside the journal, never in it: a foreign record must not be able
//! to pose as one of ours. The journal only records that, and what, was taken in.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use aegx::archive::{self, ArchiveError};
use aegx::source::{BLOBS, MANIFEST, MemberKind, RECORDS};
use aegx::verify::check_record_line;
use aegx::{Digest, Finding, Hasher, Manifest, Progress, Record, RecordType, Rules, Source};
use model::Kind;
use serde_json::json;

use crate::journal::Journal;
use crate::layout::Layout;
use crate::reader::Reader;
use crate::receipt::AppendError;
use crate::record::NewRecord;
use crate::search::{Filter, Row};
use files::private;

/// A bundle that was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Hash over all its files, by which it is known here: who has another signature or none is
    /// another bundle.
    pub name: Digest,
    /// Hash of its last audit entry.
    pub head: String,
    /// Records in it.
    pub records: u64,
    /// Was it here already?
    pub known: bool,
}

/// Why a bundle was not taken in. Nothing of it is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The archive.
    #[error("{0} [{code}]", code = .0.code())]
    Archive(ArchiveError),
    /// It does not verify.
    #[error("the bundle does not verify: {total} findings, the first: {first}")]
    Refused {
        /// How many.
        total: u64,
        /// The first.
        first: Box<Finding>,
    },
    /// Its import could not be recorded.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The disk.
    #[error("`{path}`: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

/// Verifies the bundle at `path` and keeps a copy.
///
/// # Errors
/// If it does not verify strictly, or the disk fails.
pub fn import(journal: &Journal, path: &Path) -> Result<Imported, ImportError> {
    let layout = journal.layout();
    let io = |error| ImportError::Io { path: path.display().to_string(), error };
    let imports = layout.imports();
    private::create_dir(&imports).map_err(io)?;
    let mine = format!("{TEMPORARY}{}-", std::process::id());
    sweep(&imports, &mine).map_err(io)?;
    let number = NEXT_WORK.fetch_add(1, Ordering::Relaxed);
    let work = imports.join(format!("{mine}{number}"));
    let _ = fs::remove_dir_all(&work);
    let taken = copy_in(path, &work).and_then(|()| verify(&work));
    let outcome = taken.and_then(|(head, records)| {
        let name = name_of(&work).map_err(io)?;
        let target = imports.join(name.to_string());
        let imported = Imported { name, head, records, known: target.exists() };
        if !imported.known {
            // The record first: a bundle that lies there was recorded, whatever happens between.
            record(journal, path, &imported)?;
            fs::rename(&work, &target).and_then(|()| private::sync_parent(&target)).map_err(io)?;
        }
        Ok(imported)
    });
    let _ = fs::remove_dir_all(&work);
    outcome
}

const TEMPORARY: &str = ".new-";
static NEXT_WORK: AtomicU64 = AtomicU64::new(0);

/// Removes what imports of other processes left unfinished: they are over, for only one process at a
/// time has the journal open.
fn sweep(imports: &Path, mine: &str) -> io::Result<()> {
    for entry in fs::read_dir(imports)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(TEMPORARY) && !name.starts_with(mine) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The bundles that were taken in.
pub struct Imports {
    layout: Layout,
}

impl Imports {
    /// Those beside the journal that `reader` reads.
    #[must_use]
    pub fn of(reader: &Reader) -> Self {
        Self { layout: reader.layout().clone() }
    }

    /// Their names, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let listing = fs::read_dir(self.layout.imports()).into_iter().flatten().flatten();
        let names = listing.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> =
            names.filter(|it| Digest::from_hex(it.as_bytes()).is_some()).collect();
        names.sort();
        names
    }

    /// Shows the records of one of them that pass the filter to `see`, until it answers `false`.
    ///
    /// # Errors
    /// If there is no such bundle.
    pub fn query(
        &self,
        name: &Digest,
        filter: &Filter,
        see: &mut dyn FnMut(Row) -> bool,
    ) -> io::Result<()> {
        let path = self.layout.imports().join(name.to_string()).join(RECORDS);
        let mut skipped = match filter.limit {
            None => 0,
            Some(limit) => {
                let mut passing = 0_u64;
                each(&path, filter, &mut |_| {
                    passing += 1;
                    true
                })?;
                passing.saturating_sub(limit)
            }
        };
        each(&path, filter, &mut |row| {
            let show = skipped == 0;
            skipped = skipped.saturating_sub(1);
            !show || see(row)
        })
    }
}

/// Shows the records in a file that pass the filter to `see`, until it answers `false`.
fn each(path: &Path, filter: &Filter, see: &mut dyn FnMut(Row) -> bool) -> io::Result<()> {
    for (idx, line) in (0..).zip(BufReader::new(private::open(path)?).split(b'\n')) {
        let line = line?;
        // It was verified when it was taken in; whoever changed it since shall not hide anything.
        let id = check_record_line(&line).map_err(|_| changed(idx))?.id;
        let record: Record = serde_json::from_slice(&line)?;
        if filter.matches(&record, &id) && !see(Row { idx, id, line }) {
            break;
        }
    }
    Ok(())
}

fn changed(idx: u64) -> io::Error {
    let what = format!("record {idx} of the bundle was changed since it was imported");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Copies only what belongs to a bundle, and only plain files.
fn copy_in(path: &Path, work: &Path) -> Result<(), ImportError> {
    let source = Source::open(path, Rules::Strict).map_err(ImportError::Archive)?;
    let io = |error| ImportError::Io { path: path.display().to_string(), error };
    private::create_dir(work).map_err(io)?;
    if let Source::Zip(zip) = &source {
        return archive::extract(zip, work, &mut |_| ()).map(drop).map_err(ImportError::Archive);
    }
    private::create_dir(&work.join(BLOBS)).map_err(io)?;
    let mut members = source.blobs().map_err(io)?;
    members.extend(source.top().map_err(io)?);
    for member in members.iter().filter(|it| it.kind == MemberKind::File) {
        let mut input = source.open_member(&member.name).map_err(io)?;
        let mut output = private::create(&work.join(&member.name)).map_err(io)?;
        io::copy(&mut input, &mut output).map_err(io)?;
        output.sync_all().map_err(io)?;
    }
    Ok(())
}

/// Verifies the copy: what is kept is what was verified.
fn verify(work: &Path) -> Result<(String, u64), ImportError> {
    let source = Source::Directory(work.to_owned());
    let report = aegx::verify(&source, Rules::Strict, &Progress::default());
    if let Some(first) = report.findings.into_iter().next() {
        return Err(ImportError::Refused { total: report.findings_total, first: Box::new(first) });
    }
    let io = |error| ImportError::Io { path: MANIFEST.to_owned(), error };
    let manifest = File::open(work.join(MANIFEST)).map_err(io)?;
    let manifest: Manifest =
        serde_json::from_reader(BufReader::new(manifest)).map_err(|error| io(error.into()))?;
    Ok((manifest.audit_head, report.records))
}

/// The hash over names and hashes of the files at the top of a verified bundle. Its records pin the
/// blobs.
fn name_of(work: &Path) -> io::Result<Digest> {
    let source = Source::Directory(work.to_owned());
    let mut lines = String::new();
    // Sorted by name.
    for file in source.top()?.into_iter().filter(|it| it.kind == MemberKind::File) {
        let mut hasher = Hasher::new();
        let mut input = BufReader::new(source.open_member(&file.name)?);
        loop {
            let bytes = input.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            hasher.update(bytes);
            let read = bytes.len();
            input.consume(read);
        }
        lines.push_str(&format!("{} {}\n", file.name, hasher.finish()));
    }
    Ok(Digest::of(lines.as_bytes()))
}

fn record(journal: &Journal, path: &Path, imported: &Imported) -> Result<(), ImportError> {
    let Ok(kind) = Kind::parse("evidence_import") else { return Ok(()) };
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let Imported { name, head, records, .. } = imported;
    let content = json!({
        "audit_head": head, "bundle": name.to_string(), "file": file, "records": records,
    });
    let mut record = NewRecord::of_host(RecordType::FileRead, kind, content);
    record.taint = model::Taint::UNTRUSTED;
    journal.append(record)?;
    Ok(())
}
