//! The tests of `monitor`, in one program: linking one is cheaper than linking many.

mod gate;
mod permits;
mod provenance;
mod risk;
mod taint;
mod traces;
