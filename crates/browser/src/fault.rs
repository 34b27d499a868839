//! What goes wrong with a browser. A browser repeats what pages say, so none of its own words are in here.

use std::io;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// It has ended.
    #[error("the browser has ended")]
    Gone,
    /// It does not answer in time.
    #[error("the browser did not answer in time (`{0}`)")]
    Late(&'static str),
    /// It answers with an error.
    #[error("the browser could not do it (`{0}`)")]
    Unable(&'static str),
    /// It answers with something else than it should.
    #[error("the browser gave no sense (`{0}`)")]
    Nonsense(&'static str),
    /// There is no page.
    #[error("the browser has no page open")]
    NoPage,
    /// The page's process is gone.
    #[error("the page has crashed; go to a page again")]
    Crashed,
    /// The system.
    #[error("{0}")]
    Io(#[from] io::Error),
}
