//! Counts of what the writer did since it was started.

use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Default)]
pub(crate) struct Counters {
    records: AtomicU64,
    bytes: AtomicU64,
    batches: AtomicU64,
    syncs: AtomicU64,
}

/// What the writer did since it was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterStats {
    /// Records made durable.
    pub records: u64,
    /// Bytes written for them.
    pub bytes: u64,
    /// Batches they were written in.
    pub batches: u64,
    /// Calls of `fdatasync` for them.
    pub syncs: u64,
}

impl Counters {
    pub(crate) fn batch(&self, records: u64, bytes: u64) {
        self.records.fetch_add(records, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sync(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> WriterStats {
        WriterStats {
            records: self.records.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }
}
