//! Verifying a whole journal: every record, every link, every signature, every blob.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};

use aegx::note::VerifierKey;
use aegx::verify::BlobUse;
use aegx::{Digest, Hasher};

use crate::blobs::Blobs;
use crate::chain::{self, Damage};
use crate::checkpoints;
use crate::clean::Clean;
use crate::layout::Layout;
use crate::reader::{ReadError, Reader};
use crate::segment::Checked;
use crate::{statements, tree};

/// What to hold the journal against.
#[derive(Default)]
pub struct Against {
    /// The key that its checkpoints must be signed with. Without it the journal's own public key
    /// is taken, which whoever rewrote the journal could have replaced too.
    pub key: Option<VerifierKey>,
    /// A checkpoint that was kept elsewhere, as a signed note.
    pub checkpoint: Option<String>,
}

/// The outcome.
#[derive(Debug, Default)]
pub struct Verified {
    /// Records that are there.
    pub records: u64,
    /// Index of the oldest; those before it were retired.
    pub first: u64,
    /// Segments that are there.
    pub segments: u64,
    /// Blobs that were checked.
    pub blobs: u64,
    /// Checkpoints whose signature and root hold.
    pub checkpoints: u64,
    /// Records that the last of them covers.
    pub signed_size: u64,
    /// Was the key given from outside?
    pub pinned: bool,
    /// Everything that is wrong.
    pub damages: Vec<Damage>,
}

/// Verifies the journal that `reader` reads.
///
/// # Errors
/// If it cannot be read at all. What is wrong with it is in [`Verified::damages`].
pub fn verify(reader: &Reader, against: &Against) -> Result<Verified, ReadError> {
    const LOOKS_MAX: usize = 3;
    let mut looks = 0;
    loop {
        let oldest = reader.segments()?.first().copied();
        let verified = look(reader, against)?;
        looks += 1;
        // What is missing may just have been deleted by retention.
        let moved = reader.segments()?.first().copied() != oldest;
        if verified.damages.is_empty() || !moved || looks == LOOKS_MAX {
            return Ok(verified);
        }
    }
}

fn look(reader: &Reader, against: &Against) -> Result<Verified, ReadError> {
    let layout = reader.layout();
    let mut verified = Verified { pinned: against.key.is_some(), ..Verified::default() };
    // The signatures first: what they cover is then in the segments, however much is written.
    let statements = statements::read(layout, against, &mut verified.damages);
    let sizes: BTreeSet<u64> = statements.iter().map(|it| it.size).collect();
    let note = Clean::read(layout).ok().flatten();
    let leaves = tree::known_leaves(layout);
    let numbers = reader.segments()?;

    let (checked, damages) = chain::check_contents(layout, &numbers, &sizes);
    verified.damages.extend(damages);
    join(layout, &numbers, &checked, &mut verified);
    let journal = checked.values().next().map(|it| it.header.journal.as_str());
    let named =
        |it: &statements::Statement| journal.is_none_or(|id| it.origin == checkpoints::origin(id));
    if !statements.iter().all(named) {
        let what = "the checkpoints are of another journal".to_owned();
        verified.damages.push(Damage::of_journal(what));
    }
    statements::check(layout, &statements, &checked, &mut verified);
    check_note(layout, note.as_ref(), &checked, &mut verified);
    check_leaves(leaves, &checked, &mut verified);
    check_blobs(layout, &checked, &mut verified);
    verified.damages.sort_by_key(|damage| (damage.segment, damage.offset));
    Ok(verified)
}

