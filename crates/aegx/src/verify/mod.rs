//! Verification: is this bundle what was written, all of it, in order?
//!
//! One pass over each file. Lines are checked by several threads and joined in file order by
//! [`fold`], so memory does not grow with the bundle but for eight bytes a record.

pub(crate) mod audit_line;
pub(crate) mod blobs;
pub(crate) mod diagnose;
mod engine;
mod finding;
pub(crate) mod fingerprint;
mod fold;
pub(crate) mod frame;
pub(crate) mod lines;
pub(crate) mod manifest_check;
mod manifest_read;
pub(crate) mod pinned;
pub(crate) mod record_line;
pub(crate) mod report;

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

pub use finding::{Class, Code, Finding, is_hidden, printable};
pub use lines::LINE_BYTES_MAX;
pub use record_line::BlobUse;
pub use report::{FINDINGS_LISTED_MAX, Format, Report};

use crate::archive::Rules;
use crate::assigned::UNICODE_VERSION;
use crate::bundle;
use crate::bundle_note;
use crate::digest::Digest;
use crate::note::VerifierKey;
use crate::source::{AUDIT_LOG, BLOBS, BUNDLE_NOTE, MANIFEST, MemberKind, RECORDS, Source};
use crate::timestamp::Ts;
use fingerprint::Fingerprints;
use report::Findings;

/// Verifies a bundle of format A.
///
/// With [`Rules::Compat`] the verdict is upstream's; with [`Rules::Strict`] everything is refused
/// besides that upstream accepts without being able to know that it is true.
#[must_use]
pub fn verify(source: &Source, rules: Rules, progress: &Progress<'_>) -> Report {
    verify_signed(source, rules, None, progress)
}

/// As [`verify`]; with a `key` the bundle must be signed with it as a whole.
#[must_use]
pub fn verify_signed(
    source: &Source,
    rules: Rules,
    key: Option<&VerifierKey>,
    progress: &Progress<'_>,
) -> Report {
    let mut findings = Findings::default();
    let ids = Fingerprints::default();
    let threads = Threads::available();

    // A writer may be at work in the directory; what it has half done is no fault of the bundle.
    let _held = source.hold();

    let claims = match source.open_under(MANIFEST, rules) {
        Ok(input) => manifest_check::check(input, rules, &ids, &mut findings),
        Err(error) => {
            findings.add(Finding::of_unreadable(MANIFEST, error));
            None
        }
    };
    if rules == Rules::Strict {
        check_members(source, &[BUNDLE_NOTE], &mut findings);
    }

    let claims = claims.unwrap_or_default();
    let records_bytes = source.member_bytes(RECORDS).unwrap_or(0);
    let mut fold = fold::Fold::new(rules, &ids, &claims, records_bytes);
    engine::run(source, rules, threads, progress, &mut fold, &mut findings);

    let blobs = blobs::check(source, rules, &fold.blobs, threads, progress, &mut findings);
    // What a record that cannot be read names is not known.
    if rules == Rules::Strict && !findings.is_unreadable() {
        for name in blobs::unreferenced(source, &fold.blobs) {
            let detail = "no record names it: nothing would notice if it came or went";
            findings.add(Finding::new(Code::BlobUnreferenced, name, detail));
        }
    }
    fold.finish(blobs.blobs, &mut findings);
    let signed = match (rules, key) {
        // Upstream knows no such note.
        (Rules::Compat, None) => None,
        _ => bundle_note::check(source, key, &mut findings),
    };

    let owned = |counts: &std::collections::BTreeMap<&'static str, u64>| {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    };
    Report {
        records: fold.records,
        blobs: blobs.blobs,
        blob_bytes: blobs.bytes,
        by_type: owned(&fold.by_type),
        by_principal: owned(&fold.by_principal),
        notes: notes(rules, &fold.unpinned).into_iter().chain(signed).collect(),
        ..findings.into_report(Format::Aegx01)
    }
}

/// Checks one stored line of `records.jsonl` by itself, strictly; `text` is without its newline.
///
/// # Errors
/// Everything that is wrong with it. A blank line is an error too.
pub fn check_record_line(text: &[u8]) -> Result<LineFacts, Vec<Finding>> {
    let mut findings = Findings::default();
    let line = lines::Line { number: 1, text, ended: true };
    let seen = record_line::check(&line, Rules::Strict, &mut findings);
    match seen.and_then(|seen| Some((seen.id?, seen.ts?, seen.blob))) {
        Some((id, ts, blob)) if findings.is_empty() => Ok(LineFacts { id, ts, blob }),
        _ => Err(findings.into_listed()),
    }
}

/// What [`check_record_line`] established.
#[derive(Clone, Copy, Debug)]
pub struct LineFacts {
    /// The record's id, which its content has.
    pub id: Digest,
    /// Its `meta.ts`, a normal time.
    pub ts: Ts,
    /// The blob that it names.
    pub blob: Option<BlobUse>,
}

/// Bytes read so far, shared with whoever shows them.
#[derive(Default)]
pub struct Progress<'a> {
    done: AtomicU64,
    show: Option<&'a (dyn Fn(u64) + Sync)>,
}

impl<'a> Progress<'a> {
    /// Calls `show` now and then with the number of bytes read so far.
    pub fn showing(show: &'a (dyn Fn(u64) + Sync)) -> Self {
        Self { done: AtomicU64::new(0), show: Some(show) }
    }

    pub(crate) fn add(&self, bytes: u64) {
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if let Some(show) = self.show {
            show(done);
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Threads(usize);

impl Threads {
    pub(crate) fn available() -> Self {
        const THREADS_MAX: usize = 32;
        Self(thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX))
    }
}

/// Refuses what stands at the top of a bundle without belonging there. `further` are plain files
/// that the format knows besides the usual ones.
pub(crate) fn check_members(source: &Source, further: &[&str], findings: &mut Findings) {
    let members = match source.top() {
        Ok(members) => members,
        Err(error) => return findings.add(Finding::new(Code::FileUnreadable, ".", error)),
    };
    for member in members {
        let expected = match member.name.as_str() {
            MANIFEST | RECORDS | AUDIT_LOG => MemberKind::File,
            BLOBS => MemberKind::Directory,
            name if further.contains(&name) => MemberKind::File,
            name => {
                let detail = if bundle::is_leftover(name) {
                    "left by an interrupted addition; the next addition clears it up"
                } else {
                    "does not belong to a bundle and is covered by no hash"
                };
                findings.add(Finding::new(Code::FileUnexpected, name, detail));
                continue;
            }
        };
        if member.kind != expected {
            let detail = "is a link, a special file, or a folder in the place of a file";
            findings.add(Finding::new(Code::FileNotRegular, &member.name, detail));
        }
    }
}

fn notes(rules: Rules, unpinned: &fold::Unpinned) -> Vec<String> {
    let mut notes = Vec::new();
    // Under strict rules each of them is a finding.
    if unpinned.total > 0 && rules == Rules::Compat {
        let lines: Vec<_> = unpinned.lines.iter().map(u64::to_string).collect();
        let more = if unpinned.total > lines.len() as u64 { ", …" } else { "" };
        notes.push(format!(
            "{} records hold text that is not in Unicode normal form C or not of Unicode \
             {UNICODE_VERSION}, or -0.0, so that their ids do not pin every byte and a search may miss them: {RECORDS} line {}{more}",
            unpinned.total,
            lines.join(", "),
        ));
    }
    notes
}
