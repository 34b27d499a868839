//! The note of where a journal stands while nobody has it open.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use aegx::Digest;
use aegx::merkle::Frontier;
use serde::{Deserialize, Serialize};

use crate::checkpoints::Kept;
use crate::disk::Disk;
use crate::layout::Layout;
use crate::segment::Checked;
use crate::writer::Tip;
use files::private;

/// Where the last writer left the journal: one who closed it, or one who passed ([`crate::append_passing`]).
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clean {
    pub(crate) segment: u64,
    pub(crate) end: u64,
    pub(crate) size: u64,
    pub(crate) head: String,
    /// Was it closed in order, so that nothing is behind this? Those who pass change the note after what they have
    /// written: behind theirs there may be what a crash has left.
    pub(crate) is_last_word: bool,
    /// What it takes to go on from here without reading the segment.
    pub(crate) standing: Option<Standing>,
}

/// What a writer would otherwise learn from the segment.
#[derive(Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Standing {
    pub(crate) journal: String,
    /// Index of the segment's first record.
    pub(crate) first: u64,
    /// The Merkle tree over all records, as its peaks.
    pub(crate) peaks: Vec<String>,
    /// Above the `meta.seq` of every record.
    pub(crate) seq: u64,
    /// Signs the tree: who changes the note would have to sign it.
    pub(crate) checkpoint: Kept,
    /// Size and time of the last checkpoint in the list.
    pub(crate) listed: (u64, i64),
}

/// The note is this long, padded with spaces, so that it can be written over without being cut: above the peaks of
/// the largest tree and a checkpoint.
const CLEAN_BYTES: usize = 8192;

impl Clean {
    /// The note, if there is one. What is no note does not count as one: the start then verifies
    /// more, not less.
    pub(crate) fn read(layout: &Layout) -> io::Result<Option<Self>> {
        let path = layout.clean();
        let file = match private::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        if !is_left_alone(&file) {
            return Ok(None);
        }
        let bytes = private::read_open(&file, CLEAN_BYTES as u64);
        // Closing is not enough: a child that is just being started still holds what it inherited.
        let _closed_soon = file.unlock();
        Ok(serde_json::from_slice(&bytes?).ok())
    }

    /// The note of one who leaves the journal at `tip`, as the last word on it.
    pub(crate) fn of(tip: &Tip, standing: Option<Standing>) -> Self {
        Self {
            segment: tip.segment,
            end: tip.offset,
            size: tip.next_idx,
            head: tip.head.to_string(),
            is_last_word: true,
            standing,
        }
    }

    /// Is this what it says of a segment that was found?
    pub(crate) fn fits(&self, checked: &Checked) -> bool {
        self.segment == checked.header.segment
            && self.end == checked.end
            && self.size == checked.next_idx
            && self.head == checked.head.to_string()
    }

    /// May there be something behind it, which a crash kept from being noted?
    pub(crate) fn may_be_behind(&self, checked: &Checked) -> bool {
        !self.is_last_word && self.size <= checked.next_idx
    }

    /// Notes where the journal stands, durably.
    pub(crate) fn write(&self, layout: &Layout) -> io::Result<()> {
        private::replace(&layout.clean(), &self.to_bytes()?)
    }

    /// As [`Clean::write`], over the note that is there and without waiting for the disk: one that is torn or old
    /// makes the next start verify more. Whoever reads it at this moment gets another file, not half of each note.
    pub(crate) fn write_over(&self, layout: &Layout) -> io::Result<()> {
        let file = private::open_with(&layout.clean(), OpenOptions::new().write(true))?;
        if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
            return self.write(layout);
        }
        let written = file.write_all_at(&self.to_bytes()?, 0);
        let _closed_soon = file.unlock();
        written
    }

    fn to_bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(self)?;
        if bytes.len() > CLEAN_BYTES {
            return Err(io::Error::other("the note of where the journal stands is too long"));
        }
        bytes.resize(CLEAN_BYTES, b' ');
        Ok(bytes)
    }

    /// Takes the note away before anything is written that it does not know of.
    pub(crate) fn remove(layout: &Layout, disk: &dyn Disk) -> io::Result<()> {
        disk.remove(&layout.clean())
    }
}

/// Waits until nobody writes over it, and keeps them from it until it is unlocked. No, if that takes too long.
fn is_left_alone(file: &File) -> bool {
    for _ in 0..WAITS_MAX {
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => thread::sleep(WAIT),
            Ok(()) | Err(TryLockError::Error(_)) => return true,
        }
    }
    false
}

/// Writing over a note takes microseconds; one who was stopped on the way is not waited for.
const WAITS_MAX: u32 = 200;
const WAIT: Duration = Duration::from_millis(1);

impl Standing {
    /// What is known at the tip, if its tree is the one that was signed and no entry is open.
    pub(crate) fn of(tip: &Tip, seq: u64, checkpoint: Kept, listed: (u64, i64)) -> Option<Self> {
        (checkpoint.size == tip.next_idx && tip.open.is_empty()).then(|| Self {
            journal: tip.journal.clone(),
            first: tip.segment_first,
            peaks: tip.frontier.peaks().iter().map(Digest::to_string).collect(),
            seq,
            checkpoint,
            listed,
        })
    }

    /// The tree, of `size` records.
    pub(crate) fn frontier(&self, size: u64) -> Option<Frontier> {
        let peaks = self.peaks.iter().filter_map(|it| Digest::from_hex(it.as_bytes())).collect();
        Frontier::from_peaks(size, peaks).ok()
    }
}
