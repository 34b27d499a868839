//! The tests of `model`, in one program: linking one is cheaper than linking many.

mod ipc;
mod names;
mod providers;
