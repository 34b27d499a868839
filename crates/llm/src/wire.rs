//! The way to a provider, as this crate needs it. It opens nothing itself: whoever owns the way out, and the keys,
//! implements [`Wire`].

pub use model::WireError;

/// Sends a question to one provider and gives its answer as it comes.
pub trait Wire: Send + Sync {
    /// Sends `post` with the provider's key, and returns when the head of the answer is there. Redirects are not
    /// followed.
    ///
    /// # Errors
    /// If there is no key, the address is refused, or nobody answers in time.
    fn post(&self, post: &Post<'_>) -> Result<Reply, WireError>;

    /// Is the answer not wanted any more? Whoever waits for it is not kept waiting then.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A question to a provider. The key is not in it: who carries it puts that in.
#[derive(Clone, Debug)]
pub struct Post<'a> {
    /// The path, beneath the provider's address.
    pub path: &'a str,
    /// Header fields beside those for the key.
    pub headers: &'a [(&'static str, &'static str)],
    /// The field that carries the key.
    pub key: KeyField,
    /// The body, JSON.
    pub body: Vec<u8>,
}

/// The header field by which a provider knows who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Its name.
    pub name: &'static str,
    /// What stands before the key.
    pub prefix: &'static str,
}

/// An answer whose body is still to come.
pub struct Reply {
    /// Its status.
    pub status: u16,
    /// The media type, as the server wrote it.
    pub content_type: String,
    /// The field `retry-after`, as the server wrote it.
    pub retry_after: Option<String>,
    /// The body.
    pub body: Box<dyn Chunks>,
}

/// A body in pieces.
pub trait Chunks {
    /// Waits for the next piece, which is empty where nothing has come for a moment; none if the body is whole.
    ///
    /// # Errors
    /// If it breaks off, or nothing comes in time.
    fn next(&mut self) -> Result<Option<Vec<u8>>, WireError>;
}
