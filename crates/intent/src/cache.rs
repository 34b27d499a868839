//! Embeddings that were made already.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Texts that are kept; beyond that all are forgotten and made again when they are wanted.
const KEPT_MAX: usize = 4096;

/// Embeddings by their text.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<HashMap<Box<str>, Arc<[f32]>>>);

impl Cache {
    /// That of `text`, made by `make` if it is new.
    pub(crate) fn get(
        &self,
        text: &str,
        make: impl FnOnce() -> Option<Vec<f32>>,
    ) -> Option<Arc<[f32]>> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lock().get(text).map(Arc::clone);
        if known.is_some() {
            return known;
        }
        // Nobody waits while it is made.
        let made: Arc<[f32]> = make()?.into();
        let mut kept = lock();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(text.into(), Arc::clone(&made));
        Some(made)
    }
}
