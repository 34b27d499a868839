//! Files: private ones of the host, and those that somebody else names.
//!
//! INVARIANT (OnePathWay): a path that was made of somebody's input is a [`Relative`], and it is opened
//! beneath a [`Dir`], which the kernel holds to its place. A name for the host's own use is made by
//! [`safe_path`] or taken by [`segment`]. There is no third way.

pub mod archive;
mod dir;
mod path;
pub mod private;
mod tree;

pub use dir::{Dir, DirError, Found, Kind, LIST_ENTRIES_MAX, Stat};
pub use path::{
    DEPTH_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX, PathRefused, RULES, Relative, Rule, SEGMENTS_MAX,
    assert_within_base, fuzzing, resolved, safe_path, segment,
};
pub use tree::remove_tree;
