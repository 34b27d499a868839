//! The tests of `store`, in one program: linking one is cheaper than linking many.

mod passing;
mod store;
mod workspace;
