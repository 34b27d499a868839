//! Joins what the single lines said: order, references, counts.
//!
//! The threads that read lines work in any order; this part sees their results in file order and
//! is the only one that holds state.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::audit_line::Link;
use super::blobs::Expected;
use super::finding::{Code, Finding};
use super::fingerprint::{Fingerprint, Fingerprints, IdSet};
use super::manifest_check::Claims;
use super::record_line::Seen;
use super::report::Findings;
use crate::archive::Rules;
use crate::digest::Digest;
use crate::source::{AUDIT_LOG, MANIFEST, RECORDS};
use crate::timestamp::Ts;

pub(crate) struct Fold<'a> {
    rules: Rules,
    ids: &'a Fingerprints,
    claims: &'a Claims,
    known: IdSet,
    /// Parents that were not known when their child was read; upstream lets them come later.
    awaited: Vec<(Digest, u64)>,
    roots_seen: usize,
    roots_agree: bool,
    chain: Chain,
    pairing: Pairing,
    pub(crate) blobs: HashMap<Digest, Expected>,
    pub(crate) records: u64,
    pub(crate) by_type: BTreeMap<&'static str, u64>,
    pub(crate) by_principal: BTreeMap<&'static str, u64>,
    pub(crate) unpinned: Unpinned,
}

/// Records whose text could be spelled otherwise under the same id.
#[derive(Default)]
pub(crate) struct Unpinned {
    pub(crate) total: u64,
    /// The first lines of them.
    pub(crate) lines: Vec<u64>,
}

impl Unpinned {
    const LISTED_MAX: usize = 20;

    fn add(&mut self, line: u64) {
        self.total += 1;
        if self.lines.len() < Self::LISTED_MAX {
            self.lines.push(line);
        }
    }
}

/// More parents than this that stand after their children are not remembered but refused.
const AWAITED_MAX: usize = 4_000_000;
/// A line of a record is longer than this, so a file cannot hold more records than that.
const RECORD_BYTES_MIN: u64 = 200;

impl<'a> Fold<'a> {
    pub(crate) fn new(
        rules: Rules,
        ids: &'a Fingerprints,
        claims: &'a Claims,
        records_bytes: u64,
    ) -> Self {
        let mut known = IdSet::default();
        let plausible = claims.record_count.unwrap_or(0).min(records_bytes / RECORD_BYTES_MIN);
        known.reserve(usize::try_from(plausible).unwrap_or(0));
        Self {
            rules,
            ids,
            claims,
            known,
            awaited: Vec::new(),
            roots_seen: 0,
            roots_agree: true,
            chain: Chain { next_idx: 0, head: Some(Digest::ZERO), sound: true },
            pairing: Pairing::default(),
            blobs: HashMap::new(),
            records: 0,
            by_type: BTreeMap::new(),
            by_principal: BTreeMap::new(),
            unpinned: Unpinned::default(),
        }
    }

    pub(crate) fn record(&mut self, line: u64, seen: Seen, findings: &mut Findings) {
        self.records += 1;
        if seen.unpinned {
            self.unpinned.add(line);
        }
        if let Some((record_type, principal)) = seen.kind {
            *self.by_type.entry(record_type.as_str()).or_default() += 1;
            *self.by_principal.entry(principal.as_str()).or_default() += 1;
        }
        for parent in &seen.parents {
            if !self.known.contains(self.ids.of(parent)) {
                self.unknown_parent(*parent, line, findings);
            }
        }
        if let Some(id) = seen.id {
            let id = self.ids.of(&id);
            self.known.insert(id);
            if seen.is_root {
                self.root(id);
            }
        }
        if let Some(claim) = seen.blob {
            let first =
                self.blobs.entry(claim.blob).or_insert(Expected { bytes: claim.bytes, line });
            if first.bytes != claim.bytes && self.rules == Rules::Strict {
                let detail = format!(
                    "`size` is {}, the record on line {} says {} of the same blob",
                    claim.bytes, first.line, first.bytes
                );
                findings.add(Finding::new(Code::BlobSize, format!("{RECORDS}:{line}"), detail));
            }
        }
        if self.rules == Rules::Strict {
            self.pairing.record(Side { line, id: seen.id, ts: seen.ts }, findings);
        }
    }

