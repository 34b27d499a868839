//! What verification says in the end.

use std::collections::BTreeMap;

use super::finding::{Class, Finding};

/// The outcome of verifying a bundle.
#[derive(Debug)]
pub struct Report {
    /// Which of the formats it is.
    pub format: Format,
    /// Records read.
    pub records: u64,
    /// Files in `blobs/`.
    pub blobs: u64,
    /// Their length together.
    pub blob_bytes: u64,
    /// Records by type.
    pub by_type: BTreeMap<String, u64>,
    /// Records by principal.
    pub by_principal: BTreeMap<String, u64>,
    /// Everything found, up to [`FINDINGS_LISTED_MAX`].
    pub findings: Vec<Finding>,
    /// How much was found, listed or not.
    pub findings_total: u64,
    /// The worst of it.
    pub worst: Option<Class>,
    /// Things that are no fault of the bundle but that its reader should know.
    pub notes: Vec<String>,
}

impl Report {
    /// The report on something that could not even be opened as a bundle.
    #[must_use]
    pub fn of_one(finding: Finding) -> Self {
        let mut findings = Findings::default();
        findings.add(finding);
        findings.into_report(Format::Aegx01)
    }

    /// Was nothing found?
    #[must_use]
    pub fn ok(&self) -> bool {
        self.findings_total == 0
    }
}

/// The formats that share the name AEGX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// AEGX v0.1, the one that is written.
    Aegx01,
    /// AER 0.1.x: snake case, integer taint, ids over payload and meta only.
    Aer01,
    /// Unified 0.2.0: AER's fields with AEGX's hashing.
    Unified02,
}

impl Format {
    /// A short stable name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aegx01 => "aegx-0.1",
            Self::Aer01 => "aer-0.1",
            Self::Unified02 => "unified-0.2",
        }
    }
}

/// A bound on memory; a bundle with more is counted further but not listed.
pub const FINDINGS_LISTED_MAX: usize = 10_000;

/// Collects findings within the bound: one line may hold millions of faults.
#[derive(Default)]
pub(crate) struct Findings {
    listed: Vec<Finding>,
    total: u64,
    worst: Option<Class>,
}

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        self.total += 1;
        self.worst = self.worst.max(Some(finding.code.class()));
        if self.listed.len() < FINDINGS_LISTED_MAX {
            self.listed.push(finding);
        }
    }

    /// Adds what another collector holds, listed or not.
    pub(crate) fn append(&mut self, other: Self) {
        let room = FINDINGS_LISTED_MAX.saturating_sub(self.listed.len());
        self.listed.extend(other.listed.into_iter().take(room));
        self.total += other.total;
        self.worst = self.worst.max(other.worst);
    }

    /// How many there are, listed or not.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Is there something among them that could not be read?
    pub(crate) fn is_unreadable(&self) -> bool {
        self.worst == Some(Class::Unreadable)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    pub(crate) fn into_listed(self) -> Vec<Finding> {
        self.listed
    }

    pub(crate) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.add(finding));
    }

    pub(crate) fn into_report(self, format: Format) -> Report {
        Report {
            format,
            records: 0,
            blobs: 0,
            blob_bytes: 0,
            by_type: BTreeMap::new(),
            by_principal: BTreeMap::new(),
            findings: self.listed,
            findings_total: self.total,
            worst: self.worst,
            notes: Vec::new(),
        }
    }
}
