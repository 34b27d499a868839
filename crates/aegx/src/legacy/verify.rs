//! Verifies a bundle of an older format in one pass over each file.

use super::audit_log::{AuditLog, Link};
use super::manifest::{self, Filters, LegacyManifest};
use super::notes::{self, Facts};
use super::recipe::Recipe;
use super::records::Records;
use super::text_lines::TextLines;
use crate::archive::Rules;
use crate::digest::Digest;
use crate::note::VerifierKey;
use crate::source::{AUDIT_LOG, BUNDLE_NOTE, MANIFEST, RECORDS, Source};
use crate::verify::report::Findings;
use crate::verify::{Code, Finding, Progress, Report, Threads, blobs, check_members};

/// Files besides those of format A that these formats put into a bundle.
const FURTHER: &[&str] = &["policy.yaml", "report.md", "report.json"];

pub(crate) fn verify(
    source: &Source,
    recipe: Recipe,
    rules: Rules,
    key: Option<&VerifierKey>,
    progress: &Progress<'_>,
) -> Report {
    let mut findings = Findings::default();
    if key.is_some() {
        let detail = "bundles of the older formats are not signed; convert it first";
        findings.add(Finding::new(Code::BundleSignature, BUNDLE_NOTE, detail));
    }
    let _held = source.hold();
    let manifest = manifest::check(source, rules, &mut findings);
    if rules == Rules::Strict {
        check_members(source, FURTHER, &mut findings);
    }
    let filters = manifest.as_ref().map(|it| it.filters.clone()).unwrap_or_default();
    let mut records = Records::new(recipe, rules, &filters);
    let log = AuditLog::open(source, recipe, rules, progress, &mut findings);
    let mut pairing = Pairing { log, rules, filters: &filters, left_out: 0 };
    read_records(source, &mut records, &mut pairing, progress, &mut findings);
    pairing.finish(&mut findings);
    records.finish(&mut findings);

    let threads = Threads::available();
    let counted = blobs::check(source, rules, &records.blobs, threads, progress, &mut findings);
    if rules == Rules::Strict && !filters.any() {
        for name in blobs::unreferenced(source, &records.blobs) {
            let detail = "no record names this blob";
            findings.add(Finding::new(Code::LegacyStrict, name, detail));
        }
    }
    let (entries, left_out) = (pairing.log.entries(), pairing.left_out);
    if let Some(manifest) = &manifest {
        let counts = Counts { records: records.count, entries, blobs: counted.blobs };
        check_counts(manifest, &counts, recipe, rules, &mut findings);
    }
    let facts = Facts {
        recipe,
        rules,
        records: records.count,
        entries,
        filtered: filters.any(),
        left_out,
        unpinned: records.unpinned,
    };
    Report {
        records: records.count,
        blobs: counted.blobs,
        blob_bytes: counted.bytes,
        by_type: records.by_type,
        by_principal: records.by_principal,
        notes: notes::notes(&facts),
        ..findings.into_report(recipe.format())
    }
}

fn read_records(
    source: &Source,
    records: &mut Records<'_>,
    pairing: &mut Pairing<'_>,
    progress: &Progress<'_>,
    findings: &mut Findings,
) {
    let mut lines = match TextLines::open(source, RECORDS) {
        Ok(Some(lines)) => lines,
        Ok(None) if pairing.rules == Rules::Compat => return,
        Ok(None) => {
            return findings.add(Finding::new(
                Code::FileUnreadable,
                RECORDS,
                "the file is missing",
            ));
        }
        Err(error) => return findings.add(Finding::of_unreadable(RECORDS, error)),
    };
    loop {
        let chunk = match lines.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return,
            Err(finding) => return findings.add(finding),
        };
        progress.add(chunk.bytes.len() as u64);
        for line in chunk.lines() {
            if let Some(id) = records.line(&line, findings) {
                pairing.record(line.number, id, findings);
            }
        }
    }
}

/// Holds records and audit entries against each other, in order. Upstream never does.
struct Pairing<'a> {
    log: AuditLog<'a>,
    rules: Rules,
    filters: &'a Filters,
    left_out: u64,
}

impl Pairing<'_> {
    fn record(&mut self, line: u64, id: Option<Digest>, findings: &mut Findings) {
        if self.rules == Rules::Compat {
            return;
        }
        loop {
            let Some(link) = self.log.next(findings) else {
                let at = format!("{RECORDS}:{line}");
                let detail = "the record has no audit entry at its place";
                return findings.add(Finding::new(Code::RecordUnaudited, at, detail));
            };
            // What could not be read was reported when it was read.
            let (Some(id), Some(named)) = (id, link.record_id) else { return };
            if id == named {
                return;
            }
            if !self.filters.any() {
                let at = format!("{AUDIT_LOG}:{}", link.line);
                let detail =
                    format!("the entry is about {named}, the record on line {line} is {id}");
                return findings.add(Finding::new(Code::AuditRecordMismatch, at, detail));
            }
            self.without_record(&link, findings);
        }
    }

    /// Reads what is left of the log.
    fn finish(&mut self, findings: &mut Findings) {
        while let Some(link) = self.log.next(findings) {
            if self.rules == Rules::Strict {
                self.without_record(&link, findings);
            }
        }
    }

    /// An entry whose record is not here: the filters must have left it out.
    fn without_record(&mut self, link: &Link, findings: &mut Findings) {
        self.left_out += 1;
        // An entry is written after its record: from `since_time` on, every record is here, unless
        // it is another agent's.
        let left_out_by_time = match (&self.filters.since_time, &link.ts) {
            (Some(since), Some(ts)) => ts < since,
            (Some(_) | None, _) => false,
        };
        let explained = self.filters.agent_id.is_some()
            || self.filters.since_snapshot.is_some()
            || left_out_by_time;
        if !explained {
            let at = format!("{AUDIT_LOG}:{}", link.line);
            findings.add(Finding::new(Code::AuditWithoutRecord, at, "the entry has no record"));
        }
    }
}

struct Counts {
    records: u64,
    entries: u64,
    blobs: u64,
}

fn check_counts(
    manifest: &LegacyManifest,
    counts: &Counts,
    recipe: Recipe,
    rules: Rules,
    findings: &mut Findings,
) {
    let mut differ = |code, key: &str, claimed: u64, actual: u64| {
        if claimed != actual {
            let detail = format!("`{key}` is {claimed}, there are {actual}");
            findings.add(Finding::new(code, MANIFEST, detail));
        }
    };
    if rules == Rules::Strict || recipe == Recipe::Unified {
        differ(Code::RecordCount, "record_count", manifest.record_count, counts.records);
        differ(Code::BlobCount, "blob_count", manifest.blob_count, counts.blobs);
    }
    if rules == Rules::Strict {
        let claimed = manifest.audit_entry_count;
        differ(Code::LegacyStrict, "audit_entry_count", claimed, counts.entries);
    }
}