    pub(crate) fn entry(&mut self, link: &Link, findings: &mut Findings) {
        self.chain.extend(link, findings);
        if self.rules == Rules::Strict {
            let side = Side { line: link.line, id: link.record_id, ts: link.ts };
            self.pairing.entry(side, findings);
        }
    }

    /// No more lines will come from one of the files.
    pub(crate) fn ended(&mut self, file: Stream, findings: &mut Findings) {
        if self.rules == Rules::Strict {
            self.pairing.ended(file, findings);
        }
    }

    /// What can be said only when everything was read. `blobs` is their number.
    pub(crate) fn finish(&mut self, blobs: u64, findings: &mut Findings) {
        for (parent, line) in std::mem::take(&mut self.awaited) {
            let at = format!("{RECORDS}:{line}");
            if !self.known.contains(self.ids.of(&parent)) {
                let detail = format!("the parent {parent} is no record of the bundle");
                findings.add(Finding::new(Code::ParentMissing, at, detail));
            } else if self.rules == Rules::Strict {
                let detail = format!("the parent {parent} stands after its child");
                findings.add(Finding::new(Code::ParentAfterChild, at, detail));
            }
        }
        let mut differ = |code, key: &str, claimed: Option<u64>, actual: u64| {
            if let Some(claimed) = claimed.filter(|claimed| *claimed != actual) {
                let detail = format!("`{key}` is {claimed}, there are {actual}");
                findings.add(Finding::new(code, MANIFEST, detail));
            }
        };
        differ(Code::RecordCount, "record_count", self.claims.record_count, self.records);
        differ(Code::BlobCount, "blob_count", self.claims.blob_count, blobs);
        self.finish_head(findings);
        self.finish_roots(findings);
    }

    fn finish_head(&self, findings: &mut Findings) {
        let Some(claimed) = self.claims.audit_head else { return };
        // After a broken link the head says nothing that was not said already.
        if let Some(head) = self.chain.head.filter(|head| self.chain.sound && claimed != *head) {
            let detail = format!("`audit_head` is {claimed}, the chain ends in {head}");
            findings.add(Finding::new(Code::AuditHead, MANIFEST, detail));
        }
    }

    fn finish_roots(&self, findings: &mut Findings) {
        let mut missing = false;
        for (position, root) in self.claims.roots.iter().enumerate() {
            if !self.known.contains(*root) {
                missing = true;
                let at = format!("{MANIFEST}: root_records[{position}]");
                findings.add(Finding::new(Code::RootMissing, at, "no record has this id"));
            }
        }
        let complete = self.roots_agree && self.roots_seen == self.claims.roots.len();
        if self.rules == Rules::Strict && !missing && !complete {
            let detail = format!(
                "`root_records` has {} ids, not exactly those of the {} records without parents, \
                 in order",
                self.claims.roots.len(),
                self.roots_seen
            );
            findings.add(Finding::new(Code::RootsIncomplete, MANIFEST, detail));
        }
    }

    fn root(&mut self, id: Fingerprint) {
        self.roots_agree &= self.claims.roots.get(self.roots_seen) == Some(&id);
        self.roots_seen += 1;
    }

    fn unknown_parent(&mut self, parent: Digest, line: u64, findings: &mut Findings) {
        if self.awaited.len() < AWAITED_MAX {
            self.awaited.push((parent, line));
        } else {
            let detail = format!("the parent {parent} does not stand before its child");
            findings.add(Finding::new(Code::ParentMissing, format!("{RECORDS}:{line}"), detail));
        }
    }
}

