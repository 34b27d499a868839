//! How much a connection has carried so far, for who waits for it and for who records it.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much went through a connection, and whom it is with.
#[derive(Debug, Default)]
pub struct Carried {
    sent: AtomicU64,
    received: AtomicU64,
    address: OnceLock<IpAddr>,
    over: AtomicBool,
}

impl Carried {
    /// So many bytes more went out.
    pub fn add_sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// So many bytes more came back.
    pub fn add_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes that went out.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Bytes that came back.
    #[must_use]
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The vetted address that was dialled, if one was.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.address.get().copied()
    }

    /// One exchange has one connection: the first counts.
    pub(crate) fn dialled(&self, address: IpAddr) {
        let _ = self.address.set(address);
    }

    /// More was to be sent than may be.
    pub(crate) fn went_over(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
