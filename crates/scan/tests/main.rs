//! The tests of `scan`, in one program: linking one is cheaper than linking many.

mod boundary;
mod conversation;
mod decides_nothing;
mod decoys;
mod exfiltration;
mod leak;
mod net;
mod net_edges;
mod net_inner;
mod page;
mod page_hostile;
mod pii;
mod sanitize;
mod secret;
mod text;
mod text_same;
mod text_time;
mod timed;
mod tool;
mod vectors;
mod vectors_messages;
