//! The tests of `sandbox`, in one program: linking one is cheaper than linking many.

mod audit;
mod permits;
mod probe;
mod reference;
mod seatbelt;
mod skill;
