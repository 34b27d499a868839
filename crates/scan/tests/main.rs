//! The tests of `scan`, in one program: linking one is cheaper than linking many.

mod boundary;
mod instructions;
mod net;
mod net_edges;
mod page;
mod shell_any;
mod shell_bash;
mod shell_disguised;
mod shell_everyday;
mod shell_fresh;
mod shell_same;
mod shell_stacked;
mod shell_told;
mod shell_vectors;
mod timed;
