//! AEGX evidence bundles: format, writer, verifier. Knows nothing of Lazaret.

pub mod archive;
pub mod digest;

pub use digest::{Digest, Hasher};
