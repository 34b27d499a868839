//! Paths as text: what may be made of input. Nothing here looks at a disk.

mod between;
pub mod fuzzing;
mod readings;
mod refused;
mod relative;
mod segments;

pub use between::{assert_within_base, resolved};
pub use refused::{PathRefused, RULES, Rule};
pub use relative::{DEPTH_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX, Relative};
pub use segments::{SEGMENTS_MAX, safe_path, segment};
