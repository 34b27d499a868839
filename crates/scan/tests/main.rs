//! The tests of `scan`, in one program: linking one is cheaper than linking many.

mod boundary;
mod instructions;
mod net;
mod net_edges;
mod net_inner;
mod page;
mod timed;
