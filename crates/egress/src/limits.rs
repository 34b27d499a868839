//! What one exchange may cost.

use std::time::Duration;

/// Addresses of one name that are looked at. A name with more is refused: the rest would not be vetted.
pub const ADDRESSES_MAX: usize = 64;
/// Names whose addresses are remembered.
pub(crate) const NAMES_KEPT_MAX: usize = 4096;
/// Header fields of an answer.
pub const FIELDS_MAX: usize = 128;
/// Redirects that are followed.
pub const REDIRECTS_MAX: usize = 5;

/// Lookups of names by the system at once. Each holds a thread until the system is done, also when nobody
/// waits for it any more.
pub(crate) const LOOKUPS_MAX: usize = 64;
/// The same for the programs of one agent: names that nobody answers for keep none of the others waiting.
pub(crate) const LOOKUPS_PER_AGENT_MAX: usize = 16;
/// The head of an answer: hyper does not work with less.
pub(crate) const HEAD_BYTES_MIN: usize = 8192;

/// What one exchange may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To look a name up.
    pub lookup: Duration,
    /// How long the addresses of a name are remembered. They are vetted each time all the same.
    pub name_kept: Duration,
    /// To connect to one address; and once more for TLS.
    pub connect: Duration,
    /// Until the head of the answer is there, with all that comes before it.
    pub head: Duration,
    /// Between two pieces of a body. A server that speaks HTTP/2 is asked after half of it whether it is there,
    /// and has the other half to say so.
    pub idle: Duration,
    /// For everything, redirects included.
    pub total: Duration,
    /// The head of an answer, in bytes.
    pub head_bytes: usize,
    /// A body as it travels, in bytes.
    pub wire_bytes: usize,
    /// A body as it is read, after decompression, in bytes.
    pub body_bytes: usize,
    /// Fetches of one session at once.
    pub per_session: usize,
    /// Fetches from one host at once.
    pub per_host: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            lookup: Duration::from_secs(5),
            name_kept: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            head: Duration::from_secs(15),
            idle: Duration::from_secs(10),
            total: Duration::from_secs(30),
            head_bytes: 64 << 10,
            wire_bytes: 8 << 20,
            body_bytes: 8 << 20,
            per_session: 8,
            per_host: 16,
        }
    }
}
