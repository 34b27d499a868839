//! The tests of `policy`, in one program: linking one is cheaper than linking many.

mod access;
mod broken;
mod decide;
mod docs;
mod files;
mod golden;
mod keys;
mod masters;
mod named;
