//! Verifies a segment from its header on: every hash, every link, every part.

use std::collections::{BTreeMap, BTreeSet};

use aegx::merkle::{self, Frontier};
use aegx::verify::{BlobUse, check_record_line};
use aegx::{Digest, Principal, Record, audit};
use serde_json::Value;

use super::format::{Header, OpenMark, Seal};
use super::walk::{BATCH_START, Item, SEAL_START, Walk};

/// What a segment turned out to hold.
pub(crate) struct Checked {
    pub(crate) header: Header,
    /// Index of the record that would come next.
    pub(crate) next_idx: u64,
    /// Hash of the last sound entry.
    pub(crate) head: Digest,
    /// The tree over all records up to it.
    pub(crate) frontier: Frontier,
    /// Entries that are open behind it.
    pub(crate) open: BTreeMap<u64, OpenMark>,
    /// Where the next part would go.
    pub(crate) end: u64,
    /// Is it complete?
    pub(crate) seal: Option<Seal>,
    /// The first thing that is wrong.
    pub(crate) broken: Option<Broken>,
    /// Blobs that its records name, with the record's index.
    pub(crate) blobs: Vec<(u64, BlobUse)>,
    /// The last segment whose deletion its records announce.
    pub(crate) retires_through: Option<u64>,
    /// Roots of the tree at the sizes that were asked for.
    pub(crate) roots: BTreeMap<u64, Digest>,
}

/// The first thing that is wrong with a segment.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    /// Where.
    pub(crate) offset: u64,
    /// Index of the record there.
    pub(crate) idx: u64,
    /// What.
    pub(crate) why: String,
    /// Can it be what a crash left of the last batch? Only if no batch and no seal begins behind
    /// it: either is written when everything before it was synced.
    pub(crate) torn_tail: bool,
}

/// Verifies a segment. `None` if it does not even have a header.
pub(crate) fn check(bytes: &[u8]) -> Option<Checked> {
    check_noting(bytes, &BTreeSet::new())
}

/// As [`check`], noting the root of the tree at each of `sizes` that lies in the segment.
pub(crate) fn check_noting(bytes: &[u8], sizes: &BTreeSet<u64>) -> Option<Checked> {
    let (header, mut walk) = Walk::begin(bytes).ok()?;
    let mut checked = Checked {
        next_idx: header.first,
        head: header.head_digest()?,
        frontier: header.frontier().ok()?,
        open: header.open.iter().map(|mark| (mark.entry, mark.clone())).collect(),
        end: walk.offset(),
        seal: None,
        broken: None,
        blobs: Vec::new(),
        retires_through: None,
        roots: BTreeMap::new(),
        header,
    };
    checked.note_root(sizes);
    let mut scratch = Vec::new();
    while let Some(item) = walk.next() {
        let verdict = match item {
            Err(_) => Err("not a whole record and entry".to_owned()),
            Ok(item) => take(&mut checked, item, &mut scratch),
        };
        checked.note_root(sizes);
        if let Err(why) = verdict {
            checked.broken = Some(broken(bytes, &checked, why));
            break;
        }
        checked.end = walk.offset();
    }
    if checked.broken.is_none() && has_leftovers(bytes, checked.end) {
        let why = "data after the end".to_owned();
        checked.broken = Some(broken(bytes, &checked, why));
    }
    Some(checked)
}

impl Checked {
    fn note_root(&mut self, sizes: &BTreeSet<u64>) {
        if sizes.contains(&self.next_idx) {
            self.roots.entry(self.next_idx).or_insert_with(|| self.frontier.root());
        }
    }
}

fn take(checked: &mut Checked, item: Item<'_>, scratch: &mut Vec<u8>) -> Result<(), String> {
    if checked.seal.is_some() {
        return Err("data after the seal".to_owned());
    }
    match item {
        Item::Batch(idx) if idx == checked.next_idx => Ok(()),
        Item::Batch(idx) => Err(format!("a batch says {idx}, the next is {}", checked.next_idx)),
        Item::Entry { record, audit, .. } => take_entry(checked, record, audit, scratch),
        Item::Seal(seal) => {
            let expected = Seal {
                sealed: checked.header.segment,
                count: checked.next_idx - checked.header.first,
                head: checked.head.to_string(),
                root: checked.frontier.root().to_string(),
            };
            if seal != expected {
                return Err("the seal does not fit the records".to_owned());
            }
            checked.seal = Some(seal);
            Ok(())
        }
    }
}

