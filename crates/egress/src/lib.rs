//! The only way out.
