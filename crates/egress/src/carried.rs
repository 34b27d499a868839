//! How much a connection has carried so far, for who waits for it and for who records it, and why it was cut off.

use std::fmt::Debug;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use scan::net::Refused;

/// What may be carried by several connections together.
pub trait Allowance: Debug + Send + Sync {
    /// So many bytes more are to go out. Where that is allowed, they count.
    ///
    /// # Errors
    /// The rule by which they do not go.
    fn send(&self, bytes: u64) -> Result<(), Refused>;

    /// So many bytes more have come back, and are to be passed on. Where that is allowed, they count.
    ///
    /// # Errors
    /// The rule by which they are not.
    fn receive(&self, bytes: u64) -> Result<(), Refused>;
}

/// How much went through a connection, and whom it is with.
#[derive(Debug, Default)]
pub struct Carried {
    sent: AtomicU64,
    received: AtomicU64,
    address: OnceLock<IpAddr>,
    allowance: Option<Arc<dyn Allowance>>,
    cut_off: OnceLock<Refused>,
}

impl Carried {
    /// Nothing so far, and no more than `allowance` says.
    #[must_use]
    pub fn within(allowance: Option<Arc<dyn Allowance>>) -> Self {
        Self { allowance, ..Self::default() }
    }

    /// So many bytes more go out, unless that is too much.
    ///
    /// # Errors
    /// The rule by which they do not. The connection is to end then.
    pub fn send(&self, bytes: usize) -> Result<(), Refused> {
        self.count(&self.sent, bytes, |it, more| it.send(more))
    }

    /// So many bytes more have come back, and are passed on unless that is too much.
    ///
    /// # Errors
    /// As [`Carried::send`].
    pub fn receive(&self, bytes: usize) -> Result<(), Refused> {
        self.count(&self.received, bytes, |it, more| it.receive(more))
    }

    fn count(
        &self,
        so_far: &AtomicU64,
        bytes: usize,
        take: impl FnOnce(&dyn Allowance, u64) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let more = bytes as u64;
        if let Some(Err(refused)) = self.allowance.as_deref().map(|it| take(it, more)) {
            self.cut_off_by(refused.clone());
            return Err(refused);
        }
        so_far.fetch_add(more, Ordering::Relaxed);
        Ok(())
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

    /// Why it was cut off on its way, if it was.
    #[must_use]
    pub fn cut_off(&self) -> Option<&Refused> {
        self.cut_off.get()
    }

    /// One exchange has one connection: the first counts.
    pub(crate) fn dialled(&self, address: IpAddr) {
        let _ = self.address.set(address);
    }

    /// More was to be carried than may be: the first reason counts.
    pub(crate) fn cut_off_by(&self, refused: Refused) {
        let _ = self.cut_off.set(refused);
    }
}
