//! The tests of `files`, in one program: linking one is cheaper than linking many.

mod confined;
mod paths;
mod private;
mod races;
