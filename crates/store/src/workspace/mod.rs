//! Labels of the files in a workspace that outlives its sessions.
//!
//! An agent writes files where the host does not see it. So the tree is looked at before and after
//! a session, by content and not by time, and what a tainted session made or changed is marked:
//! in `.ax-taint.json` beside the files, for people and other tools, and in a copy of the host's
//! that no agent can reach. The worse of both counts.

mod changes;
mod command;
mod error;
mod files;
mod form;
mod manifest;
mod marks;
mod passing;
mod preseed;
mod registry;
mod related;
mod scan;
mod secrets;
mod shape;
mod sidecar;

pub use command::Ran;
pub use error::WorkspaceError;
pub use manifest::{DEPTH_MAX, FILES_MAX, HASHED_BYTES_MAX};
pub use marks::Mark;
pub use passing::Written;
pub use preseed::PRESEED_MAX;
pub use registry::{After, Before, Looked, Registry};
pub use related::RELATED_MAX;
pub use sidecar::{SIDECAR, SIDECAR_BYTES_MAX, Sidecar};