/// One of the two files that are read side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Records,
    Audit,
}

struct Chain {
    next_idx: u64,
    /// `None` after an entry that could not be read, which was reported.
    head: Option<Digest>,
    sound: bool,
}

impl Chain {
    fn extend(&mut self, link: &Link, findings: &mut Findings) {
        let at = || format!("{AUDIT_LOG}:{}", link.line);
        self.sound &= link.sound;
        if let Some(idx) = link.idx.filter(|idx| *idx != self.next_idx) {
            self.sound = false;
            let detail = format!("`idx` is {idx}, the entry stands at {}", self.next_idx);
            findings.add(Finding::new(Code::AuditIdx, at(), detail));
        }
        if let (Some(prev), Some(head)) = (link.prev, self.head)
            && prev != head
        {
            self.sound = false;
            let detail = format!("`prev` is {prev}, the entry before has {head}");
            findings.add(Finding::new(Code::AuditPrev, at(), detail));
        }
        self.next_idx += 1;
        // As upstream: the next link is held against what this entry claims.
        self.head = link.entry_hash;
    }
}

/// What records and entries must agree on.
struct Side {
    line: u64,
    id: Option<Digest>,
    ts: Option<Ts>,
}

/// Holds records and entries against each other, one to one and in order.
#[derive(Default)]
struct Pairing {
    records: VecDeque<Side>,
    entries: VecDeque<Side>,
    records_ended: bool,
    entries_ended: bool,
}

impl Pairing {
    fn record(&mut self, record: Side, findings: &mut Findings) {
        match self.entries.pop_front() {
            Some(entry) => compare(&record, &entry, findings),
            None if self.entries_ended => unaudited(record.line, findings),
            None => self.records.push_back(record),
        }
    }

    fn entry(&mut self, entry: Side, findings: &mut Findings) {
        match self.records.pop_front() {
            Some(record) => compare(&record, &entry, findings),
            None if self.records_ended => recordless(entry.line, findings),
            None => self.entries.push_back(entry),
        }
    }

    fn ended(&mut self, stream: Stream, findings: &mut Findings) {
        match stream {
            Stream::Records => {
                self.records_ended = true;
                self.entries.drain(..).for_each(|it| recordless(it.line, findings));
            }
            Stream::Audit => {
                self.entries_ended = true;
                self.records.drain(..).for_each(|it| unaudited(it.line, findings));
            }
        }
    }
}

/// What could not be read was reported when it was read.
fn compare(record: &Side, entry: &Side, findings: &mut Findings) {
    let at = || format!("{AUDIT_LOG}:{}", entry.line);
    match (record.id, entry.id) {
        (Some(id), Some(named)) if id != named => {
            let line = record.line;
            let detail = format!("the entry is about {named}, the record on line {line} is {id}");
            findings.add(Finding::new(Code::AuditRecordMismatch, at(), detail));
            return;
        }
        _ => {}
    }
    // The time of the entry is hashed into the chain alone, which anybody can hash anew; that of the
    // record is in its id.
    if let (Some(of_record), Some(of_entry)) = (record.ts, entry.ts)
        && of_record != of_entry
    {
        let text = |ts: Ts| String::from_utf8_lossy(&ts).into_owned();
        let (of_record, of_entry) = (text(of_record), text(of_entry));
        let detail =
            format!("`ts` is {of_entry}, the record on line {} has {of_record}", record.line);
        findings.add(Finding::new(Code::AuditTime, at(), detail));
    }
}

fn unaudited(line: u64, findings: &mut Findings) {
    let at = format!("{RECORDS}:{line}");
    findings.add(Finding::new(Code::RecordUnaudited, at, "the record has no audit entry"));
}

fn recordless(line: u64, findings: &mut Findings) {
    let at = format!("{AUDIT_LOG}:{line}");
    findings.add(Finding::new(Code::AuditWithoutRecord, at, "the entry has no record"));
}
