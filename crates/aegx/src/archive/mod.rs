//! The zip form of a bundle (`*.aegx.zip`): strict reader, writer, safe extractor.
//!
//! An archive is hostile until shown otherwise. Nothing in it decides how much memory is used, no
//! byte of it is inflated before its whole directory was judged, and an entry's bytes are handed
//! out only up to its declared size and, at the end, only if the checksum holds.
//!
//! ```text
//! open     (strict) end -> directory::list -> directory::judge -> (strict) layout
//! read     entry_reader
//! extract  extract, into a temporary directory that is renamed at the end
//! write    writer -> deflate, into a temporary file that is renamed at the end
//! ```

mod deflate;
mod directory;
mod end;
mod entry_reader;
mod error;
mod extract;
mod fields;
mod layout;
mod limits;
mod name_tree;
mod names;
mod reader;
mod record;
mod temporary;
mod writer;

pub use entry_reader::EntryReader;
pub use error::ArchiveError;
pub use extract::{Extracted, extract};
pub use limits::{
    DEPTH_MAX, DIRECTORY_BYTES_MAX, ENTRIES_MAX, ENTRY_BYTES_MAX, Limits, NAME_BYTES_MAX,
    RATIO_FREE_BYTES, RATIO_MAX, TOTAL_BYTES_MAX,
};
pub use reader::Archive;
pub use record::Entry;
pub use writer::{ArchiveWriter, Overwrite};

/// How an archive is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Refuses whatever two programs could read in two ways.
    Strict,
    /// Takes what the upstream program takes: of two entries with one name the last one counts,
    /// and local headers, gaps and overlaps are not looked at.
    Compat,
}