fn take_entry(
    checked: &mut Checked,
    record: &[u8],
    entry: &[u8],
    scratch: &mut Vec<u8>,
) -> Result<(), String> {
    let facts = check_record_line(record).map_err(|findings| {
        findings.first().map_or_else(|| "no record".to_owned(), |it| it.detail.clone())
    })?;
    // The entry must be, byte for byte, the one that follows from the record and everything before
    // it; its time is the record's.
    scratch.clear();
    let head = audit::write_entry(scratch, checked.next_idx, &facts.ts, &facts.id, &checked.head);
    if scratch != entry {
        return Err("the entry does not follow from the record and the entry before".to_owned());
    }
    if memchr::memmem::find(record, b"\"phase\":\"").is_some() {
        track(checked, record, &facts.id);
    }
    if memchr::memmem::find(record, RETIREMENT).is_some() {
        checked.retires_through = retires_through(record).max(checked.retires_through);
    }
    if let Some(blob) = facts.blob {
        checked.blobs.push((checked.next_idx, blob));
    }
    checked.frontier.push(merkle::leaf_hash(&facts.id));
    checked.head = head;
    checked.next_idx += 1;
    Ok(())
}

/// What the record of a retirement holds, and what a line that only quotes it may hold too.
const RETIREMENT: &[u8] = b"\"kind\":\"journal_retired\"";

/// The last segment that a record says may go, if that is what it says.
fn retires_through(line: &[u8]) -> Option<u64> {
    let record: Record = serde_json::from_slice(line).ok()?;
    let kind = record.meta.get("kind").and_then(Value::as_str);
    let ours = kind == Some("journal_retired") && record.principal == Principal::Sys;
    record.payload.inline().filter(|_| ours)?.get("through")?.as_u64()
}

/// Keeps the list of open entries. The text was found in the line, perhaps only in the content.
fn track(checked: &mut Checked, line: &[u8], id: &Digest) {
    let Ok(record) = serde_json::from_slice::<Record>(line) else { return };
    let text = |key: &str| record.meta.get(key).and_then(Value::as_str);
    let Some(entry) = record.meta.get("entry").and_then(Value::as_u64) else { return };
    match text("phase") {
        Some("open") => {
            let mark = OpenMark {
                entry,
                id: id.to_string(),
                session: text("session").map(str::to_owned),
                agent: text("agent").map(str::to_owned),
            };
            checked.open.insert(entry, mark);
        }
        Some("close") => {
            checked.open.remove(&entry);
        }
        _ => {}
    }
}

/// `ts` of an entry's line, whose layout is fixed.
pub(crate) fn entry_ts(entry: &[u8]) -> Option<&[u8]> {
    let rest = entry.strip_prefix(b"{\"idx\":")?;
    let digits = rest.iter().take_while(|it| it.is_ascii_digit()).count();
    rest.get(digits..)?.strip_prefix(b",\"ts\":\"")?.get(..20)
}

fn broken(bytes: &[u8], checked: &Checked, why: String) -> Broken {
    let start = usize::try_from(checked.end).unwrap_or(usize::MAX);
    let rest = bytes.get(start..).unwrap_or_default();
    // The broken part may itself begin with a batch line or a seal; only a later one tells.
    let later = |start: &[u8]| memchr::memmem::find(rest, &[b"\n", start].concat()).is_some();
    let later = later(BATCH_START) || later(SEAL_START);
    Broken { offset: checked.end, idx: checked.next_idx, why, torn_tail: !later }
}

fn has_leftovers(bytes: &[u8], end: u64) -> bool {
    let start = usize::try_from(end).unwrap_or(usize::MAX);
    used(bytes.get(start..).unwrap_or_default()) > 0
}

/// How much of `bytes` is used: up to the last that is not zero.
pub(crate) fn used(bytes: &[u8]) -> usize {
    // By whole pages, which are compared many bytes at a time: most of a segment is room that is not used yet.
    let empty = bytes.rchunks_exact(NO_DATA.len()).take_while(|page| **page == NO_DATA).count();
    let rest = bytes.get(..bytes.len() - empty * NO_DATA.len()).unwrap_or_default();
    rest.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

/// A page of room that is not used.
const NO_DATA: [u8; 4096] = [0; 4096];
