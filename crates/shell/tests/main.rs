//! The tests of `shell`, in one program: linking one is cheaper than linking many.

mod acts;
mod any;
mod bash;
mod bounded;
mod disguised;
mod everyday;
mod fresh;
mod options;
mod same;
mod stacked;
mod told;
mod vectors;
