//! AEGX evidence bundles: format, writer, verifier. Knows nothing of Lazaret.

pub mod checkpoint;
pub mod digest;
pub mod merkle;
pub mod note;

pub use digest::{Digest, Hasher};