/// Does each segment go on where the one before ended?
fn join(
    layout: &Layout,
    numbers: &[u64],
    segments: &BTreeMap<u64, Checked>,
    verified: &mut Verified,
) {
    verified.segments = segments.len() as u64;
    verified.first = segments.values().next().map_or(0, |it| it.header.first);
    verified.records = segments.values().map(|it| it.next_idx - it.header.first).sum();
    let last = numbers.last().copied();
    if let Some(header) = last.and_then(|last| segments.get(&last)).map(|it| &it.header)
        && let Err(damage) = chain::check_links(layout, numbers, header)
    {
        verified.damages.push(damage);
    }
    verified.damages.extend(chain::check_joins(segments));
    let announced = segments.values().filter_map(|it| it.retires_through).max();
    let oldest = segments.keys().next().copied().unwrap_or(0);
    if oldest > 0 && announced.is_none_or(|through| through < oldest - 1) {
        let what = format!("the {oldest} oldest segments were deleted without a record of it");
        verified.damages.push(Damage::of_journal(what));
    }
    let note = Clean::read(layout).ok().flatten();
    let clean = note.is_some_and(|it| it.is_last_word);
    for (number, checked) in segments {
        if let Some(broken) = &checked.broken {
            let torn = broken.torn_tail && Some(*number) == last && !clean;
            let hint = if torn { ": torn by a crash? the next start cuts it" } else { "" };
            let what = format!("record {}: {}{hint}", broken.idx, broken.why);
            verified.damages.push(Damage::at(*number, broken.offset, what));
        }
    }
}

/// Does the journal still hold what was noted when it was left? `note` was read before the segments.
fn check_note(
    layout: &Layout,
    note: Option<&Clean>,
    segments: &BTreeMap<u64, Checked>,
    verified: &mut Verified,
) {
    let Some(note) = note else { return };
    let last = segments.values().next_back();
    let end = last.map_or(0, |it| it.next_idx);
    let size = note.size;
    let what = if size > end {
        format!("clean.json knows of {size} records, {end} are left")
    } else if size == end && last.is_some_and(|it| it.head.to_string() != note.head) {
        "the last record is not the one that clean.json knows".to_owned()
    } else if note.is_last_word && size < end && is_still(layout, note) {
        format!("clean.json says that {size} records are all, {end} are there")
    } else {
        return;
    };
    verified.damages.push(Damage::of_journal(what));
}

/// Is the note the same as before? A writer takes it away before it writes.
fn is_still(layout: &Layout, note: &Clean) -> bool {
    Clean::read(layout).ok().flatten().is_some_and(|now| now == *note)
}

/// Are all the records there that the tree knows of? It was looked at before the segments.
fn check_leaves(
    leaves: io::Result<u64>,
    segments: &BTreeMap<u64, Checked>,
    verified: &mut Verified,
) {
    let end = segments.values().next_back().map_or(0, |it| it.next_idx);
    let what = match leaves {
        Ok(leaves) if leaves <= end => return,
        Ok(leaves) => format!(
            "`tree/` knows of {leaves} records, {end} are left: cut off, or taken by a crash before \
             they were durable, which the next start then says"
        ),
        Err(error) => format!("`tree/`: {error}"),
    };
    verified.damages.push(Damage::of_journal(what));
}

fn check_blobs(layout: &Layout, segments: &BTreeMap<u64, Checked>, verified: &mut Verified) {
    let blobs = Blobs::new(layout.blobs());
    let mut seen = BTreeSet::new();
    for (number, checked) in segments {
        for (idx, claim) in &checked.blobs {
            if !seen.insert((claim.blob, claim.bytes)) {
                continue;
            }
            verified.blobs += 1;
            if let Err(why) = check_blob(&blobs, claim) {
                let what = format!("record {idx}: blob {}: {why}", claim.blob);
                verified.damages.push(Damage::at(*number, 0, what));
            }
        }
    }
}

fn check_blob(blobs: &Blobs, claim: &BlobUse) -> Result<(), String> {
    let hash = || -> io::Result<(Digest, u64)> {
        let mut file = blobs.open(&claim.blob)?;
        let mut hasher = Hasher::new();
        let mut buffer = vec![0; 256 << 10];
        let mut total = 0;
        loop {
            let read = file.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|it| !it.is_empty()) else {
                return Ok((hasher.finish(), total));
            };
            hasher.update(bytes);
            total += read as u64;
        }
    };
    let (actual, bytes) = hash().map_err(|error| error.to_string())?;
    if actual != claim.blob {
        return Err(format!("its content has the hash {actual}"));
    }
    if bytes != claim.bytes {
        return Err(format!("it has {bytes} bytes, the record says {}", claim.bytes));
    }
    Ok(())
}
