//! Ways to the servers of others, as the crates need them that speak to such servers and open nothing themselves.

/// Why there is no answer, or no more of it. Whoever made it has left out every secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The key is not there, or not for this host.
    #[error("{0}")]
    Key(String),
    /// The address may not be asked.
    #[error("{0}")]
    Refused(String),
    /// Nobody answered in time, or the connection broke.
    #[error("{0}")]
    Broken(String),
}
