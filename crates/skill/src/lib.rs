//! A skill's files in, findings out: what its text tells an agent, what its programs would do, and whose name it takes.
//!
//! Nothing is run, opened or fetched, and nothing is decided here: what follows from findings stands in `policy`. A skill is
//! hostile until shown otherwise; work is bounded by counting, and what was not read to its end says so.

mod code;
mod commands;
mod documents;
mod encoded;
mod finding;
mod front;
mod hosts;
pub mod install;
mod instructed;
mod kind;
mod manifests;
mod markdown;
mod names;
mod places;
mod programs;
mod stance;
mod texts;
mod tree;
mod verify;

pub use finding::{FINDINGS_MAX, Finding};
pub use names::{Index, IndexError, NAMES_MAX};
pub use tree::{FILE_BYTES_MAX, FILES_MAX, TEXT, TREE_BYTES_MAX, Tree, TreeError};
pub use verify::{COMMANDS_MAX, Report, TEXT_BYTES_MAX, verify};
