//! Reads the audit log of an older format entry by entry and checks the chain on the way.

use std::collections::VecDeque;

use super::entry::LegacyEntry;
use super::form;
use super::recipe::Recipe;
use super::text_lines::TextLines;
use super::time::Time;
use crate::archive::Rules;
use crate::digest::Digest;
use crate::source::{AUDIT_LOG, Source};
use crate::verify::lines::Line;
use crate::verify::report::Findings;
use crate::verify::{Code, Finding, Progress, frame};

/// The log while it is read.
pub(crate) struct AuditLog<'s> {
    lines: Option<TextLines<'s>>,
    recipe: Recipe,
    rules: Rules,
    progress: &'s Progress<'s>,
    /// Entries of the chunk at hand.
    ready: VecDeque<Link>,
    chain: Chain,
}

/// What pairing needs to know of an entry.
pub(crate) struct Link {
    pub(crate) line: u64,
    /// `None` if the line could not be read.
    pub(crate) record_id: Option<Digest>,
    pub(crate) ts: Option<Time>,
}

impl<'s> AuditLog<'s> {
    pub(crate) fn open(
        source: &'s Source,
        recipe: Recipe,
        rules: Rules,
        progress: &'s Progress<'s>,
        findings: &mut Findings,
    ) -> Self {
        let lines = match TextLines::open(source, AUDIT_LOG) {
            Ok(lines) => lines,
            Err(error) => {
                findings.add(Finding::of_unreadable(AUDIT_LOG, error));
                None
            }
        };
        if lines.is_none() && rules == Rules::Strict {
            findings.add(Finding::new(Code::FileUnreadable, AUDIT_LOG, "the file is missing"));
        }
        let chain = Chain { next_idx: 0, head: Some(Digest::ZERO.to_string()) };
        Self { lines, recipe, rules, progress, ready: VecDeque::new(), chain }
    }

    /// The next entry, checked.
    pub(crate) fn next(&mut self, findings: &mut Findings) -> Option<Link> {
        while self.ready.is_empty() {
            self.fill(findings)?;
        }
        self.ready.pop_front()
    }

    /// Entries read so far.
    pub(crate) fn entries(&self) -> u64 {
        self.chain.next_idx
    }

    fn fill(&mut self, findings: &mut Findings) -> Option<()> {
        let chunk = match self.lines.as_mut()?.next_chunk() {
            Ok(chunk) => chunk,
            Err(finding) => {
                findings.add(finding);
                None
            }
        };
        let Some(chunk) = chunk else {
            self.lines = None;
            return None;
        };
        self.progress.add(chunk.bytes.len() as u64);
        for line in chunk.lines() {
            let link = self.check(&line, findings);
            self.ready.extend(link);
        }
        Some(())
    }

    fn check(&mut self, line: &Line<'_>, findings: &mut Findings) -> Option<Link> {
        let at = format!("{AUDIT_LOG}:{}", line.number);
        let text = frame::unwrap(line, &at, self.rules, findings)?;
        let entry: LegacyEntry = match serde_json::from_str(text) {
            Ok(entry) => entry,
            Err(error) => {
                findings.add(Finding::new(Code::AuditParse, at, error));
                self.chain.skip();
                return Some(Link { line: line.number, record_id: None, ts: None });
            }
        };
        let actual = self.recipe.entry_hash(&entry);
        self.chain.extend(&entry, &actual, &at, findings);
        if self.rules == Rules::Strict {
            form::entry(text, &entry, &at, findings);
        }
        let record_id = Digest::from_hex(entry.record_id.as_bytes());
        if record_id.is_none() && self.rules == Rules::Strict {
            let detail = format!("`record_id` is `{}`, not a hash", entry.record_id);
            findings.add(Finding::new(Code::AuditSchema, at, detail));
        }
        Some(Link { line: line.number, record_id, ts: Some(entry.ts) })
    }
}

struct Chain {
    next_idx: u64,
    /// What the last entry claims to be; `None` if it could not be read.
    head: Option<String>,
}

impl Chain {
    fn extend(&mut self, entry: &LegacyEntry, actual: &Digest, at: &str, findings: &mut Findings) {
        if entry.idx != self.next_idx {
            let detail = format!("`idx` is {}, the entry stands at {}", entry.idx, self.next_idx);
            findings.add(Finding::new(Code::AuditIdx, at, detail));
        }
        if let Some(head) = self.head.as_ref().filter(|head| **head != entry.prev_hash) {
            let detail =
                format!("`prev_hash` is `{}`, the entry before has {head}", entry.prev_hash);
            findings.add(Finding::new(Code::AuditPrev, at, detail));
        }
        if Digest::from_hex(entry.entry_hash.as_bytes()) != Some(*actual) {
            let detail = format!("`entry_hash` is `{}`, the entry has {actual}", entry.entry_hash);
            findings.add(Finding::new(Code::AuditHash, at, detail));
        }
        self.next_idx += 1;
        self.head = Some(entry.entry_hash.clone());
    }

    fn skip(&mut self) {
        self.next_idx += 1;
        self.head = None;
    }
}
