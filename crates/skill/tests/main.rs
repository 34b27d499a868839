//! The tests of `skill`, in one program: linking one is cheaper than linking many.

mod attacks;
mod bounded;
mod decides_nothing;
mod support;
mod vectors;
