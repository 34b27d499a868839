//! Labels of content: what came from outside is known again, wherever it turns up.

use aegx::Digest;
use model::TaintTag;

use crate::error::Broken;

/// Keeps labels of content by its digests; see [`Fingerprint`](crate::Fingerprint).
pub trait Labels: Send + Sync {
    /// The worst label of any of `digests`.
    ///
    /// # Errors
    /// If the store does not work; the content must then be taken as tainted.
    fn label_of(&self, digests: &[Digest]) -> Result<Option<TaintTag>, Broken>;

    /// Labels each of `digests`. A label that is there becomes worse, never better, and stays until
    /// a person clears it.
    ///
    /// # Errors
    /// If it may not be durable.
    fn remember_label(&self, digests: &[Digest], tag: &TaintTag) -> Result<(), Broken>;
}

/// The most labels that a store keeps.
pub const LABELS_MAX: i64 = 100_000_000;
