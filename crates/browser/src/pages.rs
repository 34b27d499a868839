//! What is known of the pages of a browser and of their frames.

use std::time::Instant;

use crate::limits::OPEN;

/// One page, as far as it is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Page {
    /// By which it is driven.
    pub(crate) session: String,
    /// Its name, and that of its first frame.
    pub(crate) target: String,
    /// Is something being loaded?
    pub(crate) loading: bool,
    /// The last document that has loaded whole.
    pub(crate) loaded: String,
    /// The last answer for a document: which, its status, and the rule if the proxy refused it.
    pub(crate) answered: (String, u16, Option<String>),
    /// Is its process gone?
    pub(crate) crashed: bool,
    /// When another page opened it, until something was loaded in it.
    pub(crate) opened: Option<Instant>,
}

impl Page {
    /// Is something on its way? A page that was opened by another one begins a moment later.
    pub(crate) fn is_busy(&self) -> bool {
        self.loading || self.opened.is_some_and(|it| it.elapsed() < OPEN)
    }
}

/// A frame that has a process of its own.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// By which it is driven.
    pub(crate) session: String,
    /// Its name.
    pub(crate) target: String,
    /// In what it is.
    pub(crate) parent: String,
}
