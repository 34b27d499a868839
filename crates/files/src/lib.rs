//! Files that are what they seem: private ones for the state directory, and paths that stay where they
//! belong.

pub mod private;
