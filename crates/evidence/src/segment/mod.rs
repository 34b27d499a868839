//! Segment files: plain lines, appended to and never changed.
//!
//! ```text
//! {"segment":3,"journal":…,"first":…,"head":…,"peaks":[…],"open":[…]}   the header
//! {"batch":1200}                                  written and synced together from here on
//! {"recordId":…}                                  a record, as in records.jsonl
//! {"idx":1200,…}                                  its entry, as in audit-log.jsonl
//! …
//! {"sealed":3,"count":…,"head":…,"root":…}        the seal, when the segment is full
//! 000…                                            room that was made in advance
//! ```
//!
//! A batch line proves that everything before it was synced before anything after it was written.
//! So what a crash can tear is only ever the last batch, and damage before the last batch line is
//! never taken for a torn tail.

mod check;
mod files;
mod format;
mod walk;

pub(crate) use check::{Checked, check, check_noting, entry_ts, used};
pub(crate) use files::{create, list, path, read, read_header, room_path, sweep, zero_fill};
pub(crate) use format::{Header, NUMBER_MAX, OpenMark, SEAL_BYTES_MAX, Seal, batch_line};
pub(crate) use walk::{Item, Walk};

/// The longest segment. A segment is read whole into memory.
pub const SEGMENT_BYTES_MAX: u64 = 256 << 20;
/// The shortest: a header and the longest record must fit.
pub const SEGMENT_BYTES_MIN: u64 = 1 << 20;
/// What is taken unless the caller says otherwise.
pub const SEGMENT_BYTES_DEFAULT: u64 = 16 << 20;
/// How much longer a segment can become than its room: it takes at least one batch, whole.
const SEGMENT_EXCESS_BYTES_MAX: u64 = 16 << 20;
