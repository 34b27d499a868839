//! Checks the records of an older format: each by itself, then against parents, filters and blobs.

use std::collections::{BTreeMap, HashMap};

use super::manifest::Filters;
use super::recipe::Recipe;
use super::record::{LegacyPayload, LegacyRecord};
use super::{form, witness};
use crate::archive::Rules;
use crate::canon;
use crate::digest::Digest;
use crate::source::RECORDS;
use crate::verify::blobs::Expected;
use crate::verify::fingerprint::{Fingerprints, IdSet};
use crate::verify::lines::Line;
use crate::verify::pinned::value_is_pinned;
use crate::verify::report::Findings;
use crate::verify::{Code, Finding, frame};

/// What was learnt from the records so far.
pub(crate) struct Records<'m> {
    recipe: Recipe,
    rules: Rules,
    filters: &'m Filters,
    ids: Fingerprints,
    known: IdSet,
    /// Parents that were not known when their child was read.
    awaited: Vec<(Digest, u64)>,
    pub(crate) blobs: HashMap<Digest, Expected>,
    pub(crate) count: u64,
    pub(crate) by_type: BTreeMap<String, u64>,
    pub(crate) by_principal: BTreeMap<String, u64>,
    /// Records whose text could be spelled otherwise under the same id.
    pub(crate) unpinned: u64,
}

/// More parents than this that do not stand before their children are refused at once.
const AWAITED_MAX: usize = 1_000_000;

impl<'m> Records<'m> {
    pub(crate) fn new(recipe: Recipe, rules: Rules, filters: &'m Filters) -> Self {
        Self {
            recipe,
            rules,
            filters,
            ids: Fingerprints::default(),
            known: IdSet::default(),
            awaited: Vec::new(),
            blobs: HashMap::new(),
            count: 0,
            by_type: BTreeMap::new(),
            by_principal: BTreeMap::new(),
            unpinned: 0,
        }
    }

    /// Reads a line. `None` if nothing is on it; `Some(None)` if no id could be read from it.
    pub(crate) fn line(
        &mut self,
        line: &Line<'_>,
        findings: &mut Findings,
    ) -> Option<Option<Digest>> {
        let at = format!("{RECORDS}:{}", line.number);
        let text = frame::unwrap(line, &at, self.rules, findings)?;
        Some(self.record(text, line.number, &at, findings))
    }

    fn record(
        &mut self,
        text: &str,
        line: u64,
        at: &str,
        findings: &mut Findings,
    ) -> Option<Digest> {
        self.count += 1;
        let record: LegacyRecord = match serde_json::from_str(text) {
            Ok(record) => record,
            Err(error) => {
                findings.add(Finding::new(Code::RecordParse, at, error));
                return None;
            }
        };
        *self.by_type.entry(record.record_type.as_str().to_owned()).or_default() += 1;
        *self.by_principal.entry(record.principal.as_str().to_owned()).or_default() += 1;
        let actual = self.recipe.record_id(&record);
        let id = Digest::from_hex(record.record_id.as_bytes());
        if id != Some(actual) {
            let detail = format!("record_id is `{}`, the content has {actual}", record.record_id);
            findings.add(Finding::new(Code::RecordId, at, detail));
        }
        self.blob(&record, line, at, findings);
        self.unpinned += u64::from(self.recipe == Recipe::Unified && !is_pinned(&record));
        if self.rules == Rules::Strict {
            form::record(text, &record, self.recipe, at, findings);
            if self.recipe == Recipe::Aer {
                witness::check(&record, at, findings);
            }
            self.check_filters(&record, at, findings);
            self.check_references(&record, id, line, at, findings);
        }
        id
    }

    fn blob(&mut self, record: &LegacyRecord, line: u64, at: &str, findings: &mut Findings) {
        let LegacyPayload::Blob { hash, size, .. } = &record.payload else { return };
        // Only a digest may become part of a path. Upstream goes wherever the text leads, and then
        // finds another hash than that text.
        let Some(blob) = Digest::from_hex(hash.as_bytes()) else {
            let detail = format!("`payload.hash` is `{hash}`, which cannot name a blob");
            findings.add(Finding::new(Code::Legacy, at, detail));
            return;
        };
        let first = self.blobs.entry(blob).or_insert(Expected { bytes: *size, line });
        if first.bytes != *size && self.rules == Rules::Strict {
            let detail = format!(
                "`size` is {size}, the record on line {} says {} of the same blob",
                first.line, first.bytes
            );
            findings.add(Finding::new(Code::BlobSize, at, detail));
        }
    }

    /// An export that was filtered holds nothing that the filter excludes.
    fn check_filters(&self, record: &LegacyRecord, at: &str, findings: &mut Findings) {
        let other_agent = match (&self.filters.agent_id, &record.meta.agent_id) {
            (Some(wanted), Some(agent)) => wanted != agent,
            (Some(_) | None, _) => false,
        };
        let too_early = self.filters.since_time.as_ref().is_some_and(|it| record.meta.ts < *it);
        if other_agent || too_early {
            let detail = "the record is outside the filters that the manifest states";
            findings.add(Finding::new(Code::LegacyStrict, at, detail));
        }
    }

    fn check_references(
        &mut self,
        record: &LegacyRecord,
        id: Option<Digest>,
        line: u64,
        at: &str,
        findings: &mut Findings,
    ) {
        for parent in record.parents.iter().filter_map(|it| Digest::from_hex(it.as_bytes())) {
            if self.known.contains(self.ids.of(&parent)) {
                continue;
            }
            if self.awaited.len() < AWAITED_MAX {
                self.awaited.push((parent, line));
            } else {
                let detail = format!("the parent {parent} does not stand before its child");
                findings.add(Finding::new(Code::ParentMissing, at, detail));
            }
        }
        let Some(id) = id else { return };
        let known = self.ids.of(&id);
        // A unified id cuts the time to seconds, so that two honest records may share it.
        if self.recipe == Recipe::Aer && self.known.contains(known) {
            let detail = format!(
                "an earlier record has the id {id} too; type, principal, taint and parents of the \
                 two may differ"
            );
            findings.add(Finding::new(Code::LegacyStrict, at, detail));
        }
        self.known.insert(known);
    }

    /// What can be said only when every record was read.
    pub(crate) fn finish(&mut self, findings: &mut Findings) {
        for (parent, line) in std::mem::take(&mut self.awaited) {
            let at = format!("{RECORDS}:{line}");
            if self.known.contains(self.ids.of(&parent)) {
                let detail = format!("the parent {parent} stands after its child");
                findings.add(Finding::new(Code::ParentAfterChild, at, detail));
            } else if !self.filters.any() {
                let detail = format!("the parent {parent} is no record of the bundle");
                findings.add(Finding::new(Code::ParentMissing, at, detail));
            }
        }
    }
}

fn is_pinned(record: &LegacyRecord) -> bool {
    let payload = match &record.payload {
        LegacyPayload::Inline { data } => value_is_pinned(data),
        LegacyPayload::Blob { mime, .. } => mime.as_deref().is_none_or(canon::is_pinned),
    };
    payload && record.meta.texts().all(|(_, text)| canon::is_pinned(text))
}
