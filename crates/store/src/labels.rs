//! Labels of content: what came from outside is known again, wherever it turns up.

/// The most labels that a store keeps.
pub const LABELS_MAX: i64 = 100_000_000;
