//! The tests of `shell`, in one program: linking one is cheaper than linking many.

mod any;
mod bash;
mod disguised;
mod everyday;
mod fresh;
mod same;
mod stacked;
mod told;
mod vectors;
