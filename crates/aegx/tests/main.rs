//! The tests of `aegx`, in one program: linking one is cheaper than linking many.

mod archive;
mod bundle_note;
mod canon_properties;
mod cli;
mod cli_legacy;
mod concurrent_writers;
mod documents;
mod hostile_directories;
mod key_order;
mod legacy_vectors;
mod merkle_properties;
mod note_properties;
mod serde_json_features;
mod strict_corpus;
mod vectors;
