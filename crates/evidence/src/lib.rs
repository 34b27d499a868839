//! The live journal: every record durable before it counts, chained, signed, searchable.
//!
//! One writer at a time, many producers; appending never reads. What lies on disk is described in
//! [`segment`]; how a start deals with a crash in [`recovery`].

mod blobs;
mod chain;
mod checkpoints;
mod clean;
mod clock;
mod disk;
mod entry;
mod export;
mod import;
mod journal;
mod layout;
mod lock;
mod passing;
mod pen;
mod queue;
mod reader;
mod receipt;
mod record;
mod recovery;
mod redact;
mod retention;
mod search;
mod segment;
mod signed;
mod statements;
mod stats;
mod torn;
mod tree;
mod verify;
mod writer;

pub use chain::{Damage, Retired};
pub use checkpoints::{CheckpointError, Kept};
pub use clock::{Clock, SystemClock};
pub use disk::{Disk, RealDisk};
pub use entry::OpenEntry;
pub use export::{ExportError, Exported, Target, export};
pub use import::{ImportError, Imported, Imports, import};
pub use journal::{Config, Durability, Journal, OPEN_ENTRIES_MAX};
pub use passing::{PassingError, append_passing};
pub use reader::{Entry, Position, ReadError, Reader};
pub use receipt::{AppendError, Receipt};
pub use record::{Content, INLINE_BYTES_MAX, NewRecord, RecordError};
pub use recovery::{Cut, OpenError, Recovery};
pub use retention::{RetentionError, RetentionOutcome, RetentionRule, retire};
pub use search::{Filter, Groups, Row, count, groups, query};
pub use segment::{SEGMENT_BYTES_DEFAULT, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN};
pub use signed::{SignedError, signed_text};
pub use stats::WriterStats;
pub use tree::{Tree, TreeError};
pub use verify::{Against, Verified, verify};
